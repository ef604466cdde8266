"""The site is built without a warning, has everything, and plays Algorithm 1 in a browser."""

from __future__ import annotations

import subprocess
import sys
import time
import zlib
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from browsing import browser

import sgpc_framework as sgpc

ROOT = Path(__file__).parents[2]
NEEDED = ("furo", "myst_parser", "sphinx", "sphinx_gallery")

pytestmark = pytest.mark.skipif(
    any(find_spec(name) is None for name in NEEDED),
    reason="the site needs the extra docs: pip install 'sgpc-framework[docs]'",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The site, built anew; scripts of the gallery run if they have changed since they last did."""
    folder = tmp_path_factory.mktemp("site")
    command = ["sphinx-build", "-W", "-q", "--keep-going", "-c", "docs/site"]
    built = subprocess.run(
        [sys.executable, "-m", "sphinx", *command[1:], ".", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    return folder


# ---------------------------------------------------------------------------------------------
# What is there


def test_every_page_is_in_it(site):
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    missing = [p for p in pages if not (site / p.relative_to(ROOT)).with_suffix(".html").is_file()]
    assert not missing


def test_the_sidebar_has_the_four_quarters_and_a_search(site):
    front = (site / "docs/site/index.html").read_text(encoding="utf-8")
    sidebar = front.partition('class="sidebar-tree">')[2].partition("<article")[0]
    captions = [part.partition("<")[0] for part in sidebar.split('class="caption-text">')[1:]]
    quarters = ["Tutorials", "How-to guides", "Reference", "Explanation"]
    assert captions == [*quarters, "The project"]
    assert 'role="search"' in front
    words = (site / "searchindex.js").read_text(encoding="utf-8")
    assert "moment" in words


def test_the_address_that_people_try_leads_to_the_front_page(site):
    assert "url=docs/site/index.html" in (site / "index.html").read_text(encoding="utf-8")


def test_the_gallery_shows_what_every_script_draws(site):
    for script in (ROOT / "docs/gallery").glob("*.py"):
        page = (site / "docs/site/gallery" / f"{script.stem}.html").read_text(encoding="utf-8")
        assert f"sphx_glr_{script.stem}_001.png" in page


@pytest.fixture(scope="module")
def entries(site) -> set[str]:
    """What has an entry: the inventory is four lines of text and then compressed ones."""
    inventory = (site / "objects.inv").read_bytes().split(b"\n", 4)[4]
    lines = zlib.decompress(inventory).decode().splitlines()
    return {line.split()[0] for line in lines if line.split()[1].startswith("py:")}


@pytest.mark.parametrize(
    "module",
    [
        "sgpc_framework",
        "sgpc_framework.authors",
        "sgpc_framework.testing",
        "sgpc_framework.adapters.portable",
        "sgpc_framework.datasets",
        "sgpc_framework.lab",
        "sgpc_framework.plots",
        "sgpc_framework.report",
        "sgpc_framework.tables",
    ],
)
def test_every_public_name_is_in_the_reference(entries, module):
    homes = (module, "sgpc_framework.protocols", "sgpc_framework")
    public = import_module(module).__all__
    assert not [name for name in public if not entries & {f"{home}.{name}" for home in homes}]


def test_estimators_and_protocols_are_in_the_reference(entries):
    from sgpc_framework import protocols

    declared = {
        f"sgpc_framework.protocols.{name}"
        for name, value in vars(protocols).items()
        if isinstance(value, type) and value.__module__.startswith(protocols.__name__)
    }
    assert len(declared) > 30
    estimators = {"sgpc_framework.SGPClassifier", "sgpc_framework.SGPTableClassifier"}
    assert declared | estimators <= entries


# ---------------------------------------------------------------------------------------------
# Algorithm 1 in the browser


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    with browser(tmp_path_factory.mktemp("profile")) as driver:
        yield driver


@pytest.fixture
def page(site, chromium):
    """The page that plays, with earlier logs forgotten."""
    chromium.get_log("browser")
    chromium.get((site / "docs/site/play.html").as_uri())
    return chromium


def wait_for(condition, seconds: float = 8.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.02)


def said(page) -> str:
    return page.find_element("css selector", ".play-said").text


def press(page, name: str, times: int = 1) -> None:
    button = f"document.querySelector('#play button[name={name}]')"
    page.execute_script(f"for (let i = 0; i < {times}; i++) {button}.click()")


def choose(page, **settings) -> None:
    """Set some settings as a reader would, who causes the event ``input``."""
    for name, value in settings.items():
        page.execute_script(
            """
            const input = document.querySelector(`#play [name="${arguments[0]}"]`);
            input.value = arguments[1];
            input.dispatchEvent(new Event("input", { bubbles: true }));
            """,
            name,
            str(value),
        )


def trace(page, key: str) -> list[float]:
    return page.execute_script("return player.fit().trace.map((s) => s[arguments[0]])", key)


def pixels(page, picture: str) -> str:
    return page.execute_script(f"return document.querySelector('#play .{picture}').toDataURL()")


def test_basis_vectors_come_in_and_the_bound_falls(page):
    plane, curve = pixels(page, "plane"), pixels(page, "curve")
    assert said(page).startswith("No basis vector yet")
    press(page, "step", times=15)
    assert said(page).startswith("Stage 15: the best of 2 rows came in. Log loss 0.")
    assert len(set(page.execute_script("return player.fit().basis"))) == 15
    assert trace(page, "bound")[0] == pytest.approx(1.0)
    assert trace(page, "bound")[-1] < 0.6
    assert all(e <= b for e, b in zip(trace(page, "error"), trace(page, "bound"), strict=True))
    assert pixels(page, "plane") != plane
    assert pixels(page, "curve") != curve
    assert page.get_log("browser") == []


@pytest.mark.parametrize("kernel", ["squared-exponential", "matern-32"])
def test_what_is_chosen_is_what_the_engine_fits(page, kernel):
    choose(page, data="a ring", rows=100, noise=10, selector="entropy", kernel=kernel)
    choose(page, lengthscale=0.7)
    assert not page.find_element("name", "workingSet").is_enabled()
    press(page, "step", times=12)
    X, y, basis = page.execute_script(
        "const fit = player.fit(); return [fit.points.X, fit.y, fit.basis]"
    )
    part = {"name": kernel, "lengthscale": 0.7}
    design = sgpc.build(
        kernel=part, selector="entropy", objective="none", max_basis=12, max_iterations=1
    )
    model = design.fit(np.array(X), np.array(y))
    assert basis == model.basis.tolist()
    losses = model.trace.column("predictive_loss")
    np.testing.assert_allclose(trace(page, "loss")[1:], losses, rtol=1e-8)
    frame = page.execute_script("return [...player.frame(12)]")
    places = page.execute_script("return pictures.grid")
    np.testing.assert_allclose(frame, model.predict_proba(np.array(places))[:, 1], atol=1e-6)


def test_the_working_set_can_be_chosen(page):
    choose(page, selector="random-sampling", workingSet=30)
    press(page, "step")
    assert "the best of 30 rows" in said(page)


def test_play_and_pause_and_back_again(page):
    press(page, "play")
    wait_for(lambda: said(page).startswith("Stage 3"))
    press(page, "play")
    at = said(page)
    time.sleep(0.7)  # longer than a stage is shown
    assert said(page) == at
    last = pixels(page, "plane")
    choose(page, stage=1)
    assert said(page).startswith("Stage 1:")
    assert pixels(page, "plane") != last
    press(page, "again")
    assert said(page).startswith("No basis vector yet")


def test_it_ends_when_there_is_no_more_to_do(page):
    choose(page, rows=20, selector="validation", workingSet=60)
    press(page, "step", times=70)
    assert said(page).endswith("That is all.")
    assert not page.find_element("css selector", "#play button[name=step]").is_enabled()
    assert len(page.execute_script("return player.fit().basis")) <= 20


def test_it_follows_the_theme_and_fits_a_telephone(page):
    press(page, "step", times=5)
    light = pixels(page, "plane")
    page.execute_script("document.body.dataset.theme = 'dark'")
    wait_for(lambda: pixels(page, "plane") != light)
    size = {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        assert page.execute_script("return document.documentElement.scrollWidth") == 390
    finally:
        page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_a_word_can_be_searched_for(site, chromium):
    chromium.get((site / "search.html").as_uri() + "?q=lengthscale")
    found = "return document.querySelectorAll('#search-results li a').length"
    wait_for(lambda: chromium.execute_script(found) > 3)
