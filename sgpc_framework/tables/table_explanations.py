"""Explanations in the words and units of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.model.classes import Classifier, models_of, positions
from sgpc_framework.model.explanation import Explanation
from sgpc_framework.model.model import Model
from sgpc_framework.tables.encoding import Encoding
from sgpc_framework.tables.feature_columns import NumberColumn, WordColumn

Floats = NDArray[np.float64]
Places = Sequence[tuple[NumberColumn | WordColumn, slice]]

CERTAIN = 0.9
"""From here on, a feature of a word that a refiner has moved still means the word."""


def explain_table(model: Classifier, encoding: Encoding, X: Floats, most: int) -> list[Explanation]:
    """Of each encoded row, why it is predicted as it is, in the words of the table."""
    told = model.explain(X, most)
    alone = next(iter(models_of(model).values()))
    models = models_of(model) if told and told[0].rival is None else {}
    return [
        _in_words(one, models.get(one.label, alone), encoding, row)
        for one, row in zip(told, X, strict=True)
    ]


def row_in_words(encoding: Encoding, row: Floats) -> dict[str, Any]:
    """The row of the table that has these features: numbers in their units, and words.

    Basis vectors that a refiner has moved may lie between words; the nearest is then said to be
    mostly what they have.
    """
    plain = encoding.plain_columns()
    return {column.name: _value(column, row[places]) for column, places in plain}


def _value(column: NumberColumn | WordColumn, features: Floats) -> float | str:
    if column.flagged:
        if features[-1] > 0.5:
            return "missing"
        features = features[:-1]
    if isinstance(column, NumberColumn):
        value = column.mean + column.scale * float(features[0])
        rounded = float(f"{value:.6g}")  # 3, and not 2.9999999999999996
        return rounded if abs(value) > 1e-9 * column.scale else 0.0
    best = int(features.argmax())
    if features[best] < 0.5:
        return "no known word"
    others = np.delete(features, best)
    pure = features[best] >= CERTAIN and np.all(np.abs(others) <= 1.0 - CERTAIN)
    return column.words[best] if pure else f"mostly {column.words[best]}"


def _in_words(one: Explanation, model: Model, encoding: Encoding, row: Floats) -> Explanation:
    values = row_in_words(encoding, row)
    places = [*encoding.plain_columns()]
    each = {c.number: c for c in (*one.largest, *one.nearest)}
    own = {number: row_in_words(encoding, c.input) for number, c in each.items()}
    gains = _gains(model, places, row, [c.input for c in each.values()])
    told = {}
    for (number, contribution), gain in zip(each.items(), gains, strict=True):
        order = [places[place][0].name for place in np.argsort(-gain, kind="stable").tolist()]
        apart = tuple(name for name in order if own[number][name] != values[name])
        told[number] = attrs.evolve(contribution, values=own[number], apart=apart)
    return attrs.evolve(
        one,
        values=values,
        effects=_effects(one, model, places, row),
        largest=tuple(told[c.number] for c in one.largest),
        nearest=tuple(told[c.number] for c in one.nearest),
    )


def _effects(one: Explanation, model: Model, places: Places, row: Floats) -> dict[str, float]:
    """How much each column adds to the lead, beside the average of the basis vectors."""
    if not len(model):
        return {}
    latent, _ = model.predict_latent(_with_columns_of(places, row, model.inputs.mean(axis=0)))
    if latent.ndim == 1:
        lead = latent if one.rival is None or one.label == model.classes[1] else -latent
    else:
        label, rival = positions(model.classes, [one.label, one.rival]).tolist()
        lead = latent[:, label] - latent[:, rival]
    effects = one.lead - lead
    order = np.argsort(-np.abs(effects), kind="stable").tolist()
    return {places[place][0].name: float(effects[place]) for place in order}


def _gains(model: Model, places: Places, row: Floats, vectors: list[Floats]) -> list[Floats]:
    """How alike the row and each vector would be if they agreed in a column, column by column."""
    if not vectors:
        return []
    variants = np.concatenate([_with_columns_of(places, row, vector) for vector in vectors])
    alike = model.kernel_between(variants, np.array(vectors))
    blocks = alike.reshape(len(vectors), len(places), len(vectors))
    return [blocks[place, :, place] for place in range(len(vectors))]


def _with_columns_of(places: Places, row: Floats, other: Floats) -> Floats:
    """The row, each time with one column of another."""
    variants = np.repeat(row[None], len(places), axis=0)
    for variant, (_, where) in zip(variants, places, strict=True):
        variant[where] = other[where]
    return variants
