"""Ways of refining that differ from another in one thing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import IntEnum
from typing import Any, Literal, NamedTuple

import attrs
import numpy as np

from sgpc_framework.authors import (
    Inputs,
    Kernel,
    KernelArithmetic,
    Likelihood,
    ManyClasses,
    SeveralFunctions,
    StartsFromData,
    State,
    TrainingRows,
    WarpsInputs,
    WrapsKernel,
    has,
    hyperparameters,
    replaced,
    values,
)
from sgpc_plugins.refiners.corrective.coordinates import warp_of
from sgpc_plugins.refiners.corrective.search import Search

ROWS_OF_A_NUMBER = 2
"""A metric is tried where so many rows speak for each of its numbers."""


class Doubt(IntEnum):
    """Whether the first champion may have learnt nothing but noise."""

    NONE = 0
    FEW_ROWS = 1
    NOTHING_LEARNT = 2
    """It is not clearly better than a function that is zero everywhere."""


class Challenger(NamedTuple):
    """What is called ``name`` makes another search of one; None where it would be the same."""

    name: str
    change: Callable[[Search], Search | None]
    begins: Literal["fresh", "settled", "near", "there"] = "there"
    """Where the stages ended, without or with settling first; or where the champion did, which is
    near for another kernel and there for all else."""
    bars: tuple[float, float, float] = (1.0, 2.0, 2.0)
    """By how many standard errors it must be better, by ``Doubt``. Who is right more often than not
    makes the model better on average; but what was learnt from noise must not be followed."""


def safest() -> Challenger:
    """The search that learns least from noise: all features alike, and the evidence lower bound,
    which several latent functions do without (``mixed_loss``).

    In doubt it takes over unless the champion is better by one standard error or two.
    """

    def change(search: Search) -> Search:
        elbo_share = 1.0 if search.start.mean.ndim == 1 else 0.0
        return attrs.evolve(search, tied=True, elbo_share=elbo_share)

    return Challenger("the safest way", change, "fresh", bars=(2.0, -1.0, -2.0))


def settled() -> Challenger:
    """The same search begun afresh, with hyperparameters that rest at first."""
    return Challenger("the function before the kernel", lambda search: search, "settled")


def other_kernels(kernels: Sequence[Kernel], X: Inputs) -> Iterator[Challenger]:
    """The same search with each of some kernels; ``X`` is what they may start from."""
    for kernel in kernels:
        change = _instead("kernel", _started(kernel, X))
        yield Challenger(f"kernel {kernel.name}", change, "near")


def other_metrics(metrics: Sequence[Kernel], X: Inputs, rows: int) -> Iterator[Challenger]:
    """The same search with its kernel inside each of some kernels with numbers of their own.

    Those of which there are too many for so many rows are not tried: they would learn by heart.
    """

    def inside(metric: WrapsKernel) -> Callable[[Search], Search | None]:
        def change(search: Search) -> Search | None:
            try:
                kernel = metric.around(search.start.kernel)
            except ValueError:  # no kernel of distances
                return None
            return search.from_other(attrs.evolve(search.start, kernel=kernel))

        return change

    if np.ndim(X) != 2 or ROWS_OF_A_NUMBER * np.shape(X)[1] > rows:
        return
    for metric in metrics:
        started = _started(metric, X)
        if 0 < ROWS_OF_A_NUMBER * _own_numbers(started) <= rows:
            yield Challenger(f"metric {metric.name}", inside(started), "near")


def _own_numbers(metric: WrapsKernel) -> int:
    """How many hyperparameters a kernel has besides those of the kernel inside."""
    return len(values(metric)) - len(values(metric.inner))


def more_terms(terms: Sequence[Kernel], X: Inputs) -> Iterator[Challenger]:
    """The same search with each of some kernels added to its own."""

    def adding(term: Kernel) -> Callable[[Search], Search | None]:
        def change(search: Search) -> Search | None:
            kernel = search.start.kernel
            if not isinstance(kernel, KernelArithmetic):
                return None
            return search.from_other(attrs.evolve(search.start, kernel=kernel + term))

        return change

    for term in terms:
        yield Challenger(f"term {term.name}", adding(_started(term, X)))


def other_likelihoods(likelihoods: Sequence[Likelihood], X: Inputs) -> Iterator[Challenger]:
    """The same search with each of some likelihoods, in the form for as many classes."""

    def in_place(part: Any) -> Callable[[Search], Search | None]:
        def change(search: Search) -> Search | None:
            form, present = part, search.start.likelihood
            if has(present, SeveralFunctions):
                if not has(part, ManyClasses):
                    return None
                form = part.for_classes(present.functions)
            return _instead("likelihood", form)(search)

        return change

    for likelihood in likelihoods:
        yield Challenger(f"likelihood {likelihood.name}", in_place(_started(likelihood, X)))


def warped_inputs(warps: Sequence[Kernel], X: Inputs, rows: TrainingRows) -> Iterator[Challenger]:
    """The same search on inputs that are seen through the map of each of some kernels."""

    def through(warp: WarpsInputs) -> Callable[[Search], Search | None]:
        def change(search: Search) -> Search | None:
            return search.warped(warp, rows) if search.moves and search.warp is None else None

        return change

    for kernel in warps:
        yield Challenger(f"inputs {kernel.name}", through(_started(kernel, X)), "near")


def tied_features() -> Challenger:
    """The same search with the numbers of every list kept in the ratios they have."""

    def change(search: Search) -> Search | None:
        if search.tied or not search.prior.has_lists:
            return None
        return attrs.evolve(search, tied=True)

    return Challenger("features tied", change, bars=(2.0, 2.0, 2.0))


def half_the_penalty(penalty: float) -> Challenger:
    """The search that has this penalty with half of it.

    Where rows are few, the first half must be clearly better, and the next ones need not be: that
    labels are clean has been said then.
    """

    def change(search: Search) -> Search | None:
        return attrs.evolve(search, penalty=0.5 * penalty) if search.penalty == penalty else None

    bars = (1.0, 2.0 if penalty == 1.0 else 1.0, 2.0)
    return Challenger(f"penalty {0.5 * penalty:g}", change, bars=bars)


def other_elbo_share(share: float) -> Challenger:
    """The same search with another share of the expected loss."""

    def change(search: Search) -> Search | None:
        return attrs.evolve(search, elbo_share=share) if search.elbo_share != share else None

    return Challenger(f"elbo_share {share:g}", change)


def adapted(state: State, search: Search) -> State:
    """The state with the kernel and the likelihood of a search, as far as they are other ones.

    Hyperparameters of the same name and position keep their values, each once.
    """
    warp = warp_of(state)
    kernel = _carried(state.kernel if warp is None else warp.inner, search.start.kernel)
    return attrs.evolve(
        state,
        kernel=kernel if search.warp is None else search.warp.around(kernel),
        likelihood=_carried(state.likelihood, search.start.likelihood),
    )


def _instead(slot: str, part: Any) -> Callable[[Search], Search | None]:
    def change(search: Search) -> Search | None:
        if type(getattr(search.start, slot)) is type(part):
            return None
        return search.from_other(attrs.evolve(search.start, **{slot: part}))

    return change


def _started(part: Any, X: Inputs) -> Any:
    return part.started(X) if has(part, StartsFromData) else part


def _paths(part: Any) -> list[str]:
    return [each.path for each in hyperparameters(part)]


def _carried(old: Any, new: Any) -> Any:
    if type(old) is type(new) and _paths(old) == _paths(new):
        return old
    known: dict[tuple[str, int | None], list[float]] = {}
    for each in hyperparameters(old):
        known.setdefault((each.field, each.position), []).append(each.value)
    numbers = []
    for each in hyperparameters(new):
        values = known.get((each.field, each.position))
        numbers.append(values.pop(0) if values else each.value)
    return replaced(new, np.array(numbers))
