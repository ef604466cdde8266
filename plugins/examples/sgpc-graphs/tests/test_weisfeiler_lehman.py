"""What every kernel must do, and what this one is for."""

import json
import zipfile

import numpy as np
import pytest
import sgpc_framework as sgpc
from sgpc_framework.testing import parametrize_with_checks

from sgpc_graphs import Graph, WeisfeilerLehman, rings_and_chains
from sgpc_graphs.graph import decoded, encoded, rows_of


@parametrize_with_checks([WeisfeilerLehman(), WeisfeilerLehman(variance=2.5, depth=0)])
def test_conformance(check):
    check()


@parametrize_with_checks([WeisfeilerLehman()], level="thorough")
def test_thorough_conformance(check):
    check()


def test_the_counts_of_the_paper_by_hand():
    path, ring = (
        Graph(("C", "C", "C"), edges) for edges in [((0, 1), (1, 2)), ((0, 1), (1, 2), (2, 0))]
    )
    # Depth 0: C three times in both. Depth 1: path has C-C twice and C-CC once, ring C-CC thrice.
    wanted = (3 * 3 + 1 * 3) / np.sqrt((9 + 4 + 1) * (9 + 9))
    found = WeisfeilerLehman(depth=1)(rows_of([path]), rows_of([ring]))
    np.testing.assert_allclose(found, [[wanted]])


def test_the_order_of_vertices_and_edges_makes_no_difference():
    one = Graph(("C", "N", "O"), ((0, 1), (1, 2)))
    other = Graph(("O", "C", "N"), ((2, 0), (1, 2)))
    np.testing.assert_allclose(WeisfeilerLehman()(rows_of([one]), rows_of([other])), [[1.0]])


def test_a_model_learns_what_labels_alone_do_not_tell_and_comes_back_from_a_file(tmp_path):
    graphs, y = rings_and_chains(300, seed=1)
    design = sgpc.build(kernel="weisfeiler-lehman", max_basis=30, max_iterations=3)
    model = design.fit(graphs[:200], y[:200])
    assert np.mean(model.predict(graphs[200:]) != y[200:]) < 0.15
    model.save(tmp_path / "graphs.sgpc")
    again = sgpc.load(tmp_path / "graphs.sgpc")
    np.testing.assert_array_equal(
        again.predict_proba(graphs[200:]), model.predict_proba(graphs[200:])
    )
    with zipfile.ZipFile(tmp_path / "graphs.sgpc") as archive:
        assert not [name for name in archive.namelist() if name.endswith((".pkl", ".pickle"))]


@pytest.mark.parametrize(
    "data",
    [
        {"labels": []},
        [{"labels": ["C"]}],
        [{"labels": ["C"], "edges": [[0, 1]]}],
        [{"labels": ["C", "C"], "edges": [[0, 1, 1]]}],
        [{"labels": ["C", "C"], "edges": [[0, True]]}],
        [{"labels": ["C", 3], "edges": []}],
        [{"labels": "CC", "edges": []}],
        [["C"], []],
    ],
)
def test_what_was_never_written_is_refused(data):
    with pytest.raises((TypeError, ValueError)):
        decoded(data)


def test_graphs_are_plain_data():
    graphs, _ = rings_and_chains(5)
    assert list(decoded(json.loads(json.dumps(encoded(graphs))))) == list(graphs)
