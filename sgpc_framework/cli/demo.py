"""``sgpc demo``: every selector on generated Waveform data, side by side."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import attrs
import click
import numpy as np

from sgpc_framework import datasets
from sgpc_framework.builder import build
from sgpc_framework.engine.algorithm1 import Progress
from sgpc_framework.plugin.registry import default_registry


@attrs.frozen
class Result:
    """What one selector achieved."""

    selector: str
    basis: int
    test_error: float
    test_nlp: float
    seconds: float


def _number(
    flag: str, default: int, least: int, text: str
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    return click.option(
        flag, default=default, type=click.IntRange(min=least), show_default=True, help=text
    )


@click.command(name="demo")
@_number("--rows", 2000, 10, "Training rows.")
@_number("--test-rows", 5000, 1, "Test rows.")
@_number("--max-basis", 40, 1, "Basis vectors.")
@_number("--iterations", 10, 1, "Outer iterations at most.")
@_number("--seed", 0, 0, "Seed of the data and of every fit.")
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
def command(
    rows: int, test_rows: int, max_basis: int, iterations: int, seed: int, as_json: bool
) -> None:
    """Run Algorithm 1 with every selector on Breiman's Waveform data and compare them.

    Training and test rows are generated; the hyperparameters start from the data and are
    re-estimated in the outer loop.
    """
    X, y = datasets.waveform(rows + test_rows, seed=seed)
    selectors = default_registry().names("selector")
    results = []
    with _progress(len(selectors) * iterations * max_basis) as report:
        for position, selector in enumerate(selectors):
            report.begin(selector, position * iterations * max_basis)
            design = build(
                selector=selector, max_basis=max_basis, max_iterations=iterations, seed=seed
            )
            began = perf_counter()
            model = design.fit(X[:rows], y[:rows], progress=report)
            seconds = perf_counter() - began
            proba = model.predict_proba(X[rows:])
            truth = (y[rows:] > 0).astype(np.intp)
            results.append(
                Result(
                    selector,
                    len(model),
                    float(np.mean(proba.argmax(axis=1) != truth)),
                    float(-np.mean(np.log(proba[np.arange(test_rows), truth]))),
                    seconds,
                )
            )
    if as_json:
        click.echo(json.dumps([attrs.asdict(result) for result in results], indent=2))
    else:
        _print_table(results, f"Waveform, {rows} training rows, {test_rows} test rows")


class _Report:
    """Turns the engine's stages into progress; silent unless someone watches."""

    def __init__(self, show: Callable[[str, int], object]) -> None:
        self._show = show
        self._selector = ""
        self._offset = 0

    def begin(self, selector: str, offset: int) -> None:
        self._selector, self._offset = selector, offset
        self._show(f"{selector}", offset)

    def __call__(self, at: Progress) -> None:
        done = self._offset + (at.iteration - 1) * at.max_basis + at.basis
        text = f"{self._selector}, iteration {at.iteration}, loss {at.stage.predictive_loss:.3f}"
        self._show(text, done)


@contextmanager
def _progress(total: int) -> Iterator[_Report]:
    from rich.console import Console
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    if not console.is_terminal:
        yield _Report(_plain_lines())
        return
    with Bar(console=console, transient=True) as bar:
        task = bar.add_task("", total=total)
        yield _Report(lambda text, done: bar.update(task, description=text, completed=done))


def _plain_lines() -> Callable[[str, int], object]:
    """Without a terminal: one line for each selector."""
    seen: set[str] = set()

    def show(text: str, done: int) -> None:
        selector = text.split(",")[0]
        if selector not in seen:
            seen.add(selector)
            click.echo(f"fitting with {selector} ...", err=True)

    return show


def _print_table(results: list[Result], title: str) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    table.add_column("selector")
    for heading in ("basis size", "test error", "test NLP", "seconds"):
        table.add_column(heading, justify="right")
    for result in results:
        table.add_row(*_cells(result))
    Console().print(table)


def _cells(result: Result) -> list[Any]:
    return [
        result.selector,
        str(result.basis),
        f"{100 * result.test_error:.1f} %",
        f"{result.test_nlp:.3f}",
        f"{result.seconds:.1f}",
    ]
