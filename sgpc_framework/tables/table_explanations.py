"""Explanations in the words and units of a table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.model.classes import Classifier, models_of, positions
from sgpc_framework.model.explanation import Contribution, Explanation
from sgpc_framework.model.model import Model
from sgpc_framework.tables.encoding import Encoding, NumberColumn, WordColumn

Floats = NDArray[np.float64]

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
    return {column.name: _value(column, row[places]) for column, places in _places(encoding)}


def _places(encoding: Encoding) -> Iterator[tuple[NumberColumn | WordColumn, slice]]:
    begin = 0
    for column in encoding.columns:
        end = begin + len(column.features)
        yield column, slice(begin, end)
        begin = end


def _value(column: NumberColumn | WordColumn, features: Floats) -> float | str:
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

    def told(each: Contribution) -> Contribution:
        own = row_in_words(encoding, each.input)
        apart = _apart(model, encoding, row, each.input)
        names = tuple(name for name in apart if own[name] != values[name])
        return attrs.evolve(each, values=own, apart=names)

    return attrs.evolve(
        one,
        values=values,
        effects=_effects(one, model, encoding, row),
        largest=tuple(map(told, one.largest)),
        nearest=tuple(map(told, one.nearest)),
    )


def _effects(one: Explanation, model: Model, encoding: Encoding, row: Floats) -> dict[str, float]:
    """How much each column adds to the lead, beside the average of the basis vectors."""
    if not len(model):
        return {}
    columns = [*_places(encoding)]
    variants = np.repeat(row[None], len(columns), axis=0)
    average = model.inputs.mean(axis=0)
    for variant, (_, places) in zip(variants, columns, strict=True):
        variant[places] = average[places]
    latent, _ = model.predict_latent(variants)
    if latent.ndim == 1:
        lead = latent if one.rival is None or one.label == model.classes[1] else -latent
    else:
        label, rival = positions(model.classes, [one.label, one.rival]).tolist()
        lead = latent[:, label] - latent[:, rival]
    effects = one.lead - lead
    order = np.argsort(-np.abs(effects), kind="stable").tolist()
    return {columns[place][0].name: float(effects[place]) for place in order}


def _apart(model: Model, encoding: Encoding, row: Floats, vector: Floats) -> list[str]:
    """Columns by how much more alike the two would be if they agreed in that one, most first."""
    columns = [
        (column.name, places)
        for column, places in _places(encoding)
        if not np.array_equal(row[places], vector[places])
    ]
    if not columns:
        return []
    variants = np.repeat(row[None], len(columns), axis=0)
    for variant, (_, places) in zip(variants, columns, strict=True):
        variant[places] = vector[places]
    gain = model.kernel_between(variants, vector[None])[:, 0]
    return [columns[place][0] for place in np.argsort(-gain, kind="stable").tolist()]
