"""
Three classes, and what a mistake costs
=======================================

Any number of classes become one model. If mistakes differ in price, say so: the probabilities stay,
the decisions move.
"""

import matplotlib.pyplot as plt
import numpy as np

from sgpc_framework import SGPClassifier
from sgpc_framework.plots import decision_regions

# %%
# Three clouds that touch.

rng = np.random.default_rng(5)
centres = {"blue": (-1.0, 0.0), "green": (1.0, 0.0), "red": (0.0, 1.4)}
y = rng.choice(list(centres), size=450)
X = np.array([centres[label] for label in y]) + 0.7 * rng.normal(size=(450, 2))

# %%
# On the left all mistakes cost the same. On the right, missing a row of class red costs five times
# as much as any other mistake, so red is said earlier.

figure, axes = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
for ax, costs in zip(axes, (None, {"red": 5}), strict=True):
    classifier = SGPClassifier("fast", max_basis=10, costs=costs).fit(X, y)
    decision_regions(classifier.model_, X, y, ax)
    missed = np.mean(classifier.predict(X)[y == "red"] != "red")
    price = "all mistakes cost 1" if costs is None else "missing red costs 5"
    ax.set_title(f"{price}: {missed:.0%} of red missed")
plt.show()
