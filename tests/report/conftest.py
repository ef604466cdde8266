"""Pages to look at, and a browser to look at them with."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

import sgpc_framework as sgpc
from sgpc_framework.report import render

NASTY = '"><script>window.hacked = 1</script><img src=x onerror="window.hacked = 1">'
"""What a feature or a class might be called by somebody who means harm."""

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1280,900",
    "--force-prefers-reduced-motion",  # nothing plays by itself, unless a test wants it
)


def plane(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2.0, 2.0, size=(rows, 2))
    noisy = np.sin(3.0 * X[:, 0]) + np.sin(2.0 * X[:, 1]) + 0.3 * rng.normal(size=rows)
    return X, np.where(noisy > 0.0, "crest", "trough")


@pytest.fixture(scope="session")
def rows() -> tuple[np.ndarray, np.ndarray]:
    return plane(120, seed=1)


@pytest.fixture(scope="session")
def model():
    kernel = {"name": "squared-exponential", "lengthscale": [0.7, 0.7]}
    return sgpc.build(kernel=kernel, max_basis=8, max_iterations=1).fit(*plane(150, seed=0))


@pytest.fixture(scope="session")
def page(model, rows) -> str:
    return render(model, *rows, feature_names=["east", NASTY], title="Waves")


@pytest.fixture(scope="session")
def chromium(tmp_path_factory):
    """A browser that logs what it says and what it asks the network for."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    browser, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if browser is None or driver is None:
        pytest.skip("no chromium with chromedriver here: apt-get install chromium chromium-driver")
    options = Options()
    options.binary_location = browser
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = Service(driver, log_output=os.devnull)
    driver = webdriver.Chrome(options=options, service=service)
    yield driver
    driver.quit()


@pytest.fixture
def opened(chromium, tmp_path):
    """``opened(page)`` opens a page from a file, with earlier logs forgotten."""

    def open_(page: str) -> Path:
        path = tmp_path / "report.html"
        path.write_text(page, encoding="utf-8")
        for kind in ("browser", "performance"):
            chromium.get_log(kind)
        chromium.get(path.as_uri())
        return path

    return open_
