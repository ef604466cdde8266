"""The laws of a likelihood. Each docstring is what a failing check says was wanted.

The differences are taken of log_z alone, so that a wrong alpha fails one check and a wrong nu
another.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import attrs
import numpy as np

from sgpc_framework.parts.abilities import has
from sgpc_framework.protocols import (
    Floats,
    Likelihood,
    LikelihoodPullback,
    LogEvidence,
    ManyClasses,
    Moments,
    SeveralFunctions,
)
from sgpc_framework.testing.differences import (
    EXACT,
    curvature,
    require_gradient,
    slope,
    variations,
)
from sgpc_framework.testing.randomness import repeated
from sgpc_framework.testing.samples import samples_for, started
from sgpc_framework.testing.verdict import (
    Laws,
    require,
    require_close,
    require_equal,
    require_finite,
)

FAR = 1e8
"""How far out, in units of the latent function, a likelihood must hold."""


@attrs.frozen(eq=False)
class Marginals:
    """Rows with one variance, one label, and many means of one of the latent functions.

    The others, where there are several, stay where they are.
    """

    y: Floats
    mean: Floats
    variance: Floats
    function: int | None = None
    """Which latent function's mean varies from row to row; None if there is one only."""

    def moved(
        self, mean: float = 0.0, variance: float = 0.0, function: int | None = None
    ) -> tuple[Floats, Floats, Floats]:
        """The arguments of ``moments``, with every mean of a function or variance moved."""
        means = self.mean.copy()
        of: Any = ... if self.function is None else self.function if function is None else function
        means[of] += mean
        return self.y.copy(), means, self.variance + variance

    @property
    def functions(self) -> range:
        """The latent functions."""
        return range(1 if self.function is None else len(self.mean))

    def own(self, of_each_function: Floats) -> Floats:
        """Of an array like the mean, the part of the function that varies."""
        return of_each_function if self.function is None else of_each_function[self.function]

    def __str__(self) -> str:
        which = "" if self.function is None else f" of latent function {self.function}"
        return (
            f"label {self.y[0]:+g}, variance {self.variance[0]:g}, "
            f"means{which} {self.own(self.mean)[0]:g} and on"
        )


def finite_of_the_right_shape(likelihood: Likelihood) -> None:
    """moments returns log_z, alpha and nu, each finite, float64 and of y's shape (alpha and nu: of
    the mean's); no rows too."""
    for varied, at in _cases(likelihood, 0.0, 1.0, 30.0):
        _require_proper(varied.moments(*at.moved()), at.mean.shape, str(at))
    none, means = np.empty(0), at.mean[..., :0]
    _require_proper(varied.moments(none, means, none), means.shape, "no rows")
    if has(varied, LogEvidence):
        alone = np.shape(varied.log_z(none, means, none))
        require(alone == (0,), f"log_z of shape {alone} for no rows")


def normalised(likelihood: Likelihood) -> None:
    """exp(log_z) of all labels adds up to one; where there are more than two, to 1e-6."""
    for varied, at in _cases(likelihood, 0.0, 0.01, 1.0, 30.0):
        labels = _labels(varied)
        each = (np.exp(_log_z(varied, 0.0 * at.y + y, *at.moved()[1:])) for y in labels)
        allowed = 1e-9 if at.function is None else 1e-6  # an integral over several functions
        require_close(sum(each), np.ones(len(at.y)), allowed, "the sum of all", str(at))


def alpha_is_the_derivative_of_log_z(likelihood: Likelihood) -> None:
    """alpha = d log_z / d mean."""
    for varied, at in _cases(likelihood, 0.0, 0.01, 1.0, 30.0):
        wanted, error = slope(_along_mean(varied, at), _step(at))
        alpha = at.own(varied.moments(*at.moved()).alpha)
        require_close(alpha, wanted, EXACT * (1 + np.abs(wanted)) + error, "alpha", str(at))


def nu_is_minus_the_second_derivative_of_log_z(likelihood: Likelihood) -> None:
    """nu = -d² log_z / d mean²."""
    for varied, at in _cases(likelihood, 0.0, 0.01, 1.0, 30.0):
        second, error = curvature(_along_mean(varied, at), 4 * _step(at))
        nu = at.own(varied.moments(*at.moved()).nu)
        require_close(nu, -second, 10 * EXACT * (1 + np.abs(second)) + error, "nu", str(at))


