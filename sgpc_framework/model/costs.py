"""What wrong decisions cost, and the decision that costs least."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.errors import InputError

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

MOST_CLASSES = 1000
"""A matrix of costs is for no more classes than this."""


TARGETS = ("recall", "precision", "specificity")
"""What a target may be about."""


@attrs.frozen
class Target:
    """What a threshold was chosen for: ``measure`` of ``label`` at least ``least``, and what it
    reached on so many ``rows``."""

    measure: str
    least: float
    label: Any
    reached: float
    rows: int

    def __str__(self) -> str:
        return (
            f"{self.measure} of {self.label} at least {self.least:g}, "
            f"{self.reached:.3f} on the {self.rows} rows that chose it"
        )


@attrs.frozen(eq=False)
class Costs:
    """C, of which row k and column j is the cost of saying class j where class k is true.

    The decision for a row with probabilities p is the j with the least expected cost,

        Σₖ pₖ (Cₖⱼ - Cₖₖ)

    where the diagonal, what a right answer costs, may be anything: it is no reason to prefer one
    answer to another. A tie goes to the first of the classes.

    >>> classes = np.array(["no", "yes"])
    >>> costs = Costs.of(classes, {"yes": 4.0})  # to miss a yes is four times as bad
    >>> costs.threshold
    0.2
    >>> costs.decide(np.log([[0.85, 0.15], [0.75, 0.25]]))
    array([0, 1])
    """

    matrix: Floats
    target: Target | None = None

    @classmethod
    def of(cls, classes: NDArray[Any], given: Any) -> Costs:
        """Costs from a square matrix in the order of the classes, or from a mapping.

        ``{"yes": 5}`` says what it costs to miss a row of a class, ``{("yes", "no"): 5}`` what it
        costs to say no where yes is true. Mistakes that it does not name cost 1.
        """
        if isinstance(given, Costs):
            given = given.matrix
        matrix = _from_mapping(classes, given) if isinstance(given, Mapping) else _array(given)
        _check(classes, matrix)
        return cls(matrix)

    @classmethod
    def of_threshold(cls, classes: NDArray[Any], threshold: float) -> Costs:
        """Those with which the second of two classes is said where its probability is above."""
        if len(classes) != 2:
            raise InputError(
                f"a threshold is for two classes, found {len(classes)}: say costs={{label: cost of "
                "missing it}"
            )
        if not _is_number(threshold) or not 0.0 < threshold < 1.0:
            raise InputError(f"wanted a threshold between 0 and 1, found {threshold!r}")
        return cls.of(classes, [[0.0, threshold], [1.0 - threshold, 0.0]])

    @property
    def regret(self) -> Floats:
        """What each answer costs more than the right one."""
        more: Floats = self.matrix - np.diag(self.matrix)[:, None]
        return more

    @property
    def threshold(self) -> float | None:
        """Of two classes, the probability above which the second is said."""
        if len(self.matrix) != 2:
            return None
        alarm, miss = self.regret[0, 1], self.regret[1, 0]
        return float(alarm / (alarm + miss))

    def decide(self, log_proba: Floats) -> Codes:
        """The position of the class that costs least, for each row of log probabilities."""
        regret = self.regret
        wrong = regret[~np.eye(len(regret), dtype=np.bool_)]
        if np.all(wrong == wrong[0]):  # every mistake is as bad: exactly the most probable class
            return most_probable(log_proba)
        least: Codes = (np.exp(log_proba) @ regret).argmin(axis=1)
        return least

    def mean(self, decided: Codes, truth: Codes) -> float:
        """What these decisions cost a row."""
        return float(self.matrix[truth, decided].mean())

    def as_section(self) -> dict[str, Any]:
        """Plain data, for a model file."""
        target = None if self.target is None else attrs.asdict(self.target)
        return {"matrix": self.matrix.tolist(), "target": target}

    @classmethod
    def from_section(cls, classes: NDArray[Any], section: Any) -> Costs:
        """The costs again; ``InputError`` if they are none."""
        if not isinstance(section, dict) or section.keys() != {"matrix", "target"}:
            raise InputError("wanted costs with a matrix and a target")
        costs, target = cls.of(classes, section["matrix"]), section["target"]
        if target is None:
            return costs
        return attrs.evolve(costs, target=_target(classes, target))


def decisions(log_proba: Floats, costs: Costs | None) -> Codes:
    """The position of each row's decision: without costs, the most probable class."""
    return most_probable(log_proba) if costs is None else costs.decide(log_proba)


