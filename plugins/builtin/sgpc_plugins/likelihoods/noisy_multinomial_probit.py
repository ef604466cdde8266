"""The multinomial probit with labels that mean nothing: robust, at the price of log-concavity."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from sgpc_framework.authors import ManyClassLink, Moments, hyperparameter
from sgpc_plugins.likelihoods.multinomial_probit import MultinomialProbit, check_biases

Floats = NDArray[np.float64]


@frozen
class NoisyMultinomialProbit:
    """p(y|f) = ε / C + (1 - ε) p₀(y|f): with probability ε, a label is any of the C classes.

    With Z₀, α₀ and ν₀ of the multinomial probit p₀, and g = (1 - ε) Z₀ / Z,

        Z = ε / C + (1 - ε) Z₀,   alpha = g α₀,   nu = g ν₀ - g (1 - g) α₀²

    bias      one for each class, added to its latent value
    epsilon   ε, how many of the labels say nothing

    Two classes are a ``noisy-probit`` with half that ε. Not log-concave: far on the wrong side of
    the boundary nu is negative. Always nu * variance < 1.

    >>> likelihood = NoisyMultinomialProbit(epsilon=0.3)
    >>> wrong = np.array([[-100.0], [0.0], [0.0]])
    >>> np.exp(likelihood.log_z(np.zeros(1), wrong, np.ones(1))).round(4)
    array([0.1])
    """

    name: ClassVar[str] = "noisy-multinomial-probit"

    bias: tuple[float, ...] = hyperparameter(
        (0.0, 0.0, 0.0), bounds=(-1e3, 1e3), transform="identity", each="class"
    )
    epsilon: float = hyperparameter(0.02, bounds=(1e-6, 0.49), transform="logit")

    def __attrs_post_init__(self) -> None:
        check_biases(self.bias)

    @property
    def functions(self) -> int:
        """As many as there are classes."""
        return len(self.bias)

    def for_classes(self, count: int) -> NoisyMultinomialProbit:
        """The same for so many classes."""
        if count == self.functions:
            return self
        return attrs.evolve(self, bias=(0.0,) * count)

    def link(self) -> ManyClassLink:
        """The formula, for other languages."""
        return ManyClassLink(self.bias, self.epsilon)

    def log_z(self, y: Floats, mean: Floats, variance: Floats, /) -> Floats:
        """log Z of every row."""
        return self._mixed(self._plain.log_z(y, mean, variance))

    def moments(self, y: Floats, mean: Floats, variance: Floats, /) -> Moments:
        """(log_z, alpha, nu) of every row."""
        plain = self._plain.moments(y, mean, variance)
        log_z = self._mixed(plain.log_z)
        g = np.exp(np.log1p(-self.epsilon) + plain.log_z - log_z)
        chance = self.epsilon / self.functions * np.exp(-log_z)  # 1 - g, with all its digits
        alpha = g * plain.alpha
        return Moments(log_z, alpha, g * plain.nu - chance * alpha * plain.alpha)

    def pullback(
        self, y: Floats, mean: Floats, variance: Floats, moments: Moments, cotangent: Floats, /
    ) -> Floats:
        """sum(cotangent * d log_z / dθ) for the biases and epsilon.

        d log_z / dε = (1/C - Z₀) / Z, and Z₀ = (Z - ε/C) / (1 - ε).
        """
        d_epsilon = (np.exp(-moments.log_z) / self.functions - 1.0) / (1.0 - self.epsilon)
        return np.array([*(moments.alpha @ cotangent), float(cotangent @ d_epsilon)])

    @property
    def _plain(self) -> MultinomialProbit:
        return MultinomialProbit(self.bias)

    def _mixed(self, log_z: Floats) -> Floats:
        """log Z from log Z₀."""
        chance = np.log(self.epsilon / self.functions)
        mixed: Floats = np.logaddexp(chance, np.log1p(-self.epsilon) + log_z)
        return mixed
