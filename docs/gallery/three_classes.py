"""
Three classes, and what a mistake costs
=======================================

Any number of classes become one model. If mistakes differ in price, say so: the probabilities stay,
the decisions move.
"""

import matplotlib.pyplot as plt
import numpy as np

from sgpc_framework import SGPClassifier

# %%
# Three clouds that touch.

rng = np.random.default_rng(5)
centres = {"blue": (-1.0, 0.0), "green": (1.0, 0.0), "red": (0.0, 1.4)}
y = rng.choice(list(centres), size=450)
X = np.array([centres[label] for label in y]) + 0.7 * rng.normal(size=(450, 2))

# %%
# On the left all mistakes cost the same. On the right, missing a row of class red costs five times
# as much as any other mistake, so red is said earlier.

east, north = np.meshgrid(np.linspace(-3.5, 3.5, 120), np.linspace(-2.5, 4.0, 120))
plane = np.column_stack([east.ravel(), north.ravel()])
names, colours = list(centres), ["tab:blue", "tab:green", "tab:red"]

figure, axes = plt.subplots(1, 2, figsize=(10, 4.6), sharey=True, layout="constrained")
for ax, costs in zip(axes, (None, {"red": 5}), strict=True):
    classifier = SGPClassifier("fast", max_basis=10, costs=costs).fit(X, y)
    said = np.searchsorted(names, classifier.predict(plane)).reshape(east.shape)
    ax.contourf(east, north, said, levels=[-0.5, 0.5, 1.5, 2.5], colors=colours, alpha=0.25)
    for name, colour, marker in zip(names, colours, "o^s", strict=True):
        ax.plot(*X[y == name].T, marker, ms=4, color=colour, label=name)
    missed = np.mean(classifier.predict(X)[y == "red"] != "red")
    price = "all mistakes cost 1" if costs is None else "missing red costs 5"
    ax.set_title(f"{price}: {missed:.0%} of red missed")
axes[0].legend(loc="lower left")
plt.show()
