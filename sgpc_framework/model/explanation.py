"""Why a row is predicted as it is: what each basis vector contributes.

The latent mean at a row is an average of what the sites of the basis vectors bⱼ ask for,

    mean(x) = Σⱼ wⱼ(x) mⱼ,    w(x) = (K_uu + Π⁻¹)⁻¹ k_u(x)

whose weights are largest for basis vectors like the row, and sum to about one where there are some.
(The same sum could be written as Σⱼ cⱼ k(x, bⱼ); but neighbours then have terms of opposite sign
that are hundreds of times as large as what remains of them, and say nothing.) Two classes have one
such function, and it speaks for the second where it is above zero; many classes have one each, and
what counts is by how much that of one class leads over that of another. Either way the lead is a
sum with a term for each basis vector.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.errors import InputError
from sgpc_framework.model.costs import decisions

if TYPE_CHECKING:
    from sgpc_framework.model.many_classes import OneVsRest
    from sgpc_framework.model.model import Model

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

NEAREST = 3
"""How many of the most similar basis vectors an explanation names."""

MOST_IN_WORDS = 4
"""How many columns a text names in which a row and a basis vector are apart."""


@attrs.frozen(eq=False)
class Contribution:
    """What one basis vector says of one row.

    =========== =======================================================================
    number      of the basis vector, from 0 on
    row         the training row that it is, or began as; -1 if it is none
    input       the basis vector itself
    amount      its term in the lead: above zero, it speaks for the label
    weight      how much of what its site asks for counts here
    probability of the label, if the row were that basis vector
    similarity  k(x, b) / √(k(x, x) k(b, b)): 1 where the model cannot tell them apart
    values      the basis vector as a row of a table, by column, if the model takes tables
    apart       the columns that keep the two apart, those that do most first
    =========== =======================================================================
    """

    number: int
    row: int
    input: Any
    amount: float
    weight: float
    probability: float
    similarity: float
    values: Mapping[str, Any] | None = None
    apart: tuple[str, ...] = ()


@attrs.frozen(eq=False)
class Explanation:
    """Why a row is predicted to be of a class, rather than of its rival.

    ``lead`` = the sum of the amounts in ``largest`` + ``rest``: the contributions of largest size,
    and the sum of those of all ``others``. A lead of zero is what is known before any data.
    ``nearest`` has the basis vectors that are most like the row, whatever they contribute.
    ``rival`` is the most probable other class, and None where each class has a model that tells it
    from all the rest. ``most_probable`` is false where costs have decided for a class that is not.

    Of a table, ``values`` is the row by column, and ``effects`` says of each column how much less
    the lead would be if the row had there what the basis vectors have on average: those of largest
    size first. They need not sum to the lead, as columns work together.
    """

    label: Any
    rival: Any
    probability: float
    lead: float
    largest: tuple[Contribution, ...]
    rest: float
    others: int
    nearest: tuple[Contribution, ...]
    most_probable: bool = True
    values: Mapping[str, Any] | None = None
    effects: Mapping[str, float] = attrs.field(factory=dict)

    def __str__(self) -> str:
        lines = [f"{self.verdict}, lead {self.lead:+.3g}"]
        lines += [f"  {effect:+8.3f}  {column}" for column, effect in self.foremost_effects()]
        if self.effects:
            lines.append("of basis vectors:")
        lines += [f"  {one.amount:+8.3f}  {self.likeness(one)}" for one in self.largest]
        if self.others:
            lines.append(f"  {self.rest:+8.3f}  the other {self.others} basis vectors together")
        return "\n".join(lines)

    @property
    def verdict(self) -> str:
        """What is predicted, with what probability."""
        against = "the rest" if self.rival is None else str(self.rival)
        by = "" if self.most_probable else ", by its costs"
        return f"predicted {self.label} against {against}, probability {self.probability:.3f}{by}"

    @property
    def in_one_line(self) -> str:
        """The same for the cell of a table: columns, if there are any, and what it is most like."""
        columns = [f"{column} {effect:+.2f}" for column, effect in self.foremost_effects()]
        near = [f"most like {self.likeness(one)}" for one in self.nearest[:1]]
        return f"{self.verdict}: {'; '.join([*columns, *near])}"

    def foremost_effects(self) -> list[tuple[str, float]]:
        """The columns that matter most to this row, with their values, and by how much."""
        foremost = list(self.effects.items())[:MOST_IN_WORDS]
        values = self.values or {}
        return [(f"{name} {value_text(values.get(name, ''))}", effect) for name, effect in foremost]

    def likeness(self, one: Contribution) -> str:
        """A basis vector beside the row, in words."""
        text = (
            f"basis vector {one.number + 1} ({self.label} {one.probability:.2f}), weight "
            f"{one.weight:.2f}, similarity {one.similarity:.2f}"
        )
        if one.values is None or self.values is None:
            return text
        named = one.apart[:MOST_IN_WORDS]
        apart = [
            f"{name} {value_text(one.values[name])} (here {value_text(self.values[name])})"
            for name in named
        ]
        same = [
            f"{name} {value_text(one.values[name])}" for name in one.values if name not in one.apart
        ]
        room = max(MOST_IN_WORDS - len(apart), 0)
        more = len(one.values) - len(apart) - min(len(same), room)
        rest = [f"and {more} further columns"] if more else []
        return f"{text}: {', '.join([*apart, *same[:room], *rest])}"

    def as_plain(self) -> dict[str, Any]:
        """Plain data, as JSON has it."""
        return {
            "label": self.label,
            "rival": self.rival,
            "probability": self.probability,
            "lead": self.lead,
            "largest": [_plain(one) for one in self.largest],
            "rest": self.rest,
            "effects": dict(self.effects),
            "nearest": [_plain(one) for one in self.nearest],
        }


def value_text(value: Any) -> str:
    """A value of a table as people write it.

    >>> value_text(3.0), value_text(0.123456), value_text(12345.6), value_text("fixed")
    ('3', '0.1235', '12346', 'fixed')
    """
    if not isinstance(value, float):
        return str(value)
    return f"{value:.0f}" if 1e3 <= abs(value) < 1e15 else f"{value:.4g}"


def _plain(one: Contribution) -> dict[str, Any]:
    names = ("number", "amount", "weight", "probability", "similarity")
    plain = {name: getattr(one, name) for name in names}
    return plain if one.values is None else {**plain, "values": dict(one.values)}


def explain_model(model: Model, X: Any, most: int) -> list[Explanation]:
    """Of each row, why its prediction and not the next most probable class."""
    log_proba = model.predict_log_proba(X)
    return [*_each(model, X, log_proba, decisions(log_proba, model.costs), checked_most(most))]


def explain_one_vs_rest(model: OneVsRest, X: Any, most: int) -> list[Explanation]:
    """Of each row, what the model of the class says that is predicted."""
    log_proba = model.predict_log_proba(X)
    decided = decisions(log_proba, model.costs)
    proba = np.exp(log_proba)
    explained: dict[int, Explanation] = {}
    for position, own in enumerate(model.models):
        rows = np.flatnonzero(decided == position)
        if not rows.size:
            continue
        part = X[rows] if isinstance(X, np.ndarray) else [X[row] for row in rows.tolist()]
        told = _each(own, part, own.predict_log_proba(part), np.ones_like(rows), checked_most(most))
        label = model.classes.tolist()[position]
        for row, one in zip(rows.tolist(), told, strict=True):
            explained[row] = attrs.evolve(
                one,
                label=label,
                rival=None,
                probability=float(proba[row, position]),
                most_probable=bool(proba[row, position] >= proba[row].max()),
            )
    return [explained[row] for row in range(len(decided))]


def checked_most(most: int) -> int:
    """How many contributions are wanted."""
    if isinstance(most, bool) or not isinstance(most, (int, np.integer)) or most < 1:
        raise InputError(f"wanted most to be a whole number of at least 1, found {most!r}")
    return int(most)


def _each(
    model: Model, X: Any, log_proba: Floats, decided: Codes, most: int
) -> Iterator[Explanation]:
    classes = model.classes.tolist()
    if len(model):
        kernel, similarity = model.kernel_to_basis(X)
        weights, there = _weights(model, kernel), model.predict_proba(model.inputs)
    else:  # nothing but how frequent the classes are
        weights = similarity = np.zeros((len(decided), 0))
        there = np.zeros((0, len(classes)))
    means = np.atleast_2d(model.state.mean)
    for row, label in enumerate(decided.tolist()):
        others = log_proba[row].copy()
        others[label] = -np.inf
        rival = int(others.argmax())
        for_label = _lead(label, rival, len(means))
        amounts = weights[row] * (for_label @ means)
        order = np.argsort(-np.abs(amounts), kind="stable")
        near = np.argsort(-similarity[row], kind="stable")[:NEAREST]
        told = _Told(model, amounts, weights[row], there[:, label], similarity[row])
        yield Explanation(
            classes[label],
            classes[rival],
            float(np.exp(log_proba[row, label])),
            float(amounts.sum()),
            told.of(order[:most]),
            float(amounts[order[most:]].sum()),
            len(order[most:]),
            told.of(near),
            bool(log_proba[row, label] >= log_proba[row].max()),
        )


def _lead(label: int, rival: int, functions: int) -> Floats:
    """By which each latent function is multiplied, so that the sum is the lead of the label."""
    if functions == 1:
        return np.array([1.0 if label else -1.0])
    lead: Floats = np.eye(functions)[label] - np.eye(functions)[rival]
    return lead


def _weights(model: Model, kernel: Floats) -> Floats:
    """w(x) of each row, TᵀT k_u(x) with T of the additive form."""
    T = model.state.form().T
    weights: Floats = (kernel @ T.T) @ T
    return weights


@attrs.frozen(eq=False)
class _Told:
    """What all basis vectors say of one row."""

    model: Model
    amounts: Floats
    weights: Floats
    there: Floats
    similarity: Floats

    def of(self, which: Codes) -> tuple[Contribution, ...]:
        return tuple(
            Contribution(
                j,
                int(self.model.basis[j]),
                self.model.inputs[j],
                float(self.amounts[j]),
                float(self.weights[j]),
                float(self.there[j]),
                float(self.similarity[j]),
            )
            for j in which.tolist()
        )
