"""The laws of a kernel's values. Each docstring is what a failing check says was wanted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import copy, deepcopy
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgpc_framework.errors import InputError
from sgpc_framework.parts.abilities import has
from sgpc_framework.parts.expressions import evaluate
from sgpc_framework.parts.hyperparameters import values
from sgpc_framework.protocols import (
    FeatureRelevance,
    Floats,
    Inputs,
    Kernel,
    KernelColumns,
    KernelExpression,
    KernelFusedPullback,
    KernelInputPullback,
    KernelPullback,
    SampleInputs,
    StorableInputs,
)
from sgpc_framework.rows.checking import checked_inputs
from sgpc_framework.testing.differences import variations
from sgpc_framework.testing.randomness import repeated
from sgpc_framework.testing.samples import (
    Sample,
    is_matrix,
    is_unlocked,
    locked,
    ready,
    samples_for,
)
from sgpc_framework.testing.verdict import (
    ROUNDING,
    Laws,
    require,
    require_close,
    require_equal,
    require_finite,
    scale_of,
)


def finite_float64_of_the_right_shape(kernel: Kernel) -> None:
    """k(X, Z) is a finite float64 array of shape (len(X), len(Z)), diag(X) one of (len(X),)."""
    for varied, sample in _cases(kernel):
        _require_proper(varied, sample.rest, sample.some, sample.title)


def symmetric(kernel: Kernel) -> None:
    """k(X, Z) is the transpose of k(Z, X)."""
    for varied, sample in _cases(kernel):
        X, Z = sample.rest, sample.some
        K = _values(varied, X, Z)
        require_close(_values(varied, Z, X).T, K, _rounding(K), "k(Z, X)ᵀ", sample.title)
        K = _values(varied, X, X)
        require_close(K.T, K, _rounding(K), "k(X, X)ᵀ", sample.title)


def positive_semidefinite(kernel: Kernel) -> None:
    """No eigenvalue of k(X, X) is negative by more than rounding."""
    for varied, sample in _cases(kernel):
        K = _values(varied, sample.X, sample.X)
        if not np.all(np.isfinite(K)) or K.shape != (len(sample.X), len(sample.X)):
            continue  # which another check reports
        eigenvalues = np.linalg.eigvalsh((K + K.T) / 2.0)
        require(
            eigenvalues[0] >= -ROUNDING * scale_of(K),
            f"an eigenvalue {eigenvalues[0]:.6g}, where the largest is {eigenvalues[-1]:.6g} "
            f"({sample.title}; {_shown(varied)})",
        )


def diagonal_agrees(kernel: Kernel) -> None:
    """diag(X) is the diagonal of k(X, X)."""
    for varied, sample in _cases(kernel):
        K = _values(varied, sample.X, sample.X)
        diagonal = varied.diag(sample.X)
        require_close(diagonal, np.diagonal(K), _rounding(K), "diag(X)", sample.title)


def same_values_whatever_the_block(kernel: Kernel) -> None:
    """A row's values do not depend on the rows that come with it: k(X, Z)[i] is k(X[i], Z)."""
    for varied, sample in _cases(kernel):
        X, Z = sample.rest, sample.some
        K, diagonal = _values(varied, X, Z), np.asarray(varied.diag(X))
        for i in (0, len(X) - 1):
            one = X[np.array([i])]
            where = f"row {i} alone, {sample.title}"
            require_close(_values(varied, one, Z)[0], K[i], _rounding(K), "k(X[i], Z)", where)
            require_close(varied.diag(one)[0], diagonal[i], _rounding(K), "diag(X[i])", where)
        for j in (0, len(Z) - 1):
            alone = _values(varied, X, Z[np.array([j])])[:, 0]
            where = f"column {j} alone, {sample.title}"
            require_close(alone, K[:, j], _rounding(K), "k(X, Z[j])", where)


