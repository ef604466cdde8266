"""The built-in likelihoods: how a label depends on the latent function."""

from __future__ import annotations

from sgpc_framework.authors import Likelihood, hookimpl
from sgpc_plugins.likelihoods.logistic import Logistic
from sgpc_plugins.likelihoods.multinomial_probit import MultinomialProbit
from sgpc_plugins.likelihoods.noisy_multinomial_probit import NoisyMultinomialProbit
from sgpc_plugins.likelihoods.noisy_probit import NoisyProbit
from sgpc_plugins.likelihoods.probit import Probit

__all__ = ["Logistic", "MultinomialProbit", "NoisyMultinomialProbit", "NoisyProbit", "Probit"]


@hookimpl
def sgpc_likelihoods() -> list[type[Likelihood]]:
    """All of them."""
    return [Probit, Logistic, NoisyProbit, MultinomialProbit, NoisyMultinomialProbit]
