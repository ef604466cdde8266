"""``SGPTableClassifier``: raw data frames as scikit-learn has them, with words, gaps and dates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

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

from sgpc_framework.adapters.sklearn import SGPClassifier
from sgpc_framework.errors import InputError
from sgpc_framework.rows.checking import is_dask_collection, is_missing
from sgpc_framework.tables.data_frames import as_table
from sgpc_framework.tables.dates import calendar_columns, dates_of, telling
from sgpc_framework.tables.encoding import MAX_WORDS, Encoding
from sgpc_framework.tables.table import Column, Table

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
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable label of each row."""
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

    # -- what these need -----------------------------------------------------------------------

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


def _check_rows(found: int, estimator: object, wanted: int) -> None:
    if found < wanted:
        raise InputError(
            f"Found array with {found} sample(s) while a minimum of {wanted} is required by "
            f"{type(estimator).__name__}."
        )
