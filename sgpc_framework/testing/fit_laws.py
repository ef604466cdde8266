"""Laws of whole fits, whatever the parts they are composed of. Each docstring is the law.

They take what ``strategies.fits`` draws: a training set, and a design to be fitted to it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from sgpc_framework.design import Design, build
from sgpc_framework.engine.fit import fit
from sgpc_framework.engine.log import replay
from sgpc_framework.errors import CheckpointWarning, InputError
from sgpc_framework.files.model_files import load
from sgpc_framework.model.model import Model
from sgpc_framework.parts.hyperparameters import values
from sgpc_framework.protocols import Floats
from sgpc_framework.rows.state import State
from sgpc_framework.rows.training_rows import TrainingRows
from sgpc_framework.testing.samples import is_matrix

if TYPE_CHECKING:  # they need Hypothesis, which the laws do not
    from sgpc_framework.testing.strategies import FitToMake


def gives_probabilities(made: FitToMake) -> None:
    """Any composition of parts predicts numbers from 0 to 1 that add up to 1, from finite means,
    variances of at least zero and sites of positive precision."""
    model = _model(made)
    proba = model.predict_proba(made.problem.X)
    mean, variance = model.predict_latent(made.problem.X)
    assert np.all(np.isfinite(proba))
    assert np.all((proba >= 0.0) & (proba <= 1.0))
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=0, atol=1e-12)
    assert np.all(np.isfinite(mean))
    assert np.all(variance >= 0.0)
    assert np.all(model.sites.precision > 0.0)


def training_error_never_exceeds_its_bound(made: FitToMake) -> None:
    """At every stage, training error <= NLP_a / log 2."""
    for iteration in _model(made).trace.iterations:
        for stage in iteration.stages:
            assert stage.training_error <= stage.error_bound * (1 + 1e-12)


def truncated_equals_a_fit_stopped_there(made: FitToMake, stages: int) -> None:
    """``truncated(t)`` is the model of a fit with ``max_basis = t``, and so is stage t of
    ``staged_predict_proba``; without step 6, whose later rounds know the later stages."""
    X, model = made.problem.X, _model(made)
    if not len(model):
        return
    stages = min(stages, len(model))
    shorter = build(made.design.config, max_basis=stages).fit(X, made.problem.y)
    assert isinstance(shorter, Model)
    small = model.truncated(stages)
    np.testing.assert_array_equal(small.basis, shorter.basis)
    np.testing.assert_allclose(small.sites.precision, shorter.sites.precision, rtol=1e-12)
    ours, theirs = small.predict_proba(X), shorter.predict_proba(X)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9)
    staged = list(model.staged_predict_proba(X))
    np.testing.assert_allclose(staged[stages - 1], theirs, rtol=0, atol=1e-9)


def the_additive_view_is_the_model(made: FitToMake) -> None:
    """Basis functions times coefficients are the mean, and their squares times shrinkages are what
    the variance lost (eqs. 8 and 9)."""
    X, model = made.problem.X, _model(made)
    mean, variance = model.predict_latent(X)
    functions = model.basis_functions(X)
    prior = model.kernel.diag(X)
    scale = 1.0 + np.abs(mean).max()
    np.testing.assert_allclose(functions @ model.sites.coefficient, mean, atol=1e-10 * scale)
    explained = functions**2 @ model.sites.shrinkage
    np.testing.assert_allclose(prior - explained, variance, atol=1e-8 * prior.max() + 1e-300)


def same_seed_same_bits(made: FitToMake) -> None:
    """Two fits of one design to one training set are equal to the bit, on any number of threads."""
    models = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"):
            models.append(_model(made))
    require_same_bits(*(model.state for model in models))
    ours, theirs = (model.predict_proba(made.problem.X) for model in models)
    np.testing.assert_array_equal(ours, theirs)


def replaying_the_log_makes_the_same_states(made: FitToMake) -> None:
    """The log and the rows are enough to make the states of a fit again, to the bit, with the same
    blocks, without choosing anything."""
    config = made.design.config
    rows = TrainingRows.of(made.problem.X, made.problem.y, config.block_rows)
    end = fit(config, rows, lambda _: None)
    again = replay(end.log, rows, config.storage)
    assert len(again) == len(end.states)
    for ours, theirs in zip(again, end.states, strict=True):
        require_same_bits(ours, theirs)


def a_fit_that_was_killed_is_resumed_to_the_same_bits(made: FitToMake, share: float) -> None:
    """Of a log that was cut anywhere, as a kill at any moment leaves it, the same model file comes
    as without a log."""
    X, y, design = made.problem.X, made.problem.y, made.design
    with TemporaryDirectory() as folder:
        log, unbroken, resumed = (Path(folder) / name for name in ("log", "unbroken", "resumed"))
        design.fit(X, y).save(unbroken)
        design.fit(X, y, checkpoint=log)
        written = log.read_bytes()
        log.write_bytes(written[: round(share * len(written))])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CheckpointWarning)  # of a record that was not finished
            design.fit(X, y, checkpoint=log).save(resumed)
        assert resumed.read_bytes() == unbroken.read_bytes()


def blocks_hardly_matter(made: FitToMake, block_rows: int = 3) -> None:
    """Rows in several blocks make the model of the same rows in one, up to rounding: if the
    selector draws nothing, because draws depend on the blocks, and no rows tie, because rounding
    breaks a tie in one way or another."""
    X, model = made.problem.X, _model(made)
    blocked = build(made.design.config, block_rows=block_rows).fit(X, made.problem.y)
    np.testing.assert_allclose(blocked.predict_proba(X), model.predict_proba(X), atol=1e-6)


def relabelling_changes_nothing(design: Design, X: Floats, y: Floats) -> None:
    """With the classes in the other order, the same basis, and the columns of probabilities in the
    other order."""
    other = np.where(y > 0, "a", "b")
    _require_equivalent(design, X, y, X, other, lambda proba: proba[:, ::-1], 1e-12)


def permuting_features_changes_nothing(
    design: Design, X: Floats, y: Floats, order: NDArray[np.intp]
) -> None:
    """With the features in another order, the same basis and the same probabilities."""
    _require_equivalent(design, X, y, X[:, order], y, lambda proba: proba, 1e-10)


def shifting_inputs_changes_nothing(design: Design, X: Floats, y: Floats, by: float) -> None:
    """With a stationary kernel and all inputs shifted, the same basis and the same probabilities.

    A shift by 1000 costs three of the sixteen digits of every difference.
    """
    _require_equivalent(design, X, y, X + by, y, lambda proba: proba, 1e-9)


def rescaling_features_changes_nothing(
    design: Design, X: Floats, y: Floats, powers: NDArray[np.intp]
) -> None:
    """With a lengthscale for each feature that starts from the data, and every feature in another
    unit, 2^power of the old: the same basis and the same probabilities."""
    _require_equivalent(design, X, y, X * 2.0**powers, y, lambda proba: proba, 1e-10)


def sizes_ascend_and_each_can_be_had(made: FitToMake) -> None:
    """``sizes`` ascends and ends with the whole; each of them, and no other, can be had, and is
    what ``staged_predict_proba`` says in the same order."""
    X, model = made.problem.X, _model(made)
    assert list(model.sizes) == sorted(set(model.sizes))
    assert model.sizes[-1:] == ((len(model),) if len(model) else ())
    staged = list(model.staged_predict_proba(X))
    assert len(staged) == len(model.sizes)
    for size, proba in zip(model.sizes, staged, strict=True):
        small = model.truncated(size)
        assert len(small) == size
        if model.smaller is None:  # a refiner may have left others out
            np.testing.assert_array_equal(small.basis, model.basis[:size])
        np.testing.assert_allclose(small.predict_proba(X), proba, rtol=0, atol=1e-9)
    for other in {*range(-1, len(model) + 2)} - {*model.sizes}:
        try:
            model.truncated(other)
        except InputError:
            continue
        raise AssertionError(f"size {other} could be had, which is not among {model.sizes}")


def a_refined_size_is_a_fit_refined_at_that_size(made: FitToMake) -> None:
    """The stages are the same, and the refiner starts from them with the same generator. It may end
    at another size than it began with; of several that end at one, the largest start counts."""
    X, model, config = made.problem.X, _model(made), made.design.config
    if model.smaller is None:
        return
    alone = {}
    for size in (*config.sizes, config.max_basis):
        fitted = build(config, max_basis=size, sizes=[]).fit(X, made.problem.y)
        alone[len(fitted)] = fitted
    assert set(model.sizes) <= set(alone)
    for size in model.sizes:
        ours, theirs = model.truncated(size).predict_proba(X), alone[size].predict_proba(X)
        np.testing.assert_array_equal(ours, theirs)


def a_file_keeps_every_size_to_the_bit(made: FitToMake) -> None:
    """A model that was saved and loaded has the same sizes, and predicts the same at each."""
    X, model = made.problem.X, _model(made)
    with TemporaryDirectory() as folder:
        model.save(Path(folder) / "m")
        loaded = load(Path(folder) / "m")
    assert isinstance(loaded, Model)
    assert loaded.sizes == model.sizes
    assert loaded.trace.sizes == model.trace.sizes
    pairs = zip(loaded.staged_predict_proba(X), model.staged_predict_proba(X), strict=True)
    for ours, theirs in pairs:
        np.testing.assert_array_equal(ours, theirs)


def require_same_bits(ours: State, theirs: State) -> None:
    """Two states are the same in all they consist of."""
    np.testing.assert_array_equal(ours.basis, theirs.basis)
    np.testing.assert_array_equal(ours.precision, theirs.precision)
    np.testing.assert_array_equal(ours.mean, theirs.mean)
    np.testing.assert_array_equal(values(ours), values(theirs))
    if is_matrix(theirs.inputs):
        np.testing.assert_array_equal(ours.inputs, theirs.inputs)
    assert ours.kernel == theirs.kernel
    assert ours.likelihood == theirs.likelihood


def _model(made: FitToMake) -> Model:
    model = made.design.fit(made.problem.X, made.problem.y)
    assert isinstance(model, Model)
    return model


def _require_equivalent(
    design: Design,
    X: Floats,
    y: Floats,
    other_X: Floats,
    other_y: NDArray[Any],
    same: Callable[[Floats], Floats],
    tolerance: float,
) -> None:
    model, other = design.fit(X, y), design.fit(other_X, other_y)
    assert isinstance(model, Model)
    assert isinstance(other, Model)
    np.testing.assert_array_equal(other.basis, model.basis)
    proba = same(model.predict_proba(X))
    np.testing.assert_allclose(other.predict_proba(other_X), proba, atol=tolerance)
