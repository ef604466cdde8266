"""The laws of a refiner. Each docstring is what a failing check says was wanted.

What a refiner returns with too few basis vectors, or with sites that are none, has no loss to
compare: such a state fails the check that is about it, and no other.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from sgpc_framework.engine.refinement import Refinable
from sgpc_framework.parts.hyperparameters import values
from sgpc_framework.protocols import Floats, Refiner
from sgpc_framework.testing.randomness import repeated, under_two_global_seeds
from sgpc_framework.testing.samples import is_matrix
from sgpc_framework.testing.states import corner_states, ordinary_states
from sgpc_framework.testing.verdict import Laws, require, require_equal, require_finite


def loss_is_finite(refiner: Refiner) -> None:
    """The refiner's own loss of a fitted state is a finite number."""
    for fitted, where in _fits():
        require_finite(refiner.loss(fitted), "loss", where)


def never_worse_than_its_start(refiner: Refiner) -> None:
    """By the refiner's own loss, what it returns is no worse than what it was given."""
    for fitted, where in _fits():
        refined = _refined(refiner, fitted)
        if _is_sound(refined, fitted):
            before, after = refiner.loss(fitted), refiner.loss(refined)
            require(
                not after > before + 1e-9 * (1.0 + abs(before)),
                f"a loss of {after:.9g} after {before:.9g} at the start ({where})",
            )


def same_number_of_basis_vectors(refiner: Refiner) -> None:
    """As many basis inputs, precisions and site means come back as were given."""
    for fitted, where in _fits():
        refined = _refined(refiner, fitted)
        require(
            isinstance(refined, Refinable),
            f"{type(refined).__name__} where a Refinable is wanted ({where})",
        )
        wanted, sizes = len(fitted.sites.mean), _sizes(refined)
        require(sizes == [wanted] * 3, f"{sizes} of them where {wanted} are wanted ({where})")


def finite(refiner: Refiner) -> None:
    """Sites, basis inputs and hyperparameters are finite."""
    for fitted, where in _fits():
        for name, array in _arrays(_refined(refiner, fitted)).items():
            require_finite(array, name, where)


def positive_precisions(refiner: Refiner) -> None:
    """Every site precision is above zero."""
    for fitted, where in _fits():
        precision = _refined(refiner, fitted).sites.precision
        least = float(np.min(precision, initial=np.inf))
        require(not least <= 0.0, f"a precision of {least:.6g} ({where})")


def deterministic_given_the_generator(refiner: Refiner) -> None:
    """The same state and a generator with the same seed give the same bits."""
    for fitted, where in _fits():
        first, second = repeated(partial(_outcome, refiner, fitted))
        _require_same(first, second, where)


def uses_only_the_generator_given(refiner: Refiner) -> None:
    """All randomness comes from ``rng``, none from numpy.random or from Python's random."""
    fitted, where = next(_fits())
    first, second = under_two_global_seeds(partial(_outcome, refiner, fitted))
    _require_same(first, second, f"under two global seeds, {where}")


def leaves_what_it_was_given_alone(refiner: Refiner) -> None:
    """The state that was given stays as it was: changes go into a copy (``attrs.evolve``)."""
    for fitted, where in _fits():
        before = {name: array.copy() for name, array in _arrays(fitted).items()}
        refiner.loss(fitted)
        _refined(refiner, fitted)
        for name, array in _arrays(fitted).items():
            require(np.array_equal(array, before[name]), f"{name} were changed ({where})")


LAWS: Laws = {
    Refiner: (
        loss_is_finite,
        never_worse_than_its_start,
        same_number_of_basis_vectors,
        finite,
        positive_precisions,
        deterministic_given_the_generator,
        uses_only_the_generator_given,
        leaves_what_it_was_given_alone,
    )
}


def _fits() -> Iterator[tuple[Refinable, str]]:
    """Few: a refiner may take its time."""
    for state in (ordinary_states()[2], ordinary_states()[3], corner_states()[0]):
        yield state.refinable(), state.title


def _refined(refiner: Refiner, fitted: Refinable) -> Refinable:
    return refiner.refine(fitted, np.random.default_rng(1))


def _outcome(refiner: Refiner, fitted: Refinable) -> dict[str, Floats]:
    return _arrays(_refined(refiner, fitted))


def _sizes(fitted: Refinable) -> list[int]:
    sites = fitted.sites
    return [len(sites.basis_inputs), len(sites.precision), len(sites.mean)]


def _is_sound(refined: Refinable, fitted: Refinable) -> bool:
    arrays = _arrays(refined)
    return (
        _sizes(refined) == _sizes(fitted)
        and all(np.all(np.isfinite(array)) for array in arrays.values())
        and bool(np.all(arrays["precisions"] > 0.0))
    )


def _arrays(fitted: Refinable) -> dict[str, Floats]:
    """Every number in a state that a refiner may change, and the rows, which it may not."""
    sites = fitted.sites
    inputs = {"inputs": sites.X, "basis inputs": sites.basis_inputs}
    return {
        "precisions": sites.precision,
        "site means": sites.mean,
        "labels": sites.y,
        "hyperparameters": np.concatenate([values(fitted.kernel), values(fitted.likelihood)]),
        **{name: rows for name, rows in inputs.items() if is_matrix(rows)},
    }


def _require_same(first: dict[str, Floats], second: dict[str, Floats], where: str) -> None:
    for name, array in first.items():
        require_equal(array, second[name], name, where)
