"""Hypothesis strategies: data and components, the awkward ones included.

``problems()`` draws training sets with duplicate rows, constant features and unbalanced labels.
``components(kind)`` draws parts of a registry, anyone's, with hyperparameters near one; composite
kernels nest. ``walks()``, ``fitted_states()`` and ``fits()`` draw what the laws of posteriors, of
gradients and of whole fits are about. What is drawn is valid: an exception from it is somebody's
bug.
"""

from __future__ import annotations

from typing import Any, get_args, get_origin

import attrs
import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from numpy.typing import NDArray

from sgpc_framework.algebra.rounding import Storage
from sgpc_framework.design import Design, build
from sgpc_framework.parts.abilities import has
from sgpc_framework.parts.hyperparameters import (
    Declaration,
    Hyperparameter,
    declaration,
    hyperparameters,
    replaced,
)
from sgpc_framework.parts.options import Option, options_of
from sgpc_framework.plugin.kinds import KindName
from sgpc_framework.plugin.registry import Registry, default_registry
from sgpc_framework.protocols import (
    Kernel,
    PlainOptions,
    SampleInputs,
    SeveralFunctions,
    StartsFromData,
)
from sgpc_framework.rows.posterior import Posterior
from sgpc_framework.rows.state import State
from sgpc_framework.rows.training_rows import TrainingRows

Floats = NDArray[np.float64]


@attrs.frozen(eq=False)
class Problem:
    """A training set: inputs, and labels in {-1, +1} with both present."""

    X: Floats
    y: Floats


@st.composite
def problems(draw: st.DrawFn, min_rows: int = 2, max_rows: int = 25) -> Problem:
    """Small training sets; now and then with duplicate rows and constant features."""
    rows = draw(st.integers(min_rows, max_rows))
    features = draw(st.integers(1, 4))
    numbers = st.floats(-3.0, 3.0, allow_subnormal=False, width=32)
    X = draw(npst.arrays(np.float64, (rows, features), elements=numbers))
    if draw(st.booleans()):
        X = X[draw(npst.arrays(np.intp, rows, elements=st.integers(0, rows - 1)))]
    if draw(st.booleans()):
        X[:, draw(st.integers(0, features - 1))] = draw(numbers)
    y = np.where(draw(npst.arrays(np.bool_, rows)), 1.0, -1.0)
    y[:2] = -1.0, 1.0
    return Problem(X, y)


@st.composite
def components(
    draw: st.DrawFn,
    kind: KindName,
    features: int = 1,
    registry: Registry | None = None,
    depth: int = 1,
) -> Any:
    """A part of the registry with drawn hyperparameters and otherwise default options.

    ``features`` is the width of the inputs (for one lengthscale per feature), ``depth`` how deep
    kernels made of kernels may nest. What else a kernel takes from data, it has from normal rows.
    """
    registry = registry or default_registry()
    classes = [registry.get(kind, name) for name in registry.names(kind)]
    if depth == 0:
        classes = [cls for cls in classes if not any(map(_nests, options_of(cls)))]
    cls: Any = draw(st.sampled_from(classes))
    if has(cls, PlainOptions):
        return _retuned(draw, cls.from_options({}))
    options: dict[str, Any] = {}
    for option in options_of(cls):
        declared = declaration(option.field)
        if declared is not None:
            options[option.key] = draw(_hyperparameters(option, declared, features))
        elif _nests(option):
            part = components(kind, features, registry, depth - 1)
            options[option.key] = tuple(draw(st.lists(part, min_size=1, max_size=3)))
    part = cls(**options)
    if kind == "kernel" and has(part, StartsFromData) and not has(part, SampleInputs):
        return part.started(np.random.default_rng(0).normal(size=(12, features)))
    return part


def likelihoods() -> st.SearchStrategy[Any]:
    """Likelihoods of one latent function, for labels -1.0 and +1.0."""
    return components("likelihood").filter(lambda part: not has(part, SeveralFunctions))


def _nests(option: Option) -> bool:
    return get_origin(option.type) is tuple and get_args(option.type)[0] is Kernel


def _retuned(draw: st.DrawFn, part: Any) -> Any:
    """A part that says its hyperparameters itself, with drawn ones."""
    return replaced(part, np.array([draw(_number(each)) for each in hyperparameters(part)]))


def _number(declared: Declaration | Hyperparameter) -> st.SearchStrategy[float]:
    near = {"log": (0.3, 3.0), "identity": (-1.0, 1.0), "logit": (0.05, 0.4)}[declared.transform]
    return st.floats(max(near[0], declared.bounds[0]), min(near[1], declared.bounds[1]))


