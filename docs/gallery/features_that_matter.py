"""
Which features matter?
======================

Ten features, of which four decide. What the log loss loses when a feature is shuffled says which.
"""

import matplotlib.pyplot as plt
import numpy as np

from sgpc_framework import SGPClassifier
from sgpc_framework.plots import feature_importance

# %%
# The first two act together, the third by its square, the fourth in a straight line; six are noise.

rng = np.random.default_rng(3)
names = ["a", "b", "squared", "straight", *(f"noise {i}" for i in range(1, 7))]


def problem(rows):
    X = rng.uniform(-1.0, 1.0, size=(rows, 10))
    value = 2.0 * np.sin(3.0 * X[:, 0] * X[:, 1]) + 3.0 * X[:, 2] ** 2 - 1.0 + X[:, 3]
    return X, value + 0.2 * rng.normal(size=rows) > 0.0


X, y = problem(800)
X_new, y_new = problem(2000)
classifier = SGPClassifier("fast", max_basis=30).fit(X, y)

# %%
# Use rows that the fit has not seen. The lines are two standard errors either way.

feature_importance(classifier.model_, X_new, y_new, feature_names=names)
plt.show()
