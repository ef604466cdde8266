"""Models in other languages: they predict what the model predicts, or say why they cannot."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from functools import cache
from typing import ClassVar

import attrs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sgpc_framework as sgpc
from sgpc_framework.adapters.portable import export
from sgpc_framework.adapters.portable.exports import SUFFIXES
from sgpc_framework.adapters.portable.formula import Formula
from sgpc_framework.adapters.portable.numpy_source import numpy_source
from sgpc_framework.adapters.portable.onnx_graph import feeds
from sgpc_framework.adapters.portable.verification import RUNNERS
from sgpc_framework.errors import ExportError
from sgpc_framework.model.many_classes import OneVsRest
from sgpc_framework.model.model import Model
from sgpc_framework.model.trace import Trace
from sgpc_framework.rows.state import State
from sgpc_framework.tables import TableClassifier
from sgpc_framework.tables.encoding import Encoding, NumberColumn, WordColumn
from sgpc_framework.testing.strategies import fitted_states
from sgpc_plugins.kernels import (
    Constant,
    Linear,
    Mahalanobis,
    Matern12,
    Matern32,
    Matern52,
    Periodic,
    Polynomial,
    RationalQuadratic,
    SquaredExponential,
    Stretched,
    Warped,
)
from sgpc_plugins.likelihoods import (
    Logistic,
    MultinomialProbit,
    NoisyMultinomialProbit,
    NoisyProbit,
    Probit,
)

LANGUAGES = tuple(SUFFIXES)
TOOLS = {"c": "gcc", "js": "node"}


def can(language: str) -> None:
    """Skip where there is nothing to run it with."""
    if language == "onnx":
        pytest.importorskip("onnxruntime", reason="the extra onnx is not installed")
    elif language in TOOLS and shutil.which(TOOLS[language]) is None:
        pytest.skip(f"there is no {TOOLS[language]} here")


def model(kernel, likelihood, classes, size=6, width=3, seed=0) -> Model:
    """A model whose numbers are drawn, not fitted."""
    rng = np.random.default_rng(seed)
    functions = getattr(likelihood, "functions", 1)
    mean = rng.normal(size=(functions, size)) * 3.0
    state = State(
        kernel,
        likelihood,
        np.arange(size),
        rng.normal(size=(size, width)),
        rng.uniform(0.1, 3.0, size),
        mean if functions > 1 else mean[0],
    )
    return Model(np.array(classes), state, Trace((), 0))


KNOTS = {
    "knots": [[-1.0, 0.0, 2.0], [], [0.0, 1.0]],
    "images": [[-2.0, 0.0, 0.5], [], [5.0, 5.1]],
}
WIDE = (0.5, 2.0, 1.0)
MIXED = Mahalanobis(
    Matern52(3.0, WIDE),
    scale=(1.0, 3.0, 0.2),
    mixing=(0.1, 2.0, -1.0, 0.0, 0.4, 1.0, -3.0, 0.2, 1.5),
)


BENT = Stretched(MIXED, KNOTS["knots"], (0.2, 3.0, 1.5))


@cache
def zoo() -> dict[str, Model | OneVsRest | TableClassifier]:
    """Every kernel, every likelihood and both ways to many classes, in few models."""
    two, three = ["no", "yes"], [1, 2, 5]
    parts = [model(Matern12(lengthscale=WIDE), Logistic(2.0, 0.3), [0, 1], seed=s) for s in (1, 2)]
    one = [attrs.evolve(each, classes=np.array([False, True])) for each in parts]
    one.append(model(Linear(0.1), Probit(), [False, True], seed=3))
    encoding = Encoding(
        (
            NumberColumn("label", 3.0, 2.0, 3.5),
            WordColumn("int?*/ größe", ('a"b\\', "blau ß"), "blau ß"),
        ),
        "zero",
    )
    sums = 2.0 * SquaredExponential(1.5, WIDE) + Matern32(lengthscale=2.0) * Periodic(period=3.0)
    return {
        "sum": model(sums + Constant(0.3), NoisyProbit(1.5, -0.2, 0.05), two),
        "rational": model(RationalQuadratic(2.0, 1.5, 0.7), Logistic(5.0, -0.5), [0.5, 1.5]),
        "warped": model(
            Warped(Matern52(3.0, 1.0), **KNOTS) + Polynomial(lengthscale=2.0), Probit(), two
        ),
        "mixed": model(
            Warped(MIXED, **KNOTS) + MIXED * Matern32(lengthscale=2.0), NoisyProbit(), two
        ),
        "stretched": model(BENT + MIXED, Probit(), two),
        "constant": model(Constant(2.0), Probit(), two),
        "no basis": model(Linear(1.0), Probit(bias=0.4), two, size=0),
        "many": model(Matern52(4.0, 1.0), MultinomialProbit((0.1, 0.0, -0.4)), three),
        "noisy many": model(
            Matern52(4.0, 1.0), NoisyMultinomialProbit((0.0,) * 7, 0.1), list("abcdefg")
        ),
        "one-vs-rest": OneVsRest(np.array(three), tuple(one), 0.4),
        "table": TableClassifier(encoding, "t", model(Matern52(4.0, WIDE), Probit(), two)),
    }


@pytest.mark.parametrize("name", zoo())
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_predicts_as_the_model_does(language, name, tmp_path):
    can(language)
    exported = export(zoo()[name], tmp_path / f"model{SUFFIXES[language]}", rows=40)
    assert exported.untried is None
    assert exported.difference < 1e-9  # promised are 1e-6
    assert exported.path.stat().st_size == exported.size


@settings(max_examples=60)
@given(case=fitted_states(), seed=st.integers(0, 99))
def test_generated_models_and_rows(case, seed):
    """Kernels of any depth with any hyperparameters; rows near the basis and far out."""
    one = Model(np.array([0, 1]), case.state, Trace((), 0))
    formula = Formula.of(one)
    source = numpy_source(formula, "model", "Some model.").encode()
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(5, formula.width)) * 10.0 ** rng.uniform(-2.0, 3.0, (5, 1))
    found = RUNNERS["numpy"](source, formula, "model", rows.tolist())
    np.testing.assert_allclose(found, one.predict_proba(rows), atol=1e-6)


def test_a_kernel_without_formula_is_named(tmp_path):
    @attrs.frozen
    class Mine:
        name: ClassVar[str] = "mine"

        def __call__(self, X, Z):
            return np.exp(-np.abs(X[:, None] - Z).sum(axis=2))

        def diag(self, X):
            return np.ones(len(X))

    path = tmp_path / "model.py"
    with pytest.raises(ExportError, match=r"'mine'.*inside kernel 'sum'.*expression\(\)"):
        export(model(Linear() + Mine(), Probit(), [0, 1]), path)
    assert not path.exists()


def test_a_likelihood_without_formula_is_named(tmp_path):
    class Mine(Probit):
        name: ClassVar[str] = "mine"
        link = None

    with pytest.raises(ExportError, match=r"likelihood 'mine'.*link\(\)"):
        export(model(Linear(), Mine(), [0, 1]), tmp_path / "model.py")


def test_a_formula_that_is_wrong_writes_nothing(tmp_path):
    class Wrong(Probit):
        def link(self):
            return attrs.evolve(super().link(), bias=0.1)

    path = tmp_path / "model.py"
    with pytest.raises(ExportError, match="nothing was written"):
        export(model(Linear(), Wrong(), [0, 1]), path)
    assert not path.exists()


def test_without_a_compiler_the_file_is_written_and_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    exported = export(zoo()["many"], tmp_path / "model.c")
    assert "no C compiler" in str(exported)
    assert exported.path.exists()


def test_an_unknown_language(tmp_path):
    with pytest.raises(ExportError, match=r"\.onnx, \.py, \.c, \.js"):
        export(zoo()["many"], tmp_path / "model.rs")
    with pytest.raises(ExportError, match="did you mean 'numpy'"):
        export(zoo()["many"], tmp_path / "model", "nunpy")


# -- what cannot be used -----------------------------------------------------------------------


@cache
def strict() -> TableClassifier:
    """It refuses missing values and unseen words."""
    encoding = Encoding((NumberColumn("n"), WordColumn("w", ("1", "2.5"))))
    return TableClassifier(encoding, "t", model(Matern52(4.0, 1.0), Probit(), ["no", "yes"]))


BAD = [(None, "1"), (np.inf, "1"), (0.0, None), (0.0, "3")]


def namespace(path):
    names = {}
    exec(path.read_text(encoding="utf-8"), names)
    return names


@pytest.mark.parametrize("row", BAD)
def test_the_module_refuses(row, tmp_path):
    predict = namespace(export(strict(), tmp_path / "m.py").path)["predict_proba"]
    with pytest.raises(ValueError, match=r"column '[nw]'"):
        predict([row])


def test_numbers_are_words_where_training_had_words(tmp_path):
    names = namespace(export(strict(), tmp_path / "m.py").path)
    texts, numbers = [{"n": "0.5", "w": "1"}, [1, "2.5"]], [{"n": 0.5, "w": 1}, [1.0, 2.5]]
    np.testing.assert_array_equal(names["predict_proba"](texts), names["predict_proba"](numbers))
    assert set(names["predict"](texts)) <= {"no", "yes"}


def test_onnx_has_no_errors_and_says_nan(tmp_path):
    can("onnx")
    import onnxruntime

    path = export(strict(), tmp_path / "m.onnx").path
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    fed = feeds(Formula.of(strict()), [*map(list, BAD), [0.0, "1"]])
    label, proba = session.run(["label", "probabilities"], fed)
    assert np.isnan(proba[:-1]).all()
    np.testing.assert_allclose(proba[-1:], strict().predict_proba({"n": [0.0], "w": ["1"]}))
    assert label[-1] in ("no", "yes")


def test_javascript_refuses_and_reads_numbers_as_words(tmp_path):
    can("js")
    export(strict(), tmp_path / "m.js")
    script = """
    const m = require("./m.js"), said = [];
    for (const row of [[null, "1"], [Infinity, "1"], [0, null], [0, "3"], {}]) {
      try { m.predictProba(row); said.push("nothing"); } catch (e) { said.push(e.message); }
    }
    const words = m.predictProba([0.5, "2.5"]), numbers = m.predictProba({ n: "0.5", w: 2.5 });
    const same = String(words) === String(numbers);
    console.log(JSON.stringify({ said, same, label: m.predict([0, 1]) }));
    """
    done = subprocess.run(["node", "-e", script], cwd=tmp_path, capture_output=True, check=True)
    found = json.loads(done.stdout)
    assert found["same"]
    assert found["label"] in ("no", "yes")
    assert all(text.startswith("column ") for text in found["said"])


def test_a_page_in_a_browser(tmp_path):
    browser = shutil.which("chromium")
    if browser is None:
        pytest.skip("there is no chromium here")
    export(zoo()["table"], tmp_path / "model.js")
    row = {"label": 2.5, "int?*/ größe": "blau ß"}
    (tmp_path / "page.html").write_text(
        '<meta charset="utf-8"><script src="model.js"></script><pre></pre><script>'
        f"const proba = model.predictProba({json.dumps(row)});"
        "document.querySelector('pre').textContent = JSON.stringify(proba)</script>",
        encoding="utf-8",
    )
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    command = [browser, *flags, f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom"]
    url = (tmp_path / "page.html").as_uri()
    done = subprocess.run([*command, url], capture_output=True, timeout=60, check=True)
    shown = html.unescape(re.search("<pre>(.*)</pre>", done.stdout.decode())[1])
    expected = zoo()["table"].predict_proba({name: [value] for name, value in row.items()})
    np.testing.assert_allclose(json.loads(shown), expected[0], atol=1e-12)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("classes", [["no", "yes"], ["a", "b", "c"]])
def test_costs_decide_in_every_language(language, classes, tmp_path):
    can(language)
    rng = np.random.default_rng(2)
    X, width = rng.normal(size=(60, 2)), len(classes)
    y = np.array(classes)[np.digitize(X[:, 0] + 0.5 * rng.normal(size=60), [0.0, 0.7][: width - 1])]
    fitted = sgpc.build(max_basis=4, max_iterations=1).fit(X, y).with_costs({classes[-1]: 6.0})
    wanted = fitted.predict(X).tolist()
    assert wanted != fitted.with_costs(None).predict(X).tolist()
    path = export(fitted, tmp_path / f"m{SUFFIXES[language]}", to=language).path
    if language == "numpy":
        found = namespace(path)["predict"](X)
    elif language == "onnx":
        import onnxruntime

        session = onnxruntime.InferenceSession(path)
        found = session.run(None, feeds(Formula.of(fitted), X.tolist()))[0].tolist()
    elif language == "js":
        script = (
            f"const m = require({json.dumps(str(path))}), rows = {json.dumps(X.tolist())};"
            "console.log(JSON.stringify(rows.map(m.predict)))"
        )
        found = json.loads(subprocess.check_output(["node", "-e", script]))
    else:
        rows = ",".join("{" + ",".join(map(repr, row)) + "}" for row in X.tolist())
        (tmp_path / "main.c").write_text(
            f'#include "{path.name}"\n#include <stdio.h>\nint main(void) {{\n'
            f"double rows[60][2] = {{{rows}}};\n"
            "for (int i = 0; i < 60; i++) puts(m_classes[m_predict(rows[i])]);\nreturn 0; }\n"
        )
        subprocess.check_call(["gcc", "-std=c99", "main.c", "-o", "main", "-lm"], cwd=tmp_path)
        found = subprocess.check_output([tmp_path / "main"], text=True).split()
    assert list(found) == wanted
