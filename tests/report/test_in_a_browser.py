"""The page in a real browser, from a file: it is silent, asks for nothing, plays and prints."""

from __future__ import annotations

import base64
import json
import re
import time
import zlib

import numpy as np
import pytest

import sgpc_framework as sgpc
from sgpc_framework.report import render


def wait_for(condition, seconds: float = 8.0):
    """What a condition gives as soon as it is true."""
    end = time.monotonic() + seconds
    while not (result := condition()):
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.02)
    return result


@pytest.fixture
def played(chromium, opened, page):
    """The page, when the player is ready."""
    path = opened(page)
    wait_for(lambda: chromium.execute_script("return !document.getElementById('player').hidden"))
    return path


def pixels(chromium) -> str:
    return chromium.execute_script("return document.querySelector('canvas').toDataURL()")


def said(chromium) -> str:
    return chromium.execute_script("return document.getElementById('said').textContent")


def test_it_is_silent_and_asks_for_nothing(chromium, played):
    assert chromium.get_log("browser") == []
    events = (json.loads(entry["message"])["message"] for entry in chromium.get_log("performance"))
    asked = {
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    }
    own = ("data:", "chrome:", "chrome-untrusted:")  # in the page, and the browser's
    assert {url for url in asked if not url.startswith(own)} <= {played.as_uri()}
    assert chromium.execute_script("return window.hacked") is None


def test_no_script_but_its_own_may_run(chromium, played):
    chromium.execute_script(
        "const s = document.createElement('script'); s.textContent = 'window.hacked = 1';"
        "document.body.append(s)"
    )
    assert chromium.execute_script("return window.hacked") is None
    assert any("Content Security Policy" in line["message"] for line in chromium.get_log("browser"))


def test_the_slider_moves_through_the_stages_by_keyboard(chromium, played):
    from selenium.webdriver.common.keys import Keys

    slider = chromium.find_element("id", "stage")
    last = pixels(chromium)
    assert said(chromium).startswith("8 of 8 basis vectors: error")
    slider.send_keys(Keys.ARROW_LEFT)
    assert said(chromium).startswith("7 of 8 basis vectors")
    assert pixels(chromium) != last
    slider.send_keys(Keys.HOME)
    assert said(chromium).startswith("1 of 8")
    assert slider.get_attribute("aria-valuetext") == said(chromium)
    slider.send_keys(Keys.END)
    assert pixels(chromium) == last


def test_play_runs_to_the_end_and_can_be_paused(chromium, played):
    from selenium.webdriver.common.keys import Keys

    button = chromium.find_element("id", "play")
    last = pixels(chromium)
    button.send_keys(Keys.ENTER)  # from the last stage it begins anew
    assert button.text == "Pause"
    wait_for(lambda: said(chromium).startswith("2 of 8"))
    assert pixels(chromium) != last
    button.send_keys(Keys.SPACE)
    assert button.text == "Play"
    at = said(chromium)
    time.sleep(0.9)  # longer than a stage is shown
    assert said(chromium) == at
    chromium.find_element("id", "stage").send_keys(Keys.END, Keys.ARROW_LEFT)
    button.click()
    wait_for(lambda: said(chromium).startswith("8 of 8") and button.text == "Play")
    assert pixels(chromium) == last


def test_it_plays_by_itself_when_it_is_seen(chromium, opened, page):
    moving = {"features": [{"name": "prefers-reduced-motion", "value": "no-preference"}]}
    chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", moving)
    try:
        opened(page)
        chromium.execute_script("document.getElementById('plane-canvas').scrollIntoView()")
        wait_for(lambda: said(chromium).startswith("2 of 8"))
        assert chromium.find_element("id", "play").text == "Pause"
        wait_for(lambda: said(chromium).startswith("8 of 8"))
    finally:
        chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_the_threshold_moves_the_confusion_and_the_costs(chromium, played, model, rows):
    from selenium.webdriver.common.keys import Keys

    X, y = rows

    def shown() -> list[int]:
        cells = chromium.find_elements("css selector", "#follows td b")
        return [int(cell.text) for cell in cells]

    def wanted(costs) -> list[int]:
        decided = model.with_costs(costs).predict(X)
        return [int(np.sum((y == t) & (decided == d))) for t in ORDER for d in ORDER]

    watched = chromium.find_element("id", "watched")
    first = chromium.execute_script("return arguments[0].selectedOptions[0].textContent", watched)
    ORDER = [first, *({"crest", "trough"} - {first})]
    assert shown() == wanted(None)
    miss = chromium.find_element("id", "miss")
    miss.clear()
    miss.send_keys("4")
    assert chromium.find_element("id", "at").text == "0.2"
    assert shown() == wanted({first: 4})
    cost = (4 * shown()[1] + shown()[2]) / len(y)
    assert f"A decision costs {cost:.3g} on average" in chromium.find_element("id", "decided").text
    assert f"--cost {first}=4 " in chromium.find_element("id", "keep").text
    assert chromium.find_element("css selector", "#cost-curve path").is_displayed()
    slider = chromium.find_element("id", "threshold")
    slider.send_keys(Keys.HOME)
    assert chromium.find_element("id", "at").text == "0.001"
    assert shown() == wanted({first: 999})
    slider.send_keys(Keys.END)
    assert shown() == wanted({first: 1 / 999})
    assert chromium.get_log("browser") == []