def same_values_for_a_copy(kernel: Kernel) -> None:
    """k(X, X) is k(X, Z) for a copy Z of X: equal rows are equal whoever holds them.

    So what belongs on the diagonal alone, such as noise, belongs into no kernel.
    """
    for varied, sample in _cases(kernel):
        K = _values(varied, sample.X, sample.X)
        copied = _values(varied, sample.X, sample.X[np.arange(len(sample.X))])
        require_close(copied, K, _rounding(K), "k(X, copy of X)", sample.title)


def prepared_columns_agree(kernel: KernelColumns) -> None:
    """The function that columns_of(X) returns gives k(Z, X), for one row of Z and for several."""
    for varied, sample in _cases(kernel):  # type: ignore[arg-type]
        assert has(varied, KernelColumns)
        X, Z = sample.rest, sample.some
        columns, K = varied.columns_of(X), _values(varied, Z, X)
        require_close(columns(Z), K, _rounding(K), "columns_of(X)(Z)", sample.title)
        one = columns(Z[np.arange(1)])
        require_close(one, K[:1], _rounding(K), "columns_of(X)(Z[:1])", sample.title)


def works_on_one_row_and_on_none(kernel: Kernel) -> None:
    """One row and no row are valid inputs, on either side: shapes follow the numbers of rows."""
    kernel, X = ready(kernel), samples_for(kernel)[0].X
    one, none = X[np.arange(1)], X[np.arange(0)]
    for left, right in [(one, one), (one, X), (X, one), (none, X), (X, none), (none, none)]:
        where = f"{len(left)} rows against {len(right)}"
        _require_proper(kernel, left, right, where)
        if has(kernel, KernelPullback):
            _require_gradients_of_few(kernel, left, right, where)


def leaves_its_inputs_alone(kernel: Kernel) -> None:
    """No call changes X, Z or the hyperparameters, or makes an array writable that was not."""
    kernel = ready(kernel)
    before = values(kernel)
    for sample in samples_for(kernel):
        for lock in (copy, locked):
            X, Z = lock(sample.rest), lock(sample.some)
            dict(_answers(kernel, X, Z))
            require(_same(X, sample.rest), f"X was changed ({sample.title})")
            require(_same(Z, sample.some), f"Z was changed ({sample.title})")
            opened = lock is locked and (is_unlocked(X) or is_unlocked(Z))
            require(not opened, f"an input was made writable ({sample.title})")
    require(np.array_equal(values(kernel), before), "the hyperparameters were changed")


def a_second_call_leaves_the_first_result_alone(kernel: Kernel) -> None:
    """An array that a call returned stays as it is while the kernel is asked for more.

    So it is not a buffer that the next call fills anew.
    """
    kernel = ready(kernel)
    for sample in samples_for(kernel):
        X, Z = sample.rest, sample.some
        first = dict(_answers(kernel, X, Z))
        kept = {call: np.array(array) for call, array in first.items()}
        for other in (X[np.arange(len(X))[::-1]], Z, sample.X):
            dict(_answers(kernel, other, Z))
            dict(_answers(kernel, Z, other))
        for call, array in first.items():
            require_equal(array, kept[call], f"{call} after other calls", sample.title)


def deterministic(kernel: Kernel) -> None:
    """The same call gives the same bits, whatever was asked before."""
    kernel = ready(kernel)
    new = deepcopy(kernel)
    for sample in samples_for(kernel):
        X, Z = sample.rest, sample.some
        K, again = repeated(partial(_values, kernel, X, Z))
        require_equal(K, again, "k(X, Z)", sample.title)
        require_equal(K, deepcopy(new)(X, Z), "k(X, Z), asked last and first", sample.title)
        diagonal, again = repeated(partial(kernel.diag, X))
        require_equal(diagonal, again, "diag(X)", sample.title)


