"""``sgpc demo``: every selector on generated Waveform data, side by side."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import attrs
import click

from sgpc_framework import datasets
from sgpc_framework.cli.option_groups import json_option
from sgpc_framework.cli.printing import echo, print_json, print_table
from sgpc_framework.cli.progress_bars import fit_watcher
from sgpc_framework.design import build
from sgpc_framework.metrics.predictions import Predictions
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
@json_option
def command(
    rows: int, test_rows: int, max_basis: int, iterations: int, seed: int, as_json: bool
) -> None:
    """Run Algorithm 1 with every selector on Breiman's Waveform data and compare them.

    Training and test rows are generated; the hyperparameters start from the data and are
    re-estimated in the outer loop.
    """
    X, y = datasets.waveform(rows + test_rows, seed=seed)
    selectors = default_registry().names("selector")
    for name in default_registry().ambiguous("selector"):
        click.echo(f"left out: {name}, which several distributions provide", err=True)
    results = []
    with fit_watcher() as watcher:
        watcher.expect(len(selectors))
        for selector in selectors:
            watcher.begin(selector)
            if not watcher.visible:
                echo(f"fitting with {selector} ...", err=True)
            design = build(
                selector=selector, max_basis=max_basis, max_iterations=iterations, seed=seed
            )
            began = perf_counter()
            model = design.fit(X[:rows], y[:rows], progress=watcher)
            seconds = perf_counter() - began
            merits = Predictions.of(model, X[rows:], y[rows:]).merits
            results.append(Result(selector, len(model), merits.error, merits.nlp, seconds))
    if as_json:
        print_json(results)
    else:
        print_table(
            ["selector", "basis size", "test error", "log loss", "seconds"],
            map(_cells, results),
            title=f"Waveform, {rows} training rows, {test_rows} test rows",
        )


def _cells(result: Result) -> list[str]:
    return [
        result.selector,
        str(result.basis),
        f"{100 * result.test_error:.1f} %",
        f"{result.test_nlp:.3f}",
        f"{result.seconds:.1f}",
    ]
