"""
One fit, every size
===================

A model is built by adding one basis vector after the other, so the model of size four is inside the
model of size thirty. Nothing has to be fitted again to see how it grew.
"""

import matplotlib.pyplot as plt
import numpy as np

import sgpc_framework as sgpc
from sgpc_framework.plots import along_stages, decision_regions

# %%
# Two classes that are wound around each other, and two hundred rows to learn from.

rng = np.random.default_rng(0)


def spirals(rows):
    turn = 3.5 * np.sqrt(rng.uniform(size=rows))
    label = rng.integers(2, size=rows)
    angle = turn * 1.6 + np.pi * label
    X = np.column_stack([turn * np.cos(angle), turn * np.sin(angle)])
    return X + 0.15 * rng.normal(size=X.shape), np.where(label == 1, "red", "blue")


X, y = spirals(400)
model = sgpc.build("paper", max_basis=30, max_iterations=3).fit(X, y)

# %%
# ``truncated(6)`` is the model of the first six basis vectors, which are the large symbols.

figure, axes = plt.subplots(2, 2, figsize=(9, 8), layout="constrained")
for ax, size in zip(axes.flat, (2, 6, 14, 30), strict=True):
    decision_regions(model.truncated(size), X, y, ax)
    ax.set_title(f"{size} basis vectors")

# %%
# The log loss on new rows says how large the model has to be: where the curve is flat, more basis
# vectors add nothing.

X_new, y_new = spirals(1000)
along_stages(model, X_new, y_new)
plt.show()
