"""
It knows what it does not know
==============================

Far from everything that it has seen, the model says 50 %. A classifier that draws a line is surest
there.
"""

import matplotlib.pyplot as plt
import numpy as np

import sgpc_framework as sgpc

# %%
# One feature, so that everything can be drawn. There are no rows beyond -3 and 3.

rng = np.random.default_rng(4)
X = rng.uniform(-3.0, 3.0, size=(120, 1))
y = np.where(rng.uniform(size=120) < 1.0 / (1.0 + np.exp(-4.0 * np.sin(2.0 * X[:, 0]))), 1, 0)
model = sgpc.build("paper", max_basis=12, max_iterations=5).fit(X, y)

# %%
# Inside, the model works with a function whose sign is the class. The band is two standard
# deviations either way: narrow where rows are, and as wide as at the beginning where none are.
# What is predicted is a probability, and it goes back to one half outside.

at = np.linspace(-6.0, 6.0, 400)[:, None]
mean, variance = model.predict_latent(at)
doubt = 2.0 * np.sqrt(variance)

figure, (upper, lower) = plt.subplots(2, 1, figsize=(8, 6), sharex=True, layout="constrained")
upper.fill_between(at[:, 0], mean - doubt, mean + doubt, alpha=0.25, label="doubt")
upper.plot(at, mean, label="best guess")
upper.plot(model.inputs, np.zeros(len(model)), "k|", ms=12, label="basis vectors")
upper.set(ylabel="latent function")
upper.legend(frameon=False, ncols=3, loc="upper center")

lower.plot(at, model.predict_proba(at)[:, 1])
lower.plot(X, y, ".", alpha=0.4, color="k")
lower.axhline(0.5, color="0.7", lw=1)
lower.set(xlabel="the feature", ylabel="probability of class 1")
plt.show()
