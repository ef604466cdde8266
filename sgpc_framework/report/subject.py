"""What a report is about: a classifier, rows to judge it by, and names for things."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.errors import InputError
from sgpc_framework.metrics.column_importance import Importance, permutation_importance
from sgpc_framework.metrics.figures_of_merit import Merits
from sgpc_framework.metrics.predictions import Predictions
from sgpc_framework.metrics.relevance import has_relevances, name_features, relevances
from sgpc_framework.metrics.staged_merits import StagedMerits
from sgpc_framework.model.classes import Classifier, label_text, models_of
from sgpc_framework.model.model import Model
from sgpc_framework.rows.checking import checked_inputs
from sgpc_framework.tables.encoding import Encoding
from sgpc_framework.tables.feature_columns import DateColumn, NumberColumn
from sgpc_framework.tables.table_explanations import row_in_words

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

MOST_STAGED_ROWS = 5000
"""How many rows are judged at every size; the whole model is judged by all."""
MOST_PERMUTED = 160_000
"""How many probabilities are predicted for each permutation of all columns."""


@attrs.frozen
class Units:
    """From the features that a model sees to those that people know: centre + scale * feature."""

    centre: Floats
    scale: Floats

    @classmethod
    def of(cls, encoding: Encoding) -> Units | None:
        """The units of the table that an encoding was learned from; None if it keeps them."""
        affine = [
            (column.mean, column.scale)
            if isinstance(column, NumberColumn) and feature == column.name
            else (0.0, 1.0)
            for column, _ in encoding.plain_columns()
            for feature in column.features
        ]
        centre, scale = np.array(affine).T
        return cls(centre, scale) if np.any(centre != 0.0) or np.any(scale != 1.0) else None

    def in_units(self, X: Floats) -> Floats:
        """The features as people know them."""
        features: Floats = self.centre + self.scale * X
        return features


def encoding_of_features(names: Sequence[str], units: Units | None) -> Encoding:
    """The columns of a matrix as those of a table, in their units."""
    affine = [(0.0, 1.0)] * len(names)
    if units is not None:
        affine = [*zip(units.centre.tolist(), units.scale.tolist(), strict=True)]
    columns = [
        NumberColumn(name, float(centre), float(scale))
        for name, (centre, scale) in zip(_distinct(names), affine, strict=True)
    ]
    return Encoding(tuple(columns))


def _distinct(names: Sequence[str]) -> list[str]:
    """Names of columns, numbered where several are the same.

    >>> _distinct(["a", "b", "a"])
    ['a (1)', 'b', 'a (3)']
    """
    repeated = {name for name in names if list(names).count(name) > 1}
    return [f"{n} ({i})" if n in repeated else n for i, n in enumerate(names, start=1)]


@attrs.define(eq=False)
class Subject:
    """A classifier with rows and labels, checked; what several sections need is computed once."""

    model: Classifier
    X: Any
    y: NDArray[Any]
    encoding: Encoding | None
    """How columns became features; None where inputs are objects."""
    first_row: int = 0
    """The number that people give to the first row of a table."""

    @classmethod
    def of(
        cls,
        model: Classifier,
        X: Any,
        y: Any,
        feature_names: Sequence[str] | None = None,
        units: Units | None = None,
        first_row: int = 0,
        encoding: Encoding | None = None,
    ) -> Subject:
        """Check that the parts belong together. Without an ``encoding``, features are columns."""
        inputs = next(iter(models_of(model).values())).inputs
        width = inputs.shape[1] if inputs.ndim == 2 else None
        rows, labels = checked_inputs(X, width), np.asarray(y)
        if labels.shape != (len(rows),):
            raise InputError(
                f"y must have a label for each of the {len(rows)} rows, found {labels.shape}"
            )
        if encoding is None and width is not None:
            encoding = encoding_of_features(name_features(feature_names, width), units)
        return cls(model, rows, labels, encoding, first_row)

    @cached_property
    def names(self) -> list[str]:
        """The features that the model sees."""
        return ["input"] if self.encoding is None else list(self.encoding.features)

    @cached_property
    def columns(self) -> list[str]:
        """The columns of the table."""
        return ["input"] if self.encoding is None else list(self.encoding.names)

    @cached_property
    def units(self) -> Units | None:
        """The units of the features, if they are not those that the model sees."""
        return None if self.encoding is None else Units.of(self.encoding)

    @cached_property
    def predictions(self) -> Predictions:
        """What the classifier says of the rows, and what they are."""
        return Predictions.of(self.model, self.X, self.y)

    @property
    def truth(self) -> Codes:
        """The position of each row's class."""
        return self.predictions.truth

    @property
    def log_proba(self) -> Floats:
        """The log probabilities of the rows."""
        return self.predictions.log_proba

    @property
    def merits(self) -> Merits:
        """The figures of merit on the rows."""
        return self.predictions.merits

    @cached_property
    def staged_merits(self) -> StagedMerits:
        """Loss and error of every size, on so many of the rows."""
        rows = self.sample(MOST_STAGED_ROWS)
        return StagedMerits.of(self.model, self.X[rows], self.y[rows])

    @cached_property
    def classes(self) -> list[str]:
        """The classes as they are written."""
        return [label_text(label) for label in self.model.classes.tolist()]

    @cached_property
    def models(self) -> dict[str, Model]:
        """The models, by the class each tells from the rest; one alone is that of all classes."""
        return {label_text(label): model for label, model in models_of(self.model).items()}

    @property
    def many(self) -> bool:
        """Whether there are more than two classes."""
        return len(self.classes) > 2

    @property
    def one_for_each(self) -> bool:
        """Whether there is a model for each class, and not one for all."""
        return len(self.models) > 1

    @property
    def vectors(self) -> bool:
        """Whether inputs are feature vectors."""
        return isinstance(self.X, np.ndarray) and self.X.ndim == 2

    @property
    def refined(self) -> bool:
        """Whether a refiner has changed a model, so that only its own sizes can be had."""
        return any(model.smaller is not None for model in self.models.values())

    @property
    def of_one_size(self) -> bool:
        """Whether a refiner has left one size only."""
        return self.refined and len(self.model.sizes) == 1

    @cached_property
    def importances(self) -> list[Importance]:
        """What each column is worth on so many of the rows, the greatest first."""
        assert self.encoding is not None  # who asks has seen that there are columns
        places = self.encoding.features_of_columns
        rows = self.sample(self.judged_by_columns)
        return permutation_importance(self.model, self.X[rows], self.y[rows], places)

    @property
    def judged_by_columns(self) -> int:
        """How many rows say what a column is worth: of many columns or classes, fewer."""
        numbers = len(self.columns) * len(self.classes)
        return int(np.clip(MOST_PERMUTED // numbers, 100, 2000))

    @cached_property
    def spread_in_lengthscales(self) -> Floats | None:
        """How much each feature matters, at most; None if a kernel does not say."""
        kernels = [model.kernel for model in self.models.values()]
        if not self.vectors or not all(map(has_relevances, kernels)):
            return None
        spread = np.std(self.X, axis=0)
        parts = [each for kernel in kernels for each in relevances(kernel, spread).values()]
        greatest: Floats = np.max(parts, axis=0)
        return greatest

    def foremost(self, most: int) -> list[str]:
        """So many columns at most in their order: those that matter most. Of dates, their parts."""
        if self.encoding is None:
            return self.columns
        few = len(self.columns) <= most
        chosen = self.columns if few else {each.column for each in self.importances[:most]}
        return [
            part.name
            for column in self.encoding.columns
            if column.name in chosen
            for part in (column.parts if isinstance(column, DateColumn) else [column])
        ]

    def in_words(self, row: Any) -> dict[str, Any]:
        """An input as a row of the table: numbers in their units, and words."""
        return {"input": row} if self.encoding is None else row_in_words(self.encoding, row)

    def in_units(self, X: Any) -> Any:
        """Features in the units that people know."""
        return X if self.units is None else self.units.in_units(X)

    def sample(self, most: int) -> Codes:
        """Numbers of so many rows at most, always the same, in ascending order."""
        count = len(self.y)
        if count <= most:
            return np.arange(count)
        return np.sort(np.random.default_rng(0).choice(count, most, replace=False))