def test_the_colours_on_the_canvas_are_those_of_the_model(chromium, played, model, rows):
    """A point in the middle of each region, looked up on the canvas."""
    data = chromium.execute_script("return JSON.parse(document.getElementById('reel').textContent)")
    low, high = np.array(data["low"]), np.array(data["high"])
    grid = np.random.default_rng(0).uniform(low, high, size=(4000, 2))
    proba = model.predict_proba(grid)[:, 1]
    busy = np.concatenate([rows[0], model.inputs])
    clear = np.array(
        [np.abs((point - busy) / (high - low)).max(axis=1).min() > 0.03 for point in grid]
    )
    grid, proba = grid[clear], proba[clear]
    for surest, redder in ((proba.argmax(), True), (proba.argmin(), False)):
        place = (grid[surest] - low) / (high - low)
        red, _, blue, _ = chromium.execute_script(
            """
            const canvas = document.querySelector("canvas"), scale = window.devicePixelRatio;
            const box = JSON.parse(canvas.dataset.box);
            const x = box.left + arguments[0] * box.width;
            const y = box.top + (1 - arguments[1]) * box.height;
            return [...canvas.getContext("2d").getImageData(x * scale, y * scale, 1, 1).data];
            """,
            *place.tolist(),
        )
        assert (red > blue) == redder


def test_a_click_on_a_heading_sorts(chromium, played):
    column = """
        const table = document.querySelector("#basis table");
        const at = [...table.tHead.rows[0].cells].findIndex(c => c.textContent === "site mean");
        return [...table.tBodies[0].rows].map(row => Number(row.cells[at].dataset.value));
    """
    before = chromium.execute_script(column)
    heading = chromium.find_element("xpath", "//*[@id='basis']//th/*[text()='site mean']")
    chromium.execute_script("arguments[0].click()", heading)
    assert chromium.execute_script(column) == sorted(before)
    heading.send_keys(" ")
    assert chromium.execute_script(column) == sorted(before, reverse=True)


def test_it_fits_a_telephone(chromium, played):
    size = {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True}
    chromium.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        assert chromium.execute_script("return document.documentElement.scrollWidth") == 390
    finally:
        chromium.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_dark_and_light(chromium, played):
    light = pixels(chromium)
    dark = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", dark)
    try:
        paper = "return getComputedStyle(document.body).backgroundColor"
        assert chromium.execute_script(paper) == "rgb(21, 25, 30)"
        wait_for(lambda: pixels(chromium) != light)
    finally:
        chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_without_scripts_there_is_the_picture_of_the_last_stage(chromium, opened, page):
    chromium.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        opened(page)
        assert chromium.find_element("css selector", ".still img").is_displayed()
        assert not chromium.find_element("id", "player").is_displayed()
        assert not chromium.find_element("id", "decider").is_displayed()
        assert chromium.find_element("css selector", "#decisions .still table").is_displayed()
        assert "Waves" in chromium.find_element("tag name", "h1").text
    finally:
        chromium.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_it_prints_on_a_few_pages(chromium, played):
    """On paper, the picture of the last stage stands for the player."""
    chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        assert chromium.find_element("css selector", ".still img").is_displayed()
        assert not chromium.find_element("id", "player").is_displayed()
        assert not chromium.find_element("tag name", "nav").is_displayed()
    finally:
        chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    paper = {"paperWidth": 8.27, "paperHeight": 11.69}
    printed = chromium.execute_cdp_cmd("Page.printToPDF", paper)
    pdf = base64.b64decode(printed["data"])
    pages = re.findall(rb"/Type\s*/Page\b", b"".join([pdf, *_streams(pdf)]))
    assert 3 <= len(pages) <= 7


def _streams(pdf: bytes):
    for match in re.finditer(rb"stream\r?\n(.*?)endstream", pdf, re.DOTALL):
        try:
            yield zlib.decompress(match[1])
        except zlib.error:
            continue


def test_many_classes_play_too(chromium, opened, rows):
    X = rows[0]
    y = np.where(np.hypot(*X.T) < 1.2, "a", np.where(X[:, 0] > 0.0, "b", "c"))
    opened(render(sgpc.build(max_basis=3, max_iterations=1).fit(X, y), X, y))
    wait_for(lambda: said(chromium).startswith("3 of 3 basis vectors: error"))
    assert chromium.get_log("browser") == []