def heat_equation(likelihood: Likelihood) -> None:
    """d log_z / d variance = ((d log_z / d mean)² + d² log_z / d mean²) / 2, summed over functions.

    Every average over N(mean, variance) has this property; what has not is no integral.
    """
    for varied, at in _cases(likelihood, 0.1, 1.0, 30.0):

        def along_variance(t: float, varied: Any = varied, at: Marginals = at) -> Floats:
            return _log_z(varied, *at.moved(variance=t))

        wanted, allowed = np.zeros(len(at.y)), np.zeros(len(at.y))
        for function in at.functions:
            along = _along_mean(varied, at, function)
            first, first_error = slope(along, _step(at))
            second, second_error = curvature(along, 4 * _step(at))
            wanted += (first**2 + second) / 2.0
            allowed += second_error + first_error * (1 + np.abs(first))
        derivative, error = slope(along_variance, 0.01 * at.variance[0])
        allowed += 10 * EXACT * (1 + np.abs(wanted)) + error
        require_close(derivative, wanted, allowed, "d log_z / d variance", str(at))


def tails_are_finite_without_warnings(likelihood: Likelihood) -> None:
    """Moments are finite, and nothing warns, for means out to ±1e8 and variances from 0 to 1e8."""
    for varied, at in _far_cases(likelihood):
        with warnings.catch_warnings(), np.errstate(all="warn", under="ignore"):
            warnings.simplefilter("error")
            moments = varied.moments(*at.moved())
            if has(varied, LogEvidence):
                require_finite(varied.log_z(*at.moved()), "log_z", str(at))
        for name, values in zip(Moments._fields, moments, strict=True):
            require_finite(values, name, str(at))


def monotone(likelihood: Likelihood) -> None:
    """A label's log_z rises, or stays, as the mean moves to its side."""
    for varied, at in _far_cases(likelihood):
        side = at.y[0] if at.function is None else 1.0 if at.function == at.y[0] else -1.0
        log_z = _log_z(varied, *at.moved())[:: int(side)]  # towards the label's side
        rise = np.diff(log_z) / (1.0 + np.abs(log_z[1:]))
        least = float(np.min(rise, initial=0.0, where=np.isfinite(rise)))
        require(least >= -1e-10, f"log_z falls, by {-least:.3g} of its size ({at})")


def leaves_some_variance(likelihood: Likelihood) -> None:
    """nu * variance < 1: including a row takes less than all of its variance."""
    for varied, at in (*_cases(likelihood, 0.01, 1.0, 30.0), *_far_cases(likelihood)):
        share = at.own(np.asarray(varied.moments(*at.moved()).nu)) * at.variance
        worst = int(np.argmax(np.nan_to_num(share, nan=-np.inf)))
        require(
            not share[worst] >= 1.0,
            f"nu * variance = {share[worst]:.9g} at mean {at.own(at.mean)[worst]:g} ({at})",
        )


