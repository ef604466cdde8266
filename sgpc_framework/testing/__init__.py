"""For authors of parts: a dense oracle to compare with, and Hypothesis strategies to generate from.

Needs the extra ``testing`` (pytest and hypothesis) where strategies are used.
"""