def sample_inputs_are_as_many_as_asked_for(kernel: SampleInputs) -> None:
    """sample_inputs(rows, rng) returns so many rows, that can be indexed by row numbers."""
    for rows in (1, 7):
        inputs = checked_inputs(kernel.sample_inputs(rows, np.random.default_rng(rows)))
        require(len(inputs) == rows, f"{len(inputs)} rows where {rows} were asked for")


def stored_inputs_come_back(kernel: StorableInputs) -> None:
    """The kernel cannot tell decode_inputs(encode_inputs(X)) from X, and the code is plain data."""
    ready_made: Any = ready(kernel)  # type: ignore[arg-type]
    for sample in samples_for(kernel):
        data = kernel.encode_inputs(sample.X)
        if not isinstance(data, np.ndarray):
            data = json.loads(json.dumps(data, allow_nan=False))
        again = checked_inputs(kernel.decode_inputs(data))
        require(len(again) == len(sample.X), f"{len(again)} of {len(sample.X)} rows")
        K = _values(ready_made, sample.X, sample.X)
        require_equal(_values(ready_made, again, sample.X), K, "k(decoded, X)", sample.title)


def relevances_are_one_for_each_feature(kernel: FeatureRelevance) -> None:
    """relevances() is ``None``, or a finite number above zero for each feature of the inputs."""
    for sample in samples_for(kernel):
        relevances = kernel.relevances()
        if relevances is None or not is_matrix(sample.X):
            continue
        shape = (sample.X.shape[1],)
        require(np.shape(relevances) == shape, f"shape {np.shape(relevances)}, not {shape}")
        require_finite(relevances, "relevance", sample.title)
        require(np.all(relevances > 0.0), f"a relevance of {np.min(relevances):g}")


def relevances_are_in_order(kernel: FeatureRelevance) -> None:
    """Where relevances() differ much, a step along the most relevant feature changes the kernel
    more than the same step along the least relevant one."""
    X = samples_for(kernel)[0].X
    for varied in variations(ready(kernel)) if is_matrix(X) else ():  # type: ignore[arg-type]
        relevances = varied.relevances() if has(varied, FeatureRelevance) else None
        if relevances is None or np.max(relevances) < 2.0 * np.min(relevances):
            continue
        most, least = int(np.argmax(relevances)), int(np.argmin(relevances))
        changes = [_change_along(varied, X, feature) for feature in (most, least)]
        require(
            changes[0] >= changes[1],
            f"{changes[0]:.3g} along feature {most}, of relevance {relevances[most]:.3g}, and "
            f"{changes[1]:.3g} along {least}, of {relevances[least]:.3g} ({_shown(varied)})",
        )


def _change_along(kernel: Kernel, X: Inputs, feature: int) -> float:
    """By how much k(x + step, x) differs from k(x, x)."""
    moved = X.copy()
    moved[:, feature] += STEP
    return float(np.abs(np.diagonal(_values(kernel, moved, X)) - kernel.diag(X)).mean())


def expression_agrees(kernel: KernelExpression) -> None:
    """The formula that expression() returns gives k(X, Z)."""
    for varied, sample in _cases(kernel):  # type: ignore[arg-type]
        assert has(varied, KernelExpression)
        try:
            expression = varied.expression()
        except InputError:  # one of its parts has none
            return
        if is_matrix(sample.X):
            X, Z = (np.asarray(rows, np.float64) for rows in (sample.rest, sample.some))
            K = _values(varied, X, Z)
            found = evaluate(expression, X, Z)
            require_close(found, K, _rounding(K), "expression()", sample.title)


STEP = 0.05

LAWS: Laws = {
    KernelExpression: (expression_agrees,),
    FeatureRelevance: (relevances_are_one_for_each_feature, relevances_are_in_order),
    StorableInputs: (stored_inputs_come_back,),
    SampleInputs: (sample_inputs_are_as_many_as_asked_for,),
    KernelColumns: (prepared_columns_agree,),
    Kernel: (
        finite_float64_of_the_right_shape,
        symmetric,
        positive_semidefinite,
        diagonal_agrees,
        same_values_whatever_the_block,
        same_values_for_a_copy,
        works_on_one_row_and_on_none,
        leaves_its_inputs_alone,
        a_second_call_leaves_the_first_result_alone,
        deterministic,
    ),
}


