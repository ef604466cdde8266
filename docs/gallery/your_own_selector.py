"""
A selector of your own, in six lines
====================================

Any part can be replaced by a class of yours, without a package. This selector takes the row nearest
to the border, seen in units of the model's doubt.
"""

import matplotlib.pyplot as plt
import numpy as np

import sgpc_framework as sgpc
from sgpc_framework.datasets import twonorm
from sgpc_framework.plots import selector_comparison


class Borderline:
    name = "borderline"

    def propose(self, posterior, rng):
        return posterior.argmin(lambda rows: np.abs(rows.mean) / np.sqrt(rows.variance))


# %%
# Beside two built-in ones, over three sets of rows. Every fit has all sizes in it.

X_new, y_new = twonorm(3000, seed=99)
scores = []
for selector in (Borderline(), "entropy", "adaptive-sampling"):
    losses = []
    for seed in range(3):
        X, y = twonorm(400, seed=seed)
        model = sgpc.build(selector=selector, objective="none", max_basis=40).fit(X, y)
        own = [
            p[np.arange(3000), (y_new > 0).astype(int)] for p in model.staged_predict_proba(X_new)
        ]
        losses.append([-np.mean(np.log(own[size - 1])) for size in (5, 10, 20, 40)])
    mean, noise = np.mean(losses, axis=0), np.std(losses, axis=0, ddof=1) / np.sqrt(3)
    name = getattr(selector, "name", selector)
    scores += zip([name] * 4, (5, 10, 20, 40), mean, noise, strict=True)

selector_comparison(scores)
plt.show()
