"""Classifiers with scikit-learn's interface, most of them as they come, on one thread."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
from fitted import Fitted

MOST_ROWS_OF_GP = 2000


def gp(X: np.ndarray, y: np.ndarray, *, seed: int = 0) -> Iterator[Fitted]:
    """scikit-learn's GP classifier: Laplace's approximation with all rows, n³ operations."""
    from sklearn.gaussian_process import GaussianProcessClassifier
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel
    from variational import median_distance

    if len(X) > MOST_ROWS_OF_GP:
        sys.exit(f"gp does not fit: {len(X)} rows, and it is given at most {MOST_ROWS_OF_GP}")
    lengthscale = median_distance(X, np.random.default_rng(seed))
    kernel = ConstantKernel(1.0) * RBF(lengthscale)
    yield fitted(GaussianProcessClassifier(kernel, random_state=seed).fit(X, y))


def svm(X: np.ndarray, y: np.ndarray, *, seed: int = 0) -> Iterator[Fitted]:
    """A support vector machine, C and gamma by cross-validation, then Platt's probabilities."""
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.model_selection import GridSearchCV, StratifiedKFold
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    folds = StratifiedKFold(3, shuffle=True, random_state=seed)
    widths = np.array([0.1, 0.3, 1.0, 3.0]) / X.shape[1]
    grid = {"svc__C": [0.1, 1.0, 10.0, 100.0], "svc__gamma": widths}
    search = GridSearchCV(make_pipeline(StandardScaler(), SVC()), grid, cv=folds).fit(X, y)
    best = search.best_estimator_
    yield fitted(CalibratedClassifierCV(best, cv=folds, ensemble=False).fit(X, y))


def boosting(X: np.ndarray, y: np.ndarray, *, seed: int = 0) -> Iterator[Fitted]:
    """scikit-learn's histogram gradient boosting, defaults with early stopping."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(early_stopping=True, random_state=seed)
    yield fitted(model.fit(X, y))


def catboost(X: np.ndarray, y: np.ndarray, *, seed: int = 0) -> Iterator[Fitted]:
    """CatBoost's defaults: 1000 trees and a rate that it chooses by the number of rows."""
    from catboost import CatBoostClassifier

    model = CatBoostClassifier(
        thread_count=1, random_seed=seed, verbose=False, allow_writing_files=False
    )
    yield fitted(model.fit(X, y))


def lightgbm(X: np.ndarray, y: np.ndarray, *, seed: int = 0) -> Iterator[Fitted]:
    """LightGBM's defaults: 100 trees of 31 leaves at a rate of 0.1."""
    from lightgbm import LGBMClassifier

    yield fitted(LGBMClassifier(n_jobs=1, random_state=seed, verbosity=-1).fit(X, y))


def logistic(X: np.ndarray, y: np.ndarray, *, seed: int = 0) -> Iterator[Fitted]:
    """Multinomial logistic regression of standardised features, its penalty by cross-validation."""
    from sklearn.linear_model import LogisticRegressionCV
    from sklearn.model_selection import StratifiedKFold
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    folds = StratifiedKFold(3, shuffle=True, random_state=seed)
    regression = LogisticRegressionCV(cv=folds, scoring="neg_log_loss", max_iter=1000)
    yield fitted(make_pipeline(StandardScaler(), regression).fit(X, y))


def fitted(model: object) -> Fitted:
    """A classifier; its labels are 0, 1, ..., so that its columns are in their order."""
    return Fitted(model.predict_proba, model)
