"""
Probabilities that mean what they say
=====================================

Of the rows that get 70 %, about 70 % should have that label. Here every fifth label is wrong, so no
honest model can be surer than 80 %.
"""

import matplotlib.pyplot as plt
import numpy as np

from sgpc_framework import SGPClassifier
from sgpc_framework.plots import calibration_curve, probability_histogram

# %%
# A border in the shape of a wave, and labels of which a fifth was flipped.

rng = np.random.default_rng(1)


def waves(rows):
    X = rng.uniform(-2.0, 2.0, size=(rows, 2))
    label = X[:, 1] > np.sin(3.0 * X[:, 0])
    flipped = rng.uniform(size=rows) < 0.2
    return X, np.where(label ^ flipped, "above", "below")


X, y = waves(600)
X_new, y_new = waves(3000)
classifier = SGPClassifier("fast", max_basis=20).fit(X, y)
print(
    f"{classifier.score(X_new, y_new):.0%} of the new rows are right; 80 % is all that can be had"
)

# %%
# A calibrated model is on the diagonal; the band is what chance does to one. The probabilities
# pile up near 20 % and 80 %, which is the truth, and not near 0 and 1.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained")
calibration_curve(classifier.model_, X_new, y_new, left)
probability_histogram(classifier.model_, X_new, y_new, right)
plt.show()