def same_values_whatever_the_block(likelihood: Likelihood) -> None:
    """A row's moments do not depend on the rows that come with it."""
    for varied, at in _cases(likelihood, 0.0, 1.0, 30.0):
        whole = varied.moments(*at.moved())
        for i in (0, len(at.y) // 2, len(at.y) - 1):
            one = slice(i, i + 1)
            alone = varied.moments(at.y[one], at.mean[..., one], at.variance[one])
            for mine, all_rows in zip(alone, whole, strict=True):
                wanted = all_rows[..., one]
                allowed = 1e-9 * (1.0 + np.abs(wanted))
                require_close(mine, wanted, allowed, "moments", f"row {i} alone; {at}")
        y = np.where(np.arange(len(at.y)) % 2 == 1, at.y, _labels(varied)[0])
        mixed = varied.moments(y, at.mean.copy(), at.variance)
        spread = varied.moments(
            *(np.repeat(array, 2, axis=-1)[..., ::2] for array in (at.y, at.mean, at.variance))
        )
        for some, found, where in (
            (slice(1, None, 2), mixed, "rows of other labels between them"),
            (slice(None), spread, "rows that are not side by side in memory"),
        ):
            for mine, all_rows in zip(found, whole, strict=True):
                wanted = all_rows[..., some]
                allowed = 1e-9 * (1.0 + np.abs(wanted))
                require_close(mine[..., some], wanted, allowed, "moments", f"{where}; {at}")


def leaves_its_inputs_alone(likelihood: Likelihood) -> None:
    """No call changes y, mean or variance."""
    for varied, at in _cases(likelihood, 1.0):
        given = at.moved()
        moments = varied.moments(*given)
        if has(varied, LogEvidence):
            varied.log_z(*given)
        if has(varied, LikelihoodPullback):
            varied.pullback(given[0], given[1], given[2], moments, np.ones(len(at.y)))
        for name, before, after in zip(("y", "mean", "variance"), at.moved(), given, strict=True):
            require(np.array_equal(before, after), f"{name} was changed ({at})")


def a_second_call_leaves_the_first_result_alone(likelihood: Likelihood) -> None:
    """An array that a call returned stays as it is while the likelihood is asked for more.

    So it is not a buffer that the next call fills anew.
    """
    for varied, at in _cases(likelihood, 1.0):
        first = dict(_answers(varied, at, slice(None)))
        kept = {call: np.array(array) for call, array in first.items()}
        for rows in (slice(None, None, -1), slice(1, None), slice(5)):
            dict(_answers(varied, at, rows))
        for call, array in first.items():
            require_equal(array, kept[call], f"{call} after other calls", str(at))


def deterministic(likelihood: Likelihood) -> None:
    """The same call gives the same bits."""
    for varied, at in _cases(likelihood, 0.0, 1.0):
        first, second = repeated(partial(_moments, varied, at))
        require_equal(first, second, "moments", str(at))


def log_z_alone_agrees_with_the_moments(likelihood: Likelihood) -> None:
    """log_z(y, mean, variance) is the log_z of moments(y, mean, variance)."""
    assert has(likelihood, LogEvidence)
    for varied, at in (*_cases(likelihood, 0.0, 1.0, 30.0), *_far_cases(likelihood)):
        wanted = varied.moments(*at.moved()).log_z
        log_z = varied.log_z(*at.moved())  # type: ignore[attr-defined]
        require_close(log_z, wanted, 1e-9 * (1e-9 + np.abs(wanted)), "log_z", str(at))


def pullback_agrees_with_differences(likelihood: Likelihood) -> None:
    """pullback gives sum(cotangent * d log_z / dθ) for every hyperparameter θ."""
    assert has(likelihood, LikelihoodPullback)
    for varied, at in _cases(likelihood, 0.0, 1.0, 30.0):
        cotangent = np.random.default_rng(5).standard_normal(len(at.y))

        def loss(moved: Any, at: Marginals = at, cotangent: Floats = cotangent) -> float:
            return float(cotangent @ _log_z(moved, *at.moved()))

        moments = varied.moments(*at.moved())
        gradient = varied.pullback(*at.moved(), moments, cotangent)  # type: ignore[attr-defined]
        size = float(np.sum(np.abs(cotangent * moments.log_z)))
        require_gradient(gradient, varied, loss, size, str(at))


def a_function_for_each_class(likelihood: Likelihood) -> None:
    """for_classes(count) has count latent functions, and for_classes of that has as many."""
    assert has(likelihood, ManyClasses)
    for count in (2, 3, 7):
        form = likelihood.for_classes(count)
        for made in (form, form.for_classes(count) if has(form, ManyClasses) else form):
            require(
                has(made, SeveralFunctions) and made.functions == count,
                f"for_classes({count}) is {made!r}, which has not {count} latent functions",
            )


LAWS: Laws = {
    Likelihood: (
        finite_of_the_right_shape,
        normalised,
        alpha_is_the_derivative_of_log_z,
        nu_is_minus_the_second_derivative_of_log_z,
        heat_equation,
        tails_are_finite_without_warnings,
        monotone,
        leaves_some_variance,
        same_values_whatever_the_block,
        leaves_its_inputs_alone,
        a_second_call_leaves_the_first_result_alone,
        deterministic,
    ),
    LogEvidence: (log_z_alone_agrees_with_the_moments,),
    LikelihoodPullback: (pullback_agrees_with_differences,),
    ManyClasses: (a_function_for_each_class,),
}


def _cases(likelihood: Likelihood, *variances: float) -> Iterator[tuple[Likelihood, Marginals]]:
    """Means around the boundary, for all labels, the variances, and other hyperparameters."""
    return cases(likelihood, np.linspace(-6.0, 6.0, 25) + 0.03, *variances)


def _far_cases(likelihood: Likelihood) -> Iterator[tuple[Likelihood, Marginals]]:
    far = np.geomspace(1.0, FAR, 33)
    return cases(likelihood, np.concatenate([-far[::-1], [0.0], far]), 0.0, 1e-3, 1.0, FAR)


def cases(
    likelihood: Likelihood, mean: Floats, *variances: float
) -> Iterator[tuple[Likelihood, Marginals]]:
    """These means with all labels, each of the variances, and other hyperparameters."""
    ready = started(likelihood, samples_for(likelihood)[0].X)
    for varied in variations(ready):
        for label in _labels(varied):
            for variance in variances:
                y, spread = np.full(len(mean), label), np.full(len(mean), variance)
                for means, function in _of_each_function(varied, mean):
                    yield varied, Marginals(y, means, spread, function)


def _labels(likelihood: Likelihood) -> tuple[float, ...]:
    if not has(likelihood, SeveralFunctions):
        return -1.0, 1.0
    return tuple(float(label) for label in range(likelihood.functions))


def _of_each_function(likelihood: Likelihood, mean: Floats) -> Iterator[tuple[Floats, int | None]]:
    """The means of all latent functions, of which one varies, and which."""
    if not has(likelihood, SeveralFunctions):
        yield mean, None
        return
    others = np.sin(np.arange(1.0, 1.0 + likelihood.functions))
    for function in range(likelihood.functions):
        means = np.repeat(others[:, None], len(mean), axis=1)
        means[function] = mean
        yield means, function


def _moments(likelihood: Likelihood, at: Marginals) -> Floats:
    return np.concatenate([np.ravel(each) for each in likelihood.moments(*at.moved())])


def _answers(likelihood: Likelihood, at: Marginals, rows: slice) -> Iterator[tuple[str, Any]]:
    """Every array that a likelihood may be asked for, by the call."""
    y, mean, variance = at.y[rows], at.mean[..., rows], at.variance[rows]
    moments = likelihood.moments(y, mean, variance)
    yield from zip(Moments._fields, moments, strict=True)
    if has(likelihood, LogEvidence):
        yield "log_z alone", likelihood.log_z(y, mean, variance)
    if has(likelihood, LikelihoodPullback):
        weight = np.ones(len(y))
        yield "the pullback", likelihood.pullback(y, mean, variance, moments, weight)


def _log_z(likelihood: Likelihood, y: Floats, mean: Floats, variance: Floats) -> Floats:
    return np.array(likelihood.moments(y, mean, variance).log_z, dtype=np.float64)


def _along_mean(likelihood: Likelihood, at: Marginals, function: int | None = None) -> Any:
    return lambda t: _log_z(likelihood, *at.moved(mean=t, function=function))


def _step(at: Marginals) -> float:
    return 2e-3 * float(np.sqrt(1.0 + at.variance[0]))


def _require_proper(moments: Any, shape: tuple[int, ...], where: str) -> None:
    require(
        isinstance(moments, tuple) and len(moments) == 3,
        f"{type(moments).__name__} where Moments(log_z, alpha, nu) is wanted ({where})",
    )
    for name, values in zip(Moments._fields, moments, strict=True):
        require(
            type(values) is np.ndarray and values.dtype == np.float64,
            f"{name} of type {type(values).__name__} where a float64 array is wanted ({where})",
        )
        wanted = shape[-1:] if name == "log_z" else shape
        require(values.shape == wanted, f"{name} of shape {values.shape}, not {wanted} ({where})")
        require_finite(values, name, where)
