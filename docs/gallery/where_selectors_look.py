"""
Which rows become basis vectors?
================================

The selector decides. Four of them on the same rows, with the same kernel: where they look, and what
it is worth.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

import sgpc_framework as sgpc
from sgpc_framework.plots import decision_regions

# %%
# A ring, with one label in twenty flipped.

rng = np.random.default_rng(2)


def ring(rows):
    X = rng.uniform(-2.0, 2.0, size=(rows, 2))
    radius = np.hypot(*X.T)
    label = (radius > 0.8) & (radius < 1.6)
    return X, np.where(label ^ (rng.uniform(size=rows) < 0.05), "in", "out")


X, y = ring(500)
X_new, y_new = ring(4000)


def log_loss(model):
    proba = model.predict_proba(X_new)
    own = proba[np.arange(len(y_new)), np.searchsorted(model.classes, y_new)]
    return -np.mean(np.log(own))


# %%
# ``most-violated`` takes the row that the model gets most wrong: here, the flipped labels.
# ``conditional-variance`` never looks at labels and covers the plane. ``entropy`` goes for rows
# that tell most about the function, and ``adaptive-sampling`` draws two rows, those that are wrong
# more often, and keeps the one that lowers the loss of all rows. The package warns of a model that
# has learned nothing, such as the last one here.

warnings.simplefilter("ignore", sgpc.ChanceLevelWarning)

figure, axes = plt.subplots(2, 2, figsize=(9.5, 8), layout="constrained")
names = ("adaptive-sampling", "entropy", "conditional-variance", "most-violated")
for ax, name in zip(axes.flat, names, strict=True):
    kernel = {"name": "squared-exponential", "lengthscale": 0.6}
    model = sgpc.build(selector=name, kernel=kernel, objective="none", max_basis=25).fit(X, y)
    decision_regions(model, X, y, ax)
    ax.set_title(f"{name}: log loss {log_loss(model):.3f}")
plt.show()
