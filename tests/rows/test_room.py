"""Large arrays in files: the same numbers, and more rows than memory."""

from __future__ import annotations

import numpy as np

import sgpc_framework as sgpc
from sgpc_framework.rows import room
from sgpc_framework.rows.checking import checked_inputs


def test_arrays_in_files_do_not_overlap(monkeypatch):
    monkeypatch.setattr(room, "FILE_BYTES", 4096)
    monkeypatch.setattr(room, "_FILES", room._Files())
    arrays = [room.allocate((n, 3), dtype, True) for n in (1, 50, 200) for dtype in ("f8", "f4")]
    for number, array in enumerate(arrays):
        array[...] = number
    for number, array in enumerate(arrays):
        assert np.all(array == number)


def test_a_memory_map_is_used_as_it_is_and_another_type_converted_in_a_file(tmp_path):
    X = np.random.default_rng(0).normal(size=(300, 2))
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert np.shares_memory(checked_inputs(mapped), mapped)
    np.save(tmp_path / "X32.npy", X.astype(np.float32))
    narrow = np.load(tmp_path / "X32.npy", mmap_mode="r")
    wide = checked_inputs(narrow)
    assert wide.dtype == np.float64
    assert isinstance(wide.base, memoryview) or wide.base is not None
    np.testing.assert_array_equal(wide, X.astype(np.float32))


def test_m_on_disk_has_the_bits_of_float64():
    X = np.random.default_rng(0).normal(size=(300, 2))
    y = X[:, 0] > 0.1
    fits = [
        sgpc.build("paper", max_basis=5, max_iterations=2, block_rows=100, storage=each).fit(X, y)
        for each in ("float64", "disk")
    ]
    np.testing.assert_array_equal(fits[0].state.mean, fits[1].state.mean)
    assert fits[0].state.theta == fits[1].state.theta
