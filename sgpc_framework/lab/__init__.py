"""The paper's experiments, run again: cells, a run that can be resumed, tests, figures, a page.

``sgpc reproduce`` is the command; ``whole.reproduce`` is the same from Python.
"""
