"""The page without a browser: what it says, what it must not contain, how large it is."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sys
import zlib
from html.parser import HTMLParser

import attrs
import numpy as np
import pytest
from counting import count_calls

import sgpc_framework as sgpc
from sgpc_framework import datasets
from sgpc_framework.metrics.column_importance import permutation_importance
from sgpc_framework.metrics.figures_of_merit import Merits
from sgpc_framework.metrics.merits import confusion
from sgpc_framework.plots.regions import Frame
from sgpc_framework.report import render, render_table
from sgpc_framework.report.subject import Units
from sgpc_framework.tables import TableClassifier

VOID = {"meta", "input", "img"}


class Elements(HTMLParser):
    """Every element with its attributes, and the text; complains of what is not closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None], bool]] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs), "svg" in self.open))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs), "svg" in self.open))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not {"script", "style"} & set(self.open):
            self.texts.append(data)

    @property
    def outside_pictures(self) -> list[str]:
        return [tag for tag, _, inside in self.elements if not inside]

    @property
    def inside_pictures(self) -> set[str]:
        return {tag for tag, _, inside in self.elements if inside}

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())


def reel(page: str) -> dict:
    return json.loads(
        re.search(r'<script type="application/json" id="reel">(.*?)</script>', page)[1]
    )


def test_it_says_what_was_fitted_and_how_good_it_is(page, model, rows):
    text = Elements(page).text
    truth = (rows[1] == "trough").astype(int)
    merits = Merits.of(model.predict_log_proba(rows[0]), truth)
    for figure in (f"{100 * merits.error:.1f} %", f"{merits.nlp:.3f}", "training frequencies: 0."):
        assert figure in text
    for word in (
        "Waves",
        "squared-exponential",
        "probit",
        "adaptive-sampling",
        "lengthscale of east",
    ):
        assert word in text
    for count in confusion(model.predict_log_proba(rows[0]), truth).ravel():
        assert f" {count} " in text


def test_a_number_for_every_two_features_names_both(rows):
    model = sgpc.build(kernel="mahalanobis", max_basis=3, max_iterations=1).fit(*rows)
    text = Elements(render(model, *rows, feature_names=["east", "north"])).text
    for pair in ("east in east", "east in north", "north in east", "north in north"):
        assert f"kernel.mixing of {pair} " in text


def test_a_number_for_every_piece_is_no_features_number(rows):
    """Two features with two pieces each are four numbers, as every two of two features are."""
    stretched = {"name": "stretched", "knots": [[-1.0, 0.0, 1.0]] * 2, "slopes": [1.0] * 4}
    model = sgpc.build(kernel=stretched, max_basis=3, max_iterations=1).fit(*rows)
    text = Elements(render(model, *rows, feature_names=["east", "north"])).text
    assert "kernel.slopes[3] " in text
    assert "kernel.slopes of" not in text


def test_nothing_is_asked_of_a_network(page):
    elements = Elements(page)
    assert not {"link", "iframe", "object", "embed", "base", "form"} & {
        tag for tag, _, _ in elements.elements
    }
    for tag, attributes, _ in elements.elements:
        for name in ("src", "href", "xlink:href", "action", "poster", "srcset"):
            value = attributes.get(name) or "#"
            assert value.startswith(("#", "data:image/png;base64,")), (tag, name, value[:60])
    assert "@import" not in page
    assert {target[0] for target in re.findall(r"url\(([^)]*)", page)} == {"#"}


def test_only_the_script_of_the_page_may_run(page):
    (policy,) = (
        attributes["content"]
        for _, attributes, _ in Elements(page).elements
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert "default-src 'none'" in policy
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}';" in policy