def _hyperparameters(
    option: Option, declared: Declaration, features: int
) -> st.SearchStrategy[Any]:
    number = _number(declared)
    if get_origin(option.type) is tuple:  # a list in any case, such as a number for each class
        return st.lists(number, min_size=2, max_size=4).map(tuple)
    if any(get_origin(member) is tuple for member in get_args(option.type)):
        if float not in get_args(option.type):  # not one for each feature
            return st.just(option.field.default)
        return number | st.tuples(*[number] * features)
    return number


@attrs.frozen
class Inclusion:
    """A row to include and its site: the share of the variance it takes, and its coefficient."""

    row: int
    share: float
    coefficient: float


def inclusions(rows: int, max_size: int = 12) -> st.SearchStrategy[list[Inclusion]]:
    """Sequences of distinct rows with arbitrary proper sites."""
    site = st.builds(
        Inclusion,
        row=st.integers(0, rows - 1),
        share=st.floats(1e-6, 0.999),
        coefficient=st.floats(-3.0, 3.0),
    )
    return st.lists(site, max_size=min(rows, max_size), unique_by=lambda inclusion: inclusion.row)


@attrs.frozen(eq=False)
class Walk:
    """A posterior at its start, the rows that it is over, and the inclusions to make."""

    problem: Problem
    posterior: Posterior
    inclusions: list[Inclusion]


@st.composite
def walks(draw: st.DrawFn, storage: Storage = "float64") -> Walk:
    """Any kernel and likelihood, rows in one block or in several, and any inclusions."""
    problem = draw(problems())
    rows = TrainingRows.of(problem.X, problem.y, draw(st.sampled_from([1, 3, 1000])))
    posterior = rows.posterior(
        draw(components("kernel", features=problem.X.shape[1])),
        draw(likelihoods()),
        len(problem.y),
        storage,
    )
    return Walk(problem, posterior, draw(inclusions(len(problem.y))))


@attrs.frozen(eq=False)
class FittedState:
    """A state, and the rows it could have been fitted to."""

    problem: Problem
    state: State
    rows: TrainingRows


@st.composite
def fitted_states(
    draw: st.DrawFn,
    kernels: st.SearchStrategy[Kernel] | None = None,
    precisions: st.SearchStrategy[float] = st.floats(0.05, 5.0),  # noqa: B008  strategies are lazy
    means: st.SearchStrategy[float] = st.floats(-5.0, 5.0),  # noqa: B008
    max_size: int = 5,
) -> FittedState:
    """A training set, a basis in it, arbitrary sites, and hyperparameters."""
    problem = draw(problems(min_rows=4))
    numbers = st.integers(0, len(problem.y) - 1)
    basis = draw(st.lists(numbers, min_size=1, max_size=max_size, unique=True))

    def each(site: st.SearchStrategy[float]) -> Floats:
        return np.array(draw(st.lists(site, min_size=len(basis), max_size=len(basis))))

    state = State(
        draw(components("kernel", problem.X.shape[1]) if kernels is None else kernels),
        draw(likelihoods()),
        np.array(basis, dtype=np.intp),
        problem.X[basis],
        each(precisions),
        each(means),
    )
    block_rows = draw(st.sampled_from([2, 1000]))
    return FittedState(problem, state, TrainingRows.of(problem.X, problem.y, block_rows))


@attrs.frozen(eq=False)
class FitToMake:
    """A training set, and a design to be fitted to it."""

    problem: Problem
    design: Design


@st.composite
def fits(draw: st.DrawFn, /, min_rows: int = 2, **fixed: Any) -> FitToMake:
    """Any composition of the registered parts; ``fixed`` entries of the configuration stay."""
    problem = draw(problems(min_rows=min_rows))
    parts = {
        "kernel": draw(components("kernel", features=problem.X.shape[1])),
        "likelihood": draw(likelihoods()),
        "selector": draw(components("selector")),
        "sites": draw(components("sites")),
        "objective": draw(components("objective")),
        "max_basis": draw(st.integers(1, 8)),
        "max_iterations": draw(st.integers(1, 3)),
        "optimizer": draw(st.sampled_from(["conjugate-gradients", "l-bfgs-b"])),
        "storage": draw(st.sampled_from(["float64", "float32"])),
        "seed": draw(st.integers(0, 100)),
    }
    return FitToMake(problem, build({**parts, **fixed}))
