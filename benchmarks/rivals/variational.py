"""Sparse variational GP classification with GPyTorch, in the way its documentation shows.

Each function yields what it has learnt whenever it has done as many steps as it is asked about, so
that one run is a whole curve of quality against time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import gpytorch
import numpy as np
import torch
from fitted import Fitted
from gpytorch import variational

PREDICTED_AT_ONCE = 5000
DRAWS = 400
"""Of the latent functions, for the probabilities of many classes: softmax has no closed form."""


def median_distance(X: np.ndarray, rng: np.random.Generator) -> float:
    """The median distance of random pairs of rows, where a lengthscale starts."""
    first, second = rng.integers(len(X), size=(2, 2000))
    distances = np.linalg.norm(X[first] - X[second], axis=1)
    return float(np.median(distances[distances > 0.0]))


def median_scales(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One scale for each feature: its deviation times the median distance of standardised rows.

    Lengthscales start there in our kernels' "median-per-feature", too.
    """
    deviation = X.std(axis=0)
    varying = deviation > 1e-9 * np.maximum(1.0, np.abs(X).max(axis=0))
    deviation[~varying] = 1.0
    return deviation * median_distance(X[:, varying] / deviation[varying], rng)


class Classifier(gpytorch.models.ApproximateGP):
    """A constant mean, a scaled squared exponential, and q(u) with a full covariance.

    ``points`` is inducing points x features for one latent function, and classes x inducing points
    x features for one for each class, all with a kernel and inducing points of their own.
    """

    def __init__(self, points: torch.Tensor, ard: bool) -> None:
        *many, count, features = points.shape
        classes = torch.Size(many)
        strategy = variational.VariationalStrategy(
            self,
            points,
            variational.CholeskyVariationalDistribution(count, batch_shape=classes),
            learn_inducing_locations=True,
        )
        if many:
            strategy = variational.IndependentMultitaskVariationalStrategy(
                strategy, num_tasks=many[0]
            )
        super().__init__(strategy)
        self.mean = gpytorch.means.ConstantMean(batch_shape=classes)
        kernel = gpytorch.kernels.RBFKernel(
            ard_num_dims=features if ard else None, batch_shape=classes
        )
        self.kernel = gpytorch.kernels.ScaleKernel(kernel, batch_shape=classes)

    def forward(self, x: torch.Tensor) -> gpytorch.distributions.MultivariateNormal:
        return gpytorch.distributions.MultivariateNormal(self.mean(x), self.kernel(x))


def svgp(
    X: np.ndarray,
    y: np.ndarray,
    *,
    steps: Sequence[int],
    inducing: int = 80,
    loss: str = "VariationalELBO",
    ard: bool = True,
    rate: float = 0.05,
    batch: int | None = None,
    decay: bool = False,
    dtype: str = "float32",
    seed: int = 0,
) -> Iterator[Fitted]:
    """What is learnt after each of ``steps``.

    The inducing points start at random training rows and are learnt; the lengthscales start at the
    median distance, with ``ard`` of each feature; Adam takes its steps on one thread. It sees all
    rows at once, or ``batch`` of them at a time, each row once an epoch. With ``decay`` its rate
    falls to zero with the last step, like half a cosine. Two classes have one latent function and
    a Bernoulli likelihood (probit), more have one each and a softmax.

    The choices favour the rival. float32 took 0.6 to 0.8 of the processor time of float64 with 80
    points on five of the six benchmark sets (no less time on Image) and failed on none.
    """
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    torch.set_default_dtype(getattr(torch, dtype))
    rng, real = np.random.default_rng(seed), torch.get_default_dtype()
    classes = int(y.max()) + 1
    rows = torch.as_tensor(X, dtype=real)
    if classes == 2:
        points = rows[rng.permutation(len(X))[:inducing]]
        likelihood, truth = gpytorch.likelihoods.BernoulliLikelihood(), torch.as_tensor(y).to(real)
    else:
        chosen = np.stack([rng.permutation(len(X))[:inducing] for _ in range(classes)])
        points, truth = rows[chosen], torch.as_tensor(y)
        likelihood = gpytorch.likelihoods.SoftmaxLikelihood(
            num_classes=classes, mixing_weights=False
        )
    model = Classifier(points.clone(), ard)
    start = median_scales(X, rng) if ard else median_distance(X, rng)
    model.kernel.base_kernel.lengthscale = torch.as_tensor(start, dtype=real)
    model.kernel.outputscale = 1.0
    objective = getattr(gpytorch.mlls, loss)(likelihood, model, num_data=len(X))
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    last = max(steps)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, last) if decay else None
    batches = row_batches(len(X), batch)
    for step in range(1, last + 1):
        model.train()
        chosen = next(batches)
        optimizer.zero_grad()
        value = -objective(model(rows[chosen]), truth[chosen])
        value.backward()
        optimizer.step()
        if schedule is not None:
            schedule.step()
        if step in steps:
            yield Fitted(partial(predict, model, likelihood), state(model), step)


def row_batches(count: int, batch: int | None) -> Iterator[torch.Tensor | slice]:
    """The rows of one step after the other, for ever."""
    while True:
        if batch is None or batch >= count:
            yield slice(None)
        else:
            yield from torch.randperm(count).split(batch)


def predict(
    model: Classifier, likelihood: gpytorch.likelihoods.Likelihood, X: np.ndarray
) -> np.ndarray:
    """The probability of each class, a column each."""
    model.eval()
    parts = []
    with torch.no_grad():
        for chunk in torch.as_tensor(X, dtype=torch.get_default_dtype()).split(PREDICTED_AT_ONCE):
            latent = model(chunk)
            if isinstance(likelihood, gpytorch.likelihoods.SoftmaxLikelihood):
                # Row by row: the likelihood itself would draw all rows and classes jointly
                mean, deviation = latent.mean, latent.variance.sqrt()
                total = torch.zeros_like(mean)
                for _ in range(DRAWS):
                    total += (mean + deviation * torch.randn_like(mean)).softmax(dim=-1)
                parts.append((total / DRAWS).double().numpy())
            else:
                second = likelihood(latent).mean.double().numpy()
                parts.append(np.stack([1.0 - second, second], axis=1))
    return np.concatenate(parts)


def state(model: Classifier) -> dict[str, np.ndarray]:
    """What one would have to keep to predict elsewhere."""
    return {name: value.numpy() for name, value in model.state_dict().items()}
