"""``SGPTableClassifier``: raw data frames as scikit-learn has them, with words, gaps and dates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

import attrs
import numpy as np
from numpy.typing import NDArray

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise ImportError(
        "SGPTableClassifier needs scikit-learn 1.6 or newer, which is not installed: "
        "pip install 'sgpc-framework[sklearn]'"
    ) from error

from sgpc_framework.adapters.sklearn import MOST_PERMUTED, SGPClassifier
from sgpc_framework.errors import InputError
from sgpc_framework.metrics.column_importance import permutation_importance
from sgpc_framework.model.explanation import Explanation
from sgpc_framework.rows.checking import is_dask_collection, is_missing
from sgpc_framework.tables.data_frames import as_table
from sgpc_framework.tables.dates import calendar_columns, dates_of, telling
from sgpc_framework.tables.encoding import MAX_WORDS, Encoding
from sgpc_framework.tables.table import Column, Table
from sgpc_framework.tables.table_explanations import explain_table

Floats = NDArray[np.float64]


class SGPTableClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier of raw tables: numbers, words, dates and missing values, as they come.

    Numbers are standardised, words become a feature for each, dates a year, a month, a day, a
    weekday and an hour, as far as they differ. Medians and most frequent words stand where values
    are missing; where some are in training, a feature more says so.

    Parameters
    ----------
    classifier : estimator, default=None
        What is fitted to the features; None: ``SGPClassifier()``.
    words : sequence of str, default=()
        Columns that hold words although they look like numbers.
    max_words : int, default=100
        The most different words of a column.
    unseen : "zero" or "refuse", default="zero"
        A word that training has not seen is none of the known ones, or an error.

    Attributes
    ----------
    classes_ : array
        The labels, sorted; columns of probabilities follow this order.
    classifier_ : estimator
        The fitted classifier of the features.
    encoding_ : Encoding
        How the columns become features; ``encoding_.features`` has their names.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : array of str
        The names of the columns, if they are strings.
    feature_importances_ : array
        For each column, with all that it has become, by how many nats the log loss rises when it
        is permuted, on at most 500 of the training rows.
    """

    def __init__(
        self,
        classifier: Any = None,
        *,
        words: Sequence[str] = (),
        max_words: int = MAX_WORDS,
        unseen: Literal["zero", "refuse"] = "zero",
    ) -> None:
        self.classifier = classifier
        self.words = words
        self.max_words = max_words
        self.unseen = unseen

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn how the columns of X become features, and fit the classifier to these."""
        columns = self._columns(X, reset=True)
        dates = {name: dates_of(values) for name, values in columns.items()}
        self._dates = {name: telling(d) for name, d in dates.items() if d is not None}
        table = self._table(columns)
        self._gaps = tuple(c.name for c in table.columns if c.missing.any())
        self._empty = tuple(c.name for c in table.columns if c.missing.all())
        table = self._with_gaps(table)
        words = [name for name in self.words if name in table.names]
        if len(words) < len(self.words):
            table.column(next(name for name in self.words if name not in words))
        self.encoding_ = Encoding.learn(
            table, impute=True, unseen=self.unseen, words=words, max_words=self.max_words
        )
        chosen = SGPClassifier() if self.classifier is None else clone(self.classifier)
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        self.classifier_ = chosen.fit(self.encoding_.encode(table), y, **weights)
        self.classes_ = self.classifier_.classes_
        if hasattr(self.classifier_, "predict_proba"):
            self.feature_importances_ = self._importances(columns, table, np.asarray(y).ravel())
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of each row, as the classifier of the features decides."""
        features = self.encode(X)
        predicted: NDArray[Any] = self.classifier_.predict(features)
        return predicted

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of shape (rows, classes): the columns follow ``classes_``."""
        features = self.encode(X)
        probabilities: Floats = self.classifier_.predict_proba(features)
        return probabilities

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of the probabilities."""
        features = self.encode(X)
        logarithms: Floats = self.classifier_.predict_log_proba(features)
        return logarithms

    def decision_function(self, X: Any) -> Floats:
        """How sure the classifier is: that of the classifier of the features."""
        features = self.encode(X)
        decided: Floats = self.classifier_.decision_function(features)
        return decided

    def encode(self, X: Any) -> Floats:
        """The features that the classifier sees, in the order of ``encoding_.features``."""
        check_is_fitted(self, "classifier_")
        return self.encoding_.encode(self._with_gaps(self._table(self._columns(X, reset=False))))

    def explain(self, X: Any, most: int = 3) -> list[Explanation]:
        """Of each row, why it is predicted as it is, in the words and units of the table, if the
        classifier is an ``SGPClassifier``: see ``Model.explain``."""
        features = self.encode(X)
        return explain_table(self.classifier_.model_, self.encoding_, features, most)

    # -- what these need -----------------------------------------------------------------------

    def _importances(self, columns: dict[str, Any], table: Table, y: NDArray[Any]) -> Floats:
        """By column, on so few rows that it takes little of the time of a fit."""
        most = int(np.clip(MOST_PERMUTED // len(columns), 50, 500))
        rows = np.arange(len(y))
        if len(rows) > most:
            rows = np.sort(np.random.default_rng(0).choice(rows, most, replace=False))
        places = self.encoding_.features_of_columns
        groups = {
            name: [place for part in self._parts(name) for place in places.get(part, ())]
            for name in columns
        }
        features = self.encoding_.encode(table.rows(rows))
        asked = _Asked(self.classifier_, self.classes_)
        importances = permutation_importance(asked, features, y[rows], groups, repeats=2)
        worth = {each.column: each.loss for each in importances}
        return np.array([worth[name] for name in columns])

    def _parts(self, name: str) -> list[str]:
        """The columns that a column of X has become."""
        calendar = self._dates.get(name)
        parts = [name] if calendar is None else [f"{name}.{part}" for part in calendar]
        return [each for part in parts for each in (part, f"{part} is missing")]

    def _columns(self, X: Any, reset: bool) -> dict[str, Any]:
        """The columns by name: of a frame its own, of an array x0, x1, ..."""
        if is_dask_collection(X):
            raise InputError(
                "SGPTableClassifier takes frames in memory, found a Dask collection; "
                "TableClassifier.fit(frame, target) leaves rows where they are"
            )
        if hasattr(X, "columns"):
            validate_data(self, X, reset=reset, skip_check_array=True)
            _check_rows(len(X), self, 2 if reset else 1)
            return {str(name): X[name] for name in X.columns}
        X = validate_data(
            self,
            X,
            reset=reset,
            dtype=None,
            ensure_all_finite=False,
            ensure_min_samples=2 if reset else 1,
        )
        names = getattr(self, "feature_names_in_", None)
        names = [f"x{i}" for i in range(X.shape[1])] if names is None else names.tolist()
        return dict(zip(names, X.T, strict=True))

    def _table(self, columns: dict[str, Any]) -> Table:
        """A table in which dates are columns of the calendar."""
        plain: dict[str, Any] = {}
        for name, values in columns.items():
            features = self._dates.get(name)
            if features is None:
                plain[name] = values
                continue
            dates = dates_of(values)
            if dates is None:
                if not all(map(is_missing, values)):
                    raise InputError(f"column {name!r}: wanted dates, as in training")
                dates = np.full(len(values), np.datetime64("NaT", "s"))
            for feature, part in calendar_columns(dates, features).items():
                plain[f"{name}.{feature}"] = part
        return as_table(plain)

    def _with_gaps(self, table: Table) -> Table:
        """The table without columns that were empty, and with a column for each that had gaps."""
        kept = [column for column in table.columns if column.name not in self._empty]
        gaps = [name for name in self._gaps if name not in self._empty]
        missing = (table.column(name).missing.astype(np.float64) for name in gaps)
        flags = [Column(f"{n} is missing", m) for n, m in zip(gaps, missing, strict=True)]
        if not kept:
            raise InputError("wanted a column with values, found none")
        return Table((*kept, *flags), table.source)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        return tags


@attrs.frozen
class _Asked:
    """An estimator as one asks a model."""

    classifier: Any
    classes: NDArray[Any]

    def predict_log_proba(self, X: Any, /) -> Floats:
        logarithms: Floats = np.log(np.maximum(self.classifier.predict_proba(X), 1e-300))
        return logarithms


def _check_rows(rows: int, estimator: object, wanted: int) -> None:
    if rows < wanted:
        raise InputError(
            f"Found array with {rows} sample(s) while a minimum of {wanted} is required by "
            f"{type(estimator).__name__}."
        )
