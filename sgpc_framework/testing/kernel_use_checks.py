"""The laws of how a kernel is used: rows anywhere in memory, many blocks at a time, and files."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from sgpc_framework.parts.abilities import has
from sgpc_framework.protocols import (
    Floats,
    Inputs,
    Kernel,
    KernelColumns,
    KernelPullback,
    StorableInputs,
)
from sgpc_framework.testing.code_run import code_run_by
from sgpc_framework.testing.memory_use import require_linear_memory
from sgpc_framework.testing.samples import is_matrix, ready, samples_for, started
from sgpc_framework.testing.several_threads import require_same_from_threads
from sgpc_framework.testing.verdict import ROUNDING, Laws, require, require_close, scale_of
from sgpc_framework.testing.whole_fits import training_set


def same_values_however_the_rows_lie_in_memory(kernel: Kernel) -> None:
    """Rows have their values in C order, in Fortran order, and where they are every other row of a
    larger array."""
    kernel = ready(kernel)
    for sample in samples_for(kernel):
        X, Z = sample.rest, sample.some
        if not is_matrix(X):
            continue
        wanted, diagonal = np.array(kernel(X, Z)), np.array(kernel.diag(X))
        for where, lay in LAYOUTS.items():
            K = kernel(lay(X), lay(Z))
            require_close(K, wanted, ROUNDING * scale_of(wanted), "k(X, Z)", where)
            found = kernel.diag(lay(X))
            require_close(found, diagonal, ROUNDING * scale_of(diagonal), "diag(X)", where)


def columns_of_two_blocks_side_by_side(kernel: KernelColumns) -> None:
    """columns_of is called for every block before any of the functions that it returned is: each
    gives the columns of its own block."""
    made: Any = ready(kernel)  # type: ignore[arg-type]
    for sample in samples_for(kernel):
        X, Z = sample.X, sample.some
        blocks = [X[np.arange(0, 9)], X[np.arange(9, 18)]]
        for block, columns in zip(blocks, [made.columns_of(each) for each in blocks], strict=True):
            wanted = np.array(made(Z, block))
            rounding = ROUNDING * scale_of(wanted)
            where = f"two blocks prepared, {sample.title}"
            require_close(columns(Z), wanted, rounding, "columns_of(X)(Z)", where)


def pullbacks_of_two_blocks_side_by_side(kernel: KernelPullback) -> None:
    """A pullback goes on belonging to its own block when linearised has been called for another,
    and leaves the cotangent that it is given as it was."""
    made: Any = ready(kernel)  # type: ignore[arg-type]
    for sample in samples_for(kernel):
        X, Z = sample.X, sample.some
        blocks = [X[np.arange(0, 9)], X[np.arange(9, 18)]]
        G = np.random.default_rng(11).standard_normal((9, len(Z)))
        alone = [made.linearised(block, Z)[1](G.copy()) for block in blocks]
        pullbacks = [made.linearised(block, Z)[1] for block in blocks]
        for pullback, wanted in zip(pullbacks, alone, strict=True):
            given = G.copy()
            found = pullback(given)
            require(np.array_equal(given, G), f"the cotangent was changed ({sample.title})")
            where = f"two blocks linearised, {sample.title}"
            require_close(found, wanted, ROUNDING * scale_of(wanted), "pullback", where)


def decoding_runs_no_code(kernel: StorableInputs) -> None:
    """decode_inputs, which reads files of anybody, neither evaluates text nor unpickles."""
    for sample in samples_for(kernel):
        data = kernel.encode_inputs(sample.X)
        kernel.decode_inputs(data)  # what has to be imported is, now
        ran = code_run_by(partial(kernel.decode_inputs, data))
        require(not ran, f"{' and '.join(ran)} while inputs were decoded ({sample.title})")


def same_values_from_several_threads(kernel: Kernel) -> None:
    """Blocks of rows have their values when several threads ask for them at once.

    So nothing is computed in an array that all calls share.
    """
    X = training_set(kernel, rows=4000 if _takes_vectors(kernel) else 80).X
    kernel, Z = started(kernel, X[np.arange(80)]), X[np.arange(len(X) // 80)]

    def asked(rows: Inputs) -> Floats:
        return np.column_stack([kernel(rows, Z), kernel.diag(rows)])

    pieces = [X[some] for some in np.array_split(np.arange(len(X)), 8)]
    require_same_from_threads(asked, pieces, "k(X, Z) and diag(X)")


def memory_for_the_rows_and_not_for_their_square(kernel: Kernel) -> None:
    """k(X, Z) of a few Z, and diag(X), take memory in proportion to the rows of X: a fit may have
    millions."""
    X = training_set(kernel, rows=1600).X
    kernel, Z = started(kernel, X[np.arange(80)]), X[np.arange(5)]

    def values(rows: int) -> None:
        kernel(X[np.arange(rows)], Z)
        kernel(Z, X[np.arange(rows)])

    require_linear_memory(values, "k(X, Z)")
    require_linear_memory(lambda rows: kernel.diag(X[np.arange(rows)]), "diag(X)")


LAWS: Laws = {
    Kernel: (same_values_however_the_rows_lie_in_memory,),
    KernelColumns: (columns_of_two_blocks_side_by_side,),
    KernelPullback: (pullbacks_of_two_blocks_side_by_side,),
    StorableInputs: (decoding_runs_no_code,),
}
THOROUGH: Laws = {
    Kernel: (
        same_values_from_several_threads,
        memory_for_the_rows_and_not_for_their_square,
    ),
}


def _spread(X: Floats) -> Floats:
    """The same rows as every other one of a larger array, turned."""
    larger = np.full((2 * len(X), X.shape[1] + 1), np.nan)
    larger[::-2, :-1] = X
    return larger[::-2, :-1]


LAYOUTS: dict[str, Callable[[Floats], Floats]] = {
    "Fortran order": np.asfortranarray,
    "every other row": _spread,
}


def _takes_vectors(kernel: Kernel) -> bool:
    return has(kernel, Kernel) and is_matrix(training_set(kernel, rows=2).X)