def most_probable(proba: Floats) -> Codes:
    """The class of each row, of probabilities or their logarithms: a tie goes to the first class.

    Every label and every error is by this rule, unless there are costs.

    >>> most_probable(np.array([[0.5, 0.5], [0.25, 0.75]]))
    array([0, 1])
    """
    best: Codes = proba.argmax(axis=-1)
    return best


def label_position(classes: NDArray[Any], label: Any) -> int:
    """Where a label is among the classes; ``InputError`` if it is not."""
    known = classes.tolist()
    if label not in known:
        names = ", ".join(map(repr, known[:10])) + (", ..." if len(known) > 10 else "")
        raise InputError(f"wanted one of the classes {names}, found {label!r}")
    return int(known.index(label))


def _from_mapping(classes: NDArray[Any], given: Mapping[Any, Any]) -> Floats:
    matrix = 1.0 - np.eye(len(classes))
    pairs = {key: cost for key, cost in given.items() if isinstance(key, tuple)}
    for label, cost in given.items():  # whole rows first: pairs change single entries of them
        if label not in pairs:
            row = label_position(classes, label)
            matrix[row] = np.where(np.arange(len(classes)) == row, 0.0, _number(cost, label))
    for pair, cost in pairs.items():
        if len(pair) != 2:
            raise InputError(f"wanted costs of (true, predicted), found {pair!r}")
        true, predicted = (label_position(classes, label) for label in pair)
        matrix[true, predicted] = _number(cost, pair)
    return matrix


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def _number(cost: Any, of: Any) -> float:
    if not _is_number(cost):
        raise InputError(f"costs of {of!r}: wanted a number, found {cost!r}")
    try:
        return float(cost)
    except OverflowError as error:
        raise InputError(f"costs of {of!r}: wanted a number that fits a float: {error}") from error


def _array(given: Any) -> Floats:
    try:
        return np.array(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            "wanted costs as a square matrix of numbers, or as a mapping such as {label: cost of "
            f"missing it}}, found {type(given).__name__}: {error}"
        ) from error


def _check(classes: NDArray[Any], matrix: Floats) -> None:
    count = len(classes)
    if matrix.shape != (count, count):
        raise InputError(
            f"wanted costs of shape ({count}, {count}), a row for each true and a column for each "
            f"predicted class, found {matrix.shape}"
        )
    if count > MOST_CLASSES:
        raise InputError(f"wanted costs of at most {MOST_CLASSES} classes, found {count}")
    if not np.isfinite(matrix).all():
        raise InputError("wanted finite costs, found one that is not")
    with np.errstate(over="ignore"):
        regret = matrix - np.diag(matrix)[:, None]
    if not np.isfinite(regret).all():
        raise InputError("the costs are so large that they cannot be compared")
    names = classes.tolist()
    if np.any(regret < 0.0):
        true, said = np.argwhere(regret < 0.0)[0]
        raise InputError(
            f"to say {names[said]!r} where {names[true]!r} is true costs less than to be right "
            f"({matrix[true, said]:g} and {matrix[true, true]:g}): rows are true classes, columns "
            "predicted ones"
        )
    free = np.flatnonzero(~(regret > 0.0).any(axis=1))
    if free.size:
        raise InputError(
            f"no mistake on rows of class {names[free[0]]!r} costs anything: wanted costs above "
            "zero (the smaller, the less it matters)"
        )


def _target(classes: NDArray[Any], given: Any) -> Target:
    if not isinstance(given, dict) or given.keys() != {f.name for f in attrs.fields(Target)}:
        raise InputError("wanted a target of costs, or none")
    target = Target(**given)
    label_position(classes, target.label)
    shares = all(_is_number(x) and 0.0 <= x <= 1.0 for x in (target.least, target.reached))
    if (
        not shares
        or target.measure not in TARGETS
        or type(target.rows) is not int
        or target.rows < 0
    ):
        raise InputError("wanted a target with shares from 0 to 1 and a number of rows")
    return target
