"""The paper's experiments, run again: cells, a run that can be resumed, tests, figures, a page.

``sgpc reproduce`` is the command; ``reproduction.reproduce`` is the same from Python.
"""