def test_what_comes_from_data_is_text(page, model, rows):
    """Features, classes and the title are full of markup, and the page has no element more."""
    usual = Elements(render(model, *rows, feature_names=["east", "north"], title="Waves"))
    assert Elements(page).outside_pictures == usual.outside_pictures
    nasty = np.array(["</script><b>", "<!--"])
    renamed = attrs.evolve(model, classes=nasty)
    labels = nasty[(rows[1] == "trough").astype(int)]
    elements = Elements(render(renamed, rows[0], labels, title="</title><script>"))
    assert elements.outside_pictures == usual.outside_pictures
    assert elements.inside_pictures <= {"g", "path", "text", "defs", "clippath", "rect", "use"}


def test_the_same_model_has_the_same_page(page, model, rows):
    again = render(model, *rows, feature_names=["east", reel(page)["names"][1]], title="Waves")
    assert again == page


def test_the_stages_can_be_played(page, model, rows):
    data = reel(page)
    assert [frame["size"] for frame in data["frames"]] == list(model.sizes)
    assert [len(frame["basis"][0]) for frame in data["frames"]] == list(model.sizes)
    planes = np.frombuffer(zlib.decompress(base64.b64decode(data["planes"])), dtype=np.uint8)
    planes = np.cumsum(planes.reshape(8, -1), axis=0, dtype=np.uint8)
    root = (planes[3] - 127.5) / 127.5
    lead = np.sign(root) * root**2
    _, _, points = Frame.around(rows[0], model.inputs).grid(data["side"], data["side"])
    wanted = 2.0 * model.truncated(4).predict_proba(points)[:, 1] - 1.0
    np.testing.assert_allclose(lead, wanted, atol=0.01)  # steps of a 127th of the root
    assert data["frames"][3]["error"] == pytest.approx(
        np.mean(model.truncated(4).predict(rows[0]) != rows[1]), abs=1e-5
    )


def test_a_refined_model_is_said_to_be_one(rows):
    refiner = {"name": "corrective", "penalty": 1.0, "iterations": 5}
    model = sgpc.build(refiner=refiner, objective="none", max_basis=6, sizes=[3]).fit(*rows)
    page = render(model, *rows)
    text = Elements(page).text
    assert "6, refined together; also refined at 3" in text
    assert "not what it is now" in text
    assert "in the sizes it has: 3, 6." in text
    assert "Notes of the fit" in text
    frames = reel(page)["frames"]
    assert [frame["size"] for frame in frames] == [3, 6]
    assert frames[0]["basis"][0] != frames[1]["basis"][0][:3]  # each was refined for itself


def test_a_model_of_one_refined_size_plays_its_parts(rows):
    refiner = {"name": "corrective", "penalty": 1.0, "iterations": 5}
    model = sgpc.build(refiner=refiner, objective="none", max_basis=4).fit(*rows)
    page = render(model, *rows)
    assert "not the best one of their size" in Elements(page).text
    frames = reel(page)["frames"]
    assert [frame["size"] for frame in frames] == [1, 2, 3, 4]
    assert frames[-1]["error"] == pytest.approx(
        np.mean(model.predict(rows[0]) != rows[1]), abs=1e-5
    )
    for strategy in ("joint", "one-vs-rest"):
        y = np.digitize(rows[0][:, 0], [-0.7, 0.7])
        many = sgpc.build(refiner=refiner, objective="none", max_basis=3, strategy=strategy)
        assert len(reel(render(many.fit(rows[0], y), rows[0], y))["frames"]) == 3


def test_many_classes(rows):
    X = rows[0]
    y = np.where(np.hypot(*X.T) < 1.2, 3, np.where(X[:, 0] > 0.0, 1, 2))
    page = render(sgpc.build(max_basis=4, max_iterations=1).fit(X, y), X, y)
    text = Elements(page).text
    assert "A classifier of 1, 2 and 3" in text
    assert "with 4 basis vectors, judged here" in text
    assert "the class whose function a basis vector asks to be highest" in text
    assert "against the rest" not in text
    data = reel(page)
    assert data["channels"] == len(data["colours"]) == 3
    assert [len(basis) for basis in data["frames"][-1]["basis"]] == [4]


