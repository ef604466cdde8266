"""``SGPClassifier``: the framework as a scikit-learn estimator. It needs the extra ``sklearn``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from numbers import Real
from os import PathLike
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils import check_random_state
    from sklearn.utils.metaestimators import available_if
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise ImportError(
        "SGPClassifier needs scikit-learn 1.6 or newer, which is not installed: "
        "pip install 'sgpc-framework[sklearn]'"
    ) from error

from sgpc_framework.adapters.class_weights import weighted_classes
from sgpc_framework.adapters.kept_rows import KeptRows, Rows, most_kept
from sgpc_framework.config.config import Config
from sgpc_framework.config.presets import DEFAULT_PRESET
from sgpc_framework.design import Design, build
from sgpc_framework.engine.progress import Progress
from sgpc_framework.errors import InputError
from sgpc_framework.model.classes import Classifier
from sgpc_framework.model.costs import Costs
from sgpc_framework.rows.checking import (
    checked_weights,
    is_dask_collection,
    refuse_missing_labels,
)

Floats = NDArray[np.float64]

MOST_PERMUTED = 20_000
"""How many rows are predicted for the importance of all features, unless they are very many."""

NO_ROWS = (
    "partial_fit adds rows to earlier ones, of which none are kept: begin with keep_rows=True, "
    "which keeps all of them, also in pickles, or with a number, which keeps so many of a stream"
)

_SLOTS = ("kernel", "likelihood", "selector", "sites", "objective", "refiner")
_SETTINGS = ("strategy", "max_basis", "sizes", "max_iterations", "tolerance")
_SMALL = 10_000


def _keeps_rows(classifier: SGPClassifier) -> bool:
    """Whether there is ``partial_fit``; scikit-learn asks by ``hasattr``."""
    if not classifier.keep_rows:
        raise AttributeError(NO_ROWS)
    return True


class SGPClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A sparse Gaussian process classifier: few basis vectors, calibrated probabilities.

    Parameters
    ----------
    preset : str, mapping, path or Config, default="accurate"
        The recipe that everything else is a change to: ``"accurate"``, ``"fast"``, ``"paper"``, or
        whatever ``sgpc_framework.build`` takes.
    kernel, likelihood, selector, sites, objective, refiner : str, mapping or instance, default=None
        The parts, each by name, as a mapping with ``name`` and options, or ready made. None: the
        preset's.
    strategy : "joint" or "one-vs-rest", default=None
        More than two classes as one model with a latent function for each, or as a model for each.
        None: the preset's, which is joint.
    max_basis : int or "auto", default=80
        The most basis vectors, with ``"one-vs-rest"`` of each class. ``"auto"``: rows that are held
        out choose.
    sizes : sequence of int, default=None
        Smaller sizes at which the refiner runs too, for ``staged_predict_proba``.
    max_iterations : int, default=None
        The most rounds of the outer loop. None: the preset's.
    tolerance : float, default=None
        The change of the loss at which the outer loop ends. None: the preset's.
    class_weight : "balanced" or mapping from labels to numbers, default=None
        What the rows of each class count, besides their ``sample_weight``; one, for a label that
        the mapping does not have. ``"balanced"``: all classes count the same.
    costs : mapping or square matrix, default=None
        What mistakes cost, by which ``predict`` decides: ``{"yes": 5}`` is the cost of missing a
        row of class yes, ``{("yes", "no"): 5}`` that of saying no where yes is true, and others
        cost 1. A matrix has a row for each true and a column for each predicted class. Nothing else
        depends on it: neither the fit nor the probabilities.
    random_state : int, RandomState or None, default=0
        Where all randomness comes from. Same number, same model; None: another one each time.
    n_jobs : int, default=None
        How many classes are fitted at the same time, with ``"one-vs-rest"``.
    warm_start : bool, default=False
        Let ``fit`` and ``partial_fit`` go on from the model that the last of them has found: from
        its basis vectors and hyperparameters, and from what held-out rows have chosen.
    keep_rows : bool or int, default=False
        Keep the rows of ``fit`` and ``partial_fit``, also in pickles, so that ``partial_fit`` can
        add to them. A number is the most that are kept: of all rows so far each is among them with
        the same probability, so that a stream may go on for ever.
    verbose : int, default=0
        Print a line for every round of the outer loop and every class.

    Attributes
    ----------
    classes_ : array
        The labels, sorted; columns of probabilities follow this order.
    model_ : Model or OneVsRest
        The fitted model; ``OneVsRest`` if there is one for each class.
    n_features_in_ : int
        The number of features.
    feature_importances_ : array
        For each feature, by how many nats the log loss rises when it is permuted, on at most 500 of
        the training rows: quick, and kind to what was fitted to them.
        ``sgpc_framework.metrics.column_importance.permutation_importance(classifier.model_, X, y)``
        has it on rows of your own, with its noise.
    feature_names_in_ : array of str
        The names of the features, if X was a table whose columns all have strings as names.
    """

    model_: Classifier
    feature_importances_: Floats
    classes_: NDArray[Any]
    _kept: KeptRows | None
    _announced: NDArray[Any] | None

    def __init__(
        self,
        preset: str | Mapping[str, Any] | PathLike[str] | Config = DEFAULT_PRESET,
        *,
        kernel: Any = None,
        likelihood: Any = None,
        selector: Any = None,
        sites: Any = None,
        objective: Any = None,
        refiner: Any = None,
        strategy: str | None = None,
        max_basis: int | str | None = 80,
        sizes: Sequence[int] | None = None,
        max_iterations: int | None = None,
        tolerance: float | None = None,
        class_weight: Literal["balanced"] | Mapping[Any, float] | None = None,
        costs: Any = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        warm_start: bool = False,
        keep_rows: bool | int = False,
        verbose: int = 0,
    ) -> None:
        self.preset = preset
        self.kernel = kernel
        self.likelihood = likelihood
        self.selector = selector
        self.sites = sites
        self.objective = objective
        self.refiner = refiner
        self.strategy = strategy
        self.max_basis = max_basis
        self.sizes = sizes
        self.max_iterations = max_iterations
        self.tolerance = tolerance
        self.class_weight = class_weight
        self.costs = costs
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.keep_rows = keep_rows
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        checkpoint: str | PathLike[str] | None = None,
    ) -> Self:
        """Fit the classifier to rows ``X`` and labels ``y``, of two classes or more.

        A row whose ``sample_weight`` is two counts as two rows, one with zero not at all.
        ``checkpoint`` names a file that keeps what happens: if the fit dies, the same call goes on
        from there.
        """
        most = most_kept(self.keep_rows)
        rows = self._check_rows(X, y, sample_weight, reset=True)
        self._fit(rows, checkpoint)
        self._announced = None
        self._kept = KeptRows.after(None, rows, most, self._seed) if self.keep_rows else None
        return self

    @available_if(_keeps_rows)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to those that the classifier has, and fit it to all of them.

        The result is that of ``fit`` with all rows so far, which ``keep_rows=True`` keeps for it;
        with a number as ``keep_rows``, that of ``fit`` with so many of them. ``classes`` may name
        labels that are still to come; they have probability 0 until they do.
        """
        first = getattr(self, "model_", None) is None
        most = most_kept(self.keep_rows)
        rows = self._check_rows(X, y, sample_weight, reset=first)
        if not first and self._kept is None:
            raise ValueError(NO_ROWS)
        kept = KeptRows.after(None if first else self._kept, rows, most, self._seed)
        y = kept.rows.y
        announced = getattr(self, "_announced", None) if classes is None else np.unique(classes)
        if announced is not None and not np.isin(y, announced).all():
            strange = y[~np.isin(y, announced)].tolist()[0]
            raise ValueError(f"y has the label {strange!r}, which classes does not have")
        self._fit(kept.rows)
        self.classes_ = self.classes_ if announced is None else announced
        self._announced = announced
        self._kept = kept
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of each row that is most probable, or by the ``costs`` costs least; a tie goes
        to the first of the classes."""
        predicted: NDArray[Any] = self._model().predict(self._inputs(X))
        return predicted

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of shape (rows, classes): the columns follow ``classes_``."""
        return self._in_columns(self._model().predict_proba(self._inputs(X)), 0.0)

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of the probabilities, which stay finite where a probability rounds to 0."""
        return self._in_columns(self._model().predict_log_proba(self._inputs(X)), -np.inf)

    def decision_function(self, X: Any) -> Floats:
        """How sure the classifier is: of two classes the log odds of the second, one number a row;

        of more the log probability of each, of shape (rows, classes).
        """
        log_proba = self._model().predict_log_proba(self._inputs(X))
        if len(self.classes_) == 2:
            odds: Floats = log_proba[:, 1] - log_proba[:, 0]
            return odds
        return self._in_columns(log_proba, np.log(np.finfo(np.float64).tiny))

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """The probabilities of the model of each size, in the order of ``model_.sizes``."""
        for proba in self._model().staged_predict_proba(self._inputs(X)):
            yield self._in_columns(proba, 0.0)

    # -- what these need -----------------------------------------------------------------------

    def _design(self) -> Design:
        said = {name: getattr(self, name) for name in (*_SLOTS, *_SETTINGS)}
        changes = {name: value for name, value in said.items() if value is not None}
        return build(self.preset, seed=self._seed(), **changes)

    def _seed(self) -> int:
        if isinstance(self.random_state, (int, np.integer)):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _fit(self, rows: Rows, checkpoint: str | PathLike[str] | None = None) -> None:
        start = getattr(self, "model_", None) if self.warm_start else None
        if self.costs is not None:
            Costs.of(np.unique(rows.y), self.costs)  # what is wrong is said before the fit
        fitted = self._design().fit(
            rows.X,
            rows.y,
            sample_weight=weighted_classes(self.class_weight, rows.y, rows.weight),
            progress=_print_progress if self.verbose else _ignore_progress,
            n_jobs=self.n_jobs,
            start=start,
            checkpoint=checkpoint,
        )
        self.model_ = fitted.with_costs(self.costs)
        self.classes_ = self.model_.classes
        self.feature_importances_ = self._importances(rows)

    def _importances(self, rows: Rows) -> Floats:
        """By feature, on so few training rows that it takes little of the time of a fit."""
        from sgpc_framework.metrics.column_importance import permutation_importance

        counted = np.arange(len(rows.y)) if rows.weight is None else np.flatnonzero(rows.weight)
        features = rows.X.shape[1]
        most = int(np.clip(MOST_PERMUTED // features, 50, 500))
        if len(counted) > most:
            rng = np.random.default_rng(0)
            counted = np.sort(rng.choice(counted, most, replace=False))
        places = {str(place): [place] for place in range(features)}
        X, y = rows.X[counted], rows.y[counted]
        columns = permutation_importance(self.model_, X, y, places, repeats=2)
        importances = np.empty(features)
        importances[[int(each.column) for each in columns]] = [each.loss for each in columns]
        return importances

    def _check_rows(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> Rows:
        _refuse_collections(X, y)
        fewest = 2 if reset else 1
        if (labels := np.asarray(y)).dtype.kind == "O" and labels.ndim == 1:
            refuse_missing_labels(labels)  # NA, which validate_data stumbles over
        with _advice_on_tables():
            X, y = validate_data(
                self, X, y, reset=reset, dtype=np.float64, ensure_min_samples=fewest
            )
        check_classification_targets(y)
        if isinstance(sample_weight, Real):  # as in other estimators: the same for all rows
            sample_weight = np.full(len(y), sample_weight, dtype=np.float64)
        return Rows(X, y, checked_weights(sample_weight, len(y)))

    def _model(self) -> Classifier:
        if getattr(self, "model_", None) is None:
            check_is_fitted(self, "model_")
        return self.model_

    def _inputs(self, X: Any) -> Floats:
        if self._is_plain(X):
            return X  # type: ignore[no-any-return]
        _refuse_collections(X)
        with _advice_on_tables():
            inputs: Floats = validate_data(self, X, reset=False, dtype=np.float64)
        return inputs

    def _is_plain(self, X: Any) -> bool:
        """Whether X is a small matrix with which nothing is wrong: what ``validate_data`` finds out
        in five times the time of a prediction."""
        return (
            type(X) is np.ndarray
            and X.dtype == np.float64
            and X.ndim == 2
            and 0 < X.size <= _SMALL
            and X.shape[1] == self.n_features_in_
            and not hasattr(self, "feature_names_in_")
            and bool(np.isfinite(np.vdot(X, X)))
        )

    def _in_columns(self, values: Floats, absent: float) -> Floats:
        """Columns of the model's classes as columns of ``classes_``."""
        if len(self.classes_) == values.shape[1]:
            return values
        columns = np.full((len(values), len(self.classes_)), absent)
        columns[:, np.isin(self.classes_, self.model_.classes)] = values
        return columns


@contextmanager
def _advice_on_tables() -> Iterator[None]:
    """Scikit-learn's word on missing values and on words, with ways that lead on from here."""
    try:
        yield
    except ValueError as error:
        if "could not convert string to float" in str(error):
            raise ValueError(
                f"{error}: SGPClassifier wants numbers. Encode the words, "
                "make_pipeline(OneHotEncoder(sparse_output=False), SGPClassifier()), or take "
                "SGPTableClassifier, which takes words, dates and missing values as they come"
            ) from None
        problem, of_missing, _ = str(error).partition("contains NaN")
        if not of_missing:
            raise
        raise ValueError(
            f"{problem}contains NaN: SGPClassifier wants all numbers to be there. Fill them in, "
            "make_pipeline(SimpleImputer(), SGPClassifier()), or take SGPTableClassifier, which "
            "does so by itself and takes words and dates, too"
        ) from None


def _ignore_progress(_: Progress) -> None:
    pass


def _print_progress(at: Progress) -> None:
    if at.basis == at.max_basis and at.refining is None:
        which = f"model {at.model} of {at.models}, " if at.models > 1 else ""
        loss = f"loss {at.stage.predictive_loss:.4f}"
        print(f"[SGPClassifier] {which}round {at.iteration}: {at.basis} basis vectors, {loss}")


def _refuse_collections(*given: Any) -> None:
    """A pipeline of scikit-learn has rows in arrays; rows on workers have a way of their own."""
    if any(map(is_dask_collection, given)):
        raise InputError(
            "SGPClassifier takes arrays, as other estimators of scikit-learn do, and found a Dask "
            "collection, whose rows it would have to gather here. Fit with sgpc_framework.build("
            "...).fit(X, y), or TableClassifier.fit(frame, target), which leave rows where they are"
        )
