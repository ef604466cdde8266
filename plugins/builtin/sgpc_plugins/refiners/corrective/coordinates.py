"""The coordinates of a search: those in which the kernel inside sees the rows.

A kernel that maps its inputs (``WarpsInputs``) is searched from inside: rows and basis vectors are
mapped once, and basis vectors move where the inner kernel sees them. Outside, where the rows stand
as they were given, states have the whole kernel again.
"""

from __future__ import annotations

import attrs

from sgpc_framework.authors import State, TrainingRows, WarpsInputs, has


def warp_of(state: State) -> WarpsInputs | None:
    """The kernel of a state, if it maps its inputs."""
    kernel = state.kernel
    return kernel if has(kernel, WarpsInputs) else None


def inside(state: State) -> State:
    """The state as the kernel inside sees it."""
    warp = warp_of(state)
    if warp is None:
        return state
    return attrs.evolve(state, kernel=warp.inner, inputs=warp.warp(state.inputs))


def outside(state: State, warp: WarpsInputs | None) -> State:
    """A state from inside, with its kernel put into the map."""
    if warp is None:
        return state
    return attrs.evolve(state, kernel=warp.around(state.kernel), inputs=warp.unwarp(state.inputs))


def rows_inside(rows: TrainingRows, warp: WarpsInputs | None) -> TrainingRows:
    """The rows as the kernel inside sees them."""
    return rows if warp is None else rows.mapped(warp.warp)