def test_a_model_for_each_class(rows):
    X = rows[0]
    y = np.where(np.hypot(*X.T) < 1.2, 3, np.where(X[:, 0] > 0.0, 1, 2))
    design = sgpc.build(strategy="one-vs-rest", max_basis=4, max_iterations=1)
    page = render(design.fit(X, y), X, y)
    text = Elements(page).text
    assert "A classifier of 1, 2 and 3" in text
    assert "2 against the rest: 4 basis vectors" in text
    data = reel(page)
    assert data["channels"] == len(data["colours"]) == 3
    assert [len(basis) for basis in data["frames"][-1]["basis"]] == [4, 4, 4]


def test_more_features_than_two_and_units_of_the_table():
    X, y = datasets.twonorm(80, seed=3)
    kernel = {"name": "squared-exponential", "lengthscale": "median-per-feature"}
    model = sgpc.build(kernel=kernel, max_basis=3, max_iterations=1).fit(X, y)
    units = Units(np.full(20, 1000.0), np.full(20, 10.0))
    page = render(model, X, y, units=units)
    text = Elements(page).text
    assert "Columns that matter" in text
    assert "Of 20 columns, the 8 that matter most are shown." in text
    assert 'id="reel"' not in page
    names = re.findall(r"training row (x.*?) site mean", text)[0].split()
    worth = permutation_importance(model, X, y)[:8]
    assert names == [f"x{i + 1}" for i in range(20) if f"x{i + 1}" in {one.column for one in worth}]
    first = 1000.0 + 10.0 * model.inputs[0, int(names[0][1:]) - 1]
    assert f" {first:.0f} " in text or f" {first:.1f} " in text


def test_a_large_table_makes_no_large_page(model):
    X = np.random.default_rng(5).uniform(-2.0, 2.0, size=(20_000, 2))
    page = render(model, X, model.predict(X))
    assert len(page) < 400_000
    text = Elements(page).text
    assert "Of 20000 rows, 500 are drawn." in text
    assert "5000 of them drawn at random." in text


def test_a_table_with_words_in_its_own_units(tmp_path):
    rng = np.random.default_rng(0)
    data = {
        "height": rng.normal(170.0, 10.0, 60),
        "town": rng.choice(["Ulm", "Kiel"], 60),
    }
    data["tall"] = np.where(data["height"] > 170.0, "yes", "no")
    classifier = TableClassifier.fit(data, "tall", sgpc.build(max_basis=4, max_iterations=1))
    text = Elements(render_table(classifier, data)).text
    assert "tall: no or yes A sparse" in text
    assert "Rows are counted from 1." in text
    basis = text.rindex("training row height town site mean")
    row = int(classifier.model.basis[0])
    assert f"{data['height'][row]:.1f} {data['town'][row]} " in text[basis:]
    surprises = text[text.index("for the prediction") : basis]
    loss = -classifier.predict_log_proba(data)[np.arange(60), classifier.codes(data)]
    worst = int(loss.argmax())
    assert f"height {data['height'][worst]:.4g} " in surprises
    assert "Kiel" in surprises


def test_a_model_without_a_basis_vector(rows):
    kernel = {"name": "constant", "variance": 1.0}
    model = sgpc.build(kernel=kernel, max_basis=3, max_iterations=1).fit(*rows)
    short = sgpc.Model(model.classes, model.state[:0], model.trace)
    for one in (model, short):
        assert "What was fitted" in Elements(render(one, *rows)).text


class Letters:
    """A kernel on words: how many letters they have in common, by place."""

    name = "letters"

    def __call__(self, X, Z):
        return np.array(
            [[np.mean([a == b for a, b in zip(x, z, strict=True)]) for z in Z] for x in X]
        )

    def diag(self, X):
        return np.ones(len(X))


def test_inputs_that_are_no_vectors():
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("ab"), 6)) for _ in range(40)]
    y = np.array([word.startswith("a") for word in words])
    design = sgpc.build(kernel=Letters(), objective="none", max_basis=4, max_iterations=1)
    text = Elements(render(design.fit(words, y), words, y)).text
    surprises = text[text.index("input most like") : text.index("Behind each of them")]
    assert len(re.findall(r" [ab]{6} [ab]{6} \(basis vector \d", surprises)) == 10
    assert "Columns that matter" not in text