def _answers(kernel: Kernel, X: Inputs, Z: Inputs) -> Iterator[tuple[str, Any]]:
    """Every array that a kernel may be asked for, by the call."""
    yield "k(X, Z)", kernel(X, Z)
    yield "diag(X)", kernel.diag(X)
    ones = np.ones((len(X), len(Z)))
    if has(kernel, KernelColumns):
        columns = kernel.columns_of(X)
        yield "columns_of(X)(Z)", columns(Z)
        columns(Z[np.arange(len(Z))[::-1]])
    if has(kernel, KernelPullback):
        K, pullback = kernel.linearised(X, Z)
        yield "K of linearised", K
        yield "the pullback of linearised", pullback(ones)
        diagonal, pullback = kernel.linearised_diag(X)
        yield "the diagonal of linearised_diag", diagonal
        yield "the pullback of linearised_diag", pullback(ones[:, 0])
    if has(kernel, KernelInputPullback) and is_matrix(X):
        try:
            yield "input_pullback", kernel.input_pullback(X, Z, ones)
        except InputError:  # one of its parts cannot be differentiated
            return
        if has(kernel, KernelFusedPullback):
            K, pullbacks = kernel.linearised_in_inputs(X, Z)
            yield "K of linearised_in_inputs", K
            yield (
                "the pullbacks of linearised_in_inputs",
                np.concatenate([np.ravel(each) for each in pullbacks(ones)]),
            )


def _cases(kernel: Kernel) -> Iterator[tuple[Kernel, Sample]]:
    for varied in variations(ready(kernel)):
        for sample in samples_for(kernel):
            yield varied, sample


def _values(kernel: Kernel, X: Inputs, Z: Inputs) -> Floats:
    return np.array(kernel(X, Z), dtype=np.float64)


def _rounding(K: Floats) -> float:
    return ROUNDING * scale_of(K)


def _require_proper(kernel: Kernel, X: Inputs, Z: Inputs, where: str) -> None:
    _require_array(kernel(X, Z), (len(X), len(Z)), "k(X, Z)", where)
    _require_array(kernel.diag(X), (len(X),), "diag(X)", where)


def _require_array(array: Any, shape: tuple[int, ...], what: str, where: str) -> None:
    require(
        type(array) is np.ndarray and array.dtype == np.float64,
        f"{what} is {_type(array)} where a float64 array is wanted ({where})",
    )
    require(array.shape == shape, f"{what} of shape {array.shape}, not {shape} ({where})")
    require_finite(array, what, where)


def _require_gradients_of_few(kernel: Kernel, X: Inputs, Z: Inputs, where: str) -> None:
    assert has(kernel, KernelPullback)
    wanted = (len(values(kernel)),)
    for what, (value, pullback) in {
        "linearised": kernel.linearised(X, Z),
        "linearised_diag": kernel.linearised_diag(X),
    }.items():
        gradient = pullback(np.ones_like(value))
        require(
            np.shape(gradient) == wanted,
            f"{what}: a gradient of shape {np.shape(gradient)}, not {wanted} ({where})",
        )
        require_finite(gradient, f"{what}: gradient", where)


def _same(now: Any, before: Any) -> bool:
    return np.array_equal(np.asarray(now), np.asarray(before))


def _type(returned: Any) -> str:
    if type(returned) is np.ndarray:
        array: NDArray[Any] = returned
        return f"an array of {array.dtype}"
    return f"of type {type(returned).__name__}"


def _shown(kernel: Kernel) -> str:
    return f"hyperparameters {np.round(values(kernel), 4).tolist()}"
