"""``SGPTableClassifier``: raw data frames as scikit-learn has them, with words, gaps and dates."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any, Literal, Self

import attrs
import numpy as np
from numpy.typing import NDArray

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
    from sklearn.utils.metaestimators import available_if
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
from sgpc_framework.rows.checking import is_dask_collection
from sgpc_framework.tables.data_frames import as_table
from sgpc_framework.tables.encoding import MAX_WORDS, Encoding
from sgpc_framework.tables.table import Table
from sgpc_framework.tables.table_classifier import TableClassifier
from sgpc_framework.tables.table_explanations import explain_table

Floats = NDArray[np.float64]


def _has_a_model(self: SGPTableClassifier) -> bool:
    """Whether the classifier is one of ours, whose model can stand by itself."""
    inner = getattr(self, "classifier_", self.classifier)
    return inner is None or isinstance(inner, SGPClassifier)


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
    model_ : TableClassifier
        The same classifier without scikit-learn, if the classifier is an ``SGPClassifier``: what is
        exported and served. ``save(path)`` writes it.
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
        table = self._table(X, reset=True)
        used = table.without([column.name for column in table.columns if column.missing.all()])
        if not used.columns:
            raise InputError("wanted a column with values, found none")
        words = {table.column(name).name for name in self.words}
        self.encoding_ = Encoding.learn(
            used,
            impute=True,
            unseen=self.unseen,
            words=words.intersection(used.names),
            max_words=self.max_words,
        )
        chosen = SGPClassifier() if self.classifier is None else clone(self.classifier)
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        features = self.encoding_.encode(used)
        self.classifier_ = chosen.fit(features, y, **weights)
        self.classes_ = self.classifier_.classes_
        self.target_ = str(getattr(y, "name", None) or "label")
        if hasattr(self.classifier_, "predict_proba"):
            self.feature_importances_ = self._importances(table, features, np.asarray(y).ravel())
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
        return self.encoding_.encode(self._table(X, reset=False))

    @property
    def model_(self) -> TableClassifier:
        """The same classifier without scikit-learn, which can be exported and served."""
        check_is_fitted(self, "classifier_")
        if not _has_a_model(self):
            raise AttributeError(
                "wanted an SGPClassifier, whose model can stand by itself, found "
                f"{type(self.classifier_).__name__}"
            )
        return TableClassifier(self.encoding_, self.target_, self.classifier_.model_)

    @available_if(_has_a_model)  # type: ignore[untyped-decorator]
    def save(self, path: str | PathLike[str]) -> None:
        """Write encoding and model to a file, which ``sgpc_framework.load`` and the command line
        read as a ``TableClassifier``."""
        self.model_.save(path)

    @available_if(_has_a_model)  # type: ignore[untyped-decorator]
    def explain(self, X: Any, most: int = 3) -> list[Explanation]:
        """Of each row, why it is predicted as it is, in the words and units of the table: see
        ``Model.explain``."""
        features = self.encode(X)
        return explain_table(self.classifier_.model_, self.encoding_, features, most)

    # -- what these need -----------------------------------------------------------------------

    def _importances(self, table: Table, features: Floats, y: NDArray[Any]) -> Floats:
        """By column, on so few rows that it takes little of the time of a fit."""
        most = int(np.clip(MOST_PERMUTED // len(table.columns), 50, 500))
        rows = np.arange(len(y))
        if len(rows) > most:
            rows = np.sort(np.random.default_rng(0).choice(rows, most, replace=False))
        places = self.encoding_.features_of_columns
        asked = _Asked(self.classifier_, self.classes_)
        importances = permutation_importance(asked, features[rows], y[rows], places, repeats=2)
        worth = {each.column: each.loss for each in importances}
        return np.array([worth.get(name, 0.0) for name in table.names])

    def _table(self, X: Any, reset: bool) -> Table:
        """The columns by name: of a frame its own, of an array x0, x1, ..."""
        if is_dask_collection(X):
            raise InputError(
                "SGPTableClassifier takes frames in memory, found a Dask collection; "
                "TableClassifier.fit(frame, target) leaves rows where they are"
            )
        if hasattr(X, "columns"):
            validate_data(self, X, reset=reset, skip_check_array=True)
            _check_rows(len(X), self, 2 if reset else 1)
            return as_table(X)
        X = validate_data(
            self,
            X,
            reset=reset,
            dtype=None,
            ensure_all_finite=False,
            ensure_min_samples=2 if reset else 1,
        )
        names = getattr(self, "feature_names_in_", None)
        return as_table(X, [f"x{i}" for i in range(X.shape[1])] if names is None else names)

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