def test_labels_that_do_not_fit(model, rows):
    with pytest.raises(sgpc.InputError, match="label for each of the 120 rows"):
        render(model, rows[0], rows[1][:3])
    with pytest.raises(sgpc.InputError, match="found 'flat' at row 0"):
        render(model, rows[0], np.full(120, "flat"))
    with pytest.raises(sgpc.InputError, match="wanted 2 names"):
        render(model, *rows, feature_names=["east"])


def test_without_matplotlib_the_error_says_what_to_install(model, rows, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'sgpc-framework\[plots\]'"):
        render(model, *rows)


def test_the_rows_are_predicted_once(monkeypatch):
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = sgpc.build(max_basis=3, max_iterations=1).fit(X, np.sign(X[:, 0]))
    names = ("predict_proba", "predict_log_proba")
    staged = (f"staged_{name}" for name in names)
    calls = count_calls(monkeypatch, sgpc.Model, "predict", *names, *staged)
    render(model, X, np.sign(X[:, 0]))
    once = ["predict_log_proba", "staged_predict_log_proba"]
    permuted = (1 + 3) * ["predict_log_proba"]  # as they are, and without each column
    surprises = ["predict_log_proba", "predict_proba"]  # ten of them, and the basis vectors
    assert sorted(calls) == sorted([*once, *permuted, *surprises])


def choices(page: str) -> dict:
    return json.loads(
        re.search(r'<script type="application/json" id="choices">(.*?)</script>', page)[1]
    )


@pytest.mark.parametrize("many", [False, True])
def test_what_follows_from_every_threshold(model, rows, many):
    X, y = rows
    if many:
        y = np.digitize(X[:, 0], [-0.7, 0.7])
        model = sgpc.build(max_basis=4, max_iterations=1).fit(X, y)
    data = choices(render(model, X, y))
    for position, one in enumerate(data["classes"]):
        label = model.classes.tolist()[position]
        assert one["rows"] == [np.sum(y == label), np.sum(y != label)]
        for place in range(0, len(data["thresholds"]), 17):
            threshold = data["thresholds"][place]
            said = model.with_costs({label: (1.0 - threshold) / threshold}).predict(X) == label
            assert one["own"][place] == np.sum(said & (y == label))
            assert one["others"][place] == np.sum(said & (y != label))


def test_it_begins_with_what_the_model_decides_by(model, rows):
    data = choices(render(model.with_costs({"trough": 4}), *rows))
    assert data["classes"][data["watched"]]["name"] == "trough"
    assert data["classes"][data["watched"]]["start"] == pytest.approx(0.2)
    assert data["classes"][0]["start"] == pytest.approx(0.8)
    assert {0.2, 0.8} <= set(data["thresholds"])
    target = model.with_target(*rows, label="crest", recall=0.95)
    page = render(target, *rows)
    assert "recall of crest at least 0.95" in Elements(page).text
    assert choices(page)["classes"][choices(page)["watched"]]["name"] == "crest"
    decided = confusion(model.predict_log_proba(rows[0]), (rows[1] == "trough") * 1, target.costs)
    text = Elements(page).text
    for count in decided.ravel():
        assert f" {count} " in text


def test_many_classes_and_many_columns_stay_readable():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(32), 4)
    X = np.c_[y / 32.0 + 0.02 * rng.normal(size=128), rng.normal(size=(128, 39))]
    design = sgpc.build(max_basis=3, max_iterations=1, objective="none")
    page = render(design.fit(X, y), X, y)
    text = Elements(page).text
    assert "kinds of mistakes, the 20 most frequent" in text
    assert len(choices(page)["classes"]) == 20
    assert "12 rarer classes are left out here." in text
    assert "and 10 further columns" in text
    assert "Of 40 columns, the 8 that matter most are shown." in text
    assert len(page) < 400_000
