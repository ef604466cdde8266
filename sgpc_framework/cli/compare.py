"""``sgpc compare``: selectors and sizes on your own data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from attrs import asdict

from sgpc_framework.cli.config_options import DEFAULT, build_config, changing_options, whole_number
from sgpc_framework.cli.option_groups import json_option
from sgpc_framework.cli.printing import echo, print_json, print_table
from sgpc_framework.cli.progress_bars import fit_watcher
from sgpc_framework.cli.table_options import (
    data_argument,
    encoding_options,
    read_with_target,
    reading_options,
    target_option,
)

if TYPE_CHECKING:
    from sgpc_framework.lab.cross_validation import Pair, Score


@click.command(name="compare")
@data_argument
@target_option
@click.option(
    "--selectors",
    multiple=True,
    metavar="NAMES",
    help="Selectors with commas between them, or 'all'. Default: that of the configuration. May be "
    "given more than once.",
)
@click.option(
    "--configs",
    multiple=True,
    default=[DEFAULT],
    show_default=True,
    metavar="NAMES",
    help="Presets or files with commas between them. The default is what sgpc fit fits. May be "
    "given more than once.",
)
@click.option(
    "--sizes",
    multiple=True,
    callback=lambda _, param, value: _whole_numbers(param, ",".join(value)),
    default=["80"],
    show_default=True,
    metavar="INTEGERS",
    help="Numbers of basis vectors with commas between them. May be given more than once.",
)
@click.option(
    "--folds",
    type=click.IntRange(min=2),
    default=5,
    show_default=True,
    help="So many parts of the data are predicted in turn from the others.",
)
@click.option(
    "--baselines/--no-baselines",
    default=None,
    help="Whether logistic regression and gradient boosting of scikit-learn, with their defaults, "
    "are compared, too. Default: where scikit-learn is installed.",
)
@changing_options
@encoding_options
@reading_options
@json_option
def command(
    data: Path,
    target: str | None,
    selectors: tuple[str, ...],
    configs: tuple[str, ...],
    sizes: tuple[int, ...],
    folds: int,
    baselines: bool | None,
    seed: int | None,
    changes: tuple[str, ...],
    format_: str | None,
    header: bool | None,
    missing: tuple[str, ...],
    trust: bool,
    words: tuple[str, ...],
    as_json: bool,
    **encoding: Any,
) -> None:
    """Compare what sgpc fit would fit to the table DATA with simpler models, by cross-validation.

    Without options, that is the preset accurate with 80 basis vectors, beside the class
    frequencies, logistic regression and gradient boosting. --configs, --selectors and --sizes
    compare designs of other kinds.

    One fit holds all sizes. Without a refiner (--configs paper) the smaller models are the first
    stages of the largest and share its hyperparameters; with one (--configs accurate) it runs at
    each size. Means over the folds are given with their standard errors. A word that is in one fold
    only is always none of the known ones there, as with --unseen zero.

    \b
    sgpc compare train.csv --target species
    sgpc compare train.csv --target species --configs paper --selectors all --sizes 5,10,20
    sgpc compare train.csv --target species --configs paper,fast,accurate
    """
    from sgpc_framework.design import Design
    from sgpc_framework.lab.cross_validation import cross_validate, pairs

    designs: dict[str, Any] = {
        title: Design(build_config(config, changes, seed=seed, selector=selector))
        for title, config, selector in _titles(configs, selectors)
    }
    designs |= _baselines(baselines)
    table, column = read_with_target(
        data, target, format_, header=header, words=words, missing=missing, trust=trust
    )
    scores: list[Score] = []
    with fit_watcher() as watcher:
        watcher.expect(folds * len(designs))

        def progress(title: str, turn: int, at: Any) -> None:
            if at is None:
                watcher.begin(f"{title}, fold {turn + 1} of {folds}")
            else:
                watcher(at)

        each = cross_validate(
            table,
            column,
            designs,
            sizes,
            folds,
            seed or 0,
            progress,
            words=words,
            unseen="zero",
            **encoding,
        )
        scores.extend(each)
    beside = {(pair.design, pair.size): pair for pair in pairs(scores)}
    if as_json:
        print_json(
            [{**asdict(score), "pair": beside.get((score.design, score.size))} for score in scores]
        )
    else:
        _print(scores, beside, f"{data}, {len(table)} rows, {folds} folds: mean ± standard error")


def _whole_numbers(param: click.Parameter, value: str) -> tuple[int, ...]:
    return tuple(sorted({whole_number(param, each) for each in value.split(",")}))


def _titles(configs: Sequence[str], selectors: Sequence[str]) -> list[tuple[str, str, str | None]]:
    """What a row is called, its configuration and its selector: all combinations."""
    from sgpc_framework.plugin.registry import default_registry

    names = _each(configs)
    if not selectors:
        return [(name, name, None) for name in names]
    chosen: list[str] = []
    for selector in _each(selectors):
        chosen += default_registry().names("selector") if selector == "all" else [selector]
    chosen = list(dict.fromkeys(chosen))
    several = len(names) > 1
    return [
        (f"{name}, {selector}" if several else selector, name, selector)
        for name in names
        for selector in chosen
    ]


def _each(texts: Sequence[str]) -> list[str]:
    """Names with commas between them, in several options or in one; each once."""
    return list(dict.fromkeys(name.strip() for text in texts for name in text.split(",")))


def _baselines(wanted: bool | None) -> dict[str, Any]:
    """The class frequencies, and unless they are not wanted those of scikit-learn."""
    from sgpc_framework.lab.baselines import Baseline, baselines, has_baselines

    frequencies = {"class frequencies": Baseline("class frequencies")}
    if wanted is None and not has_baselines():
        echo(
            "Logistic regression and gradient boosting are left out, because scikit-learn is not "
            "installed: pip install 'sgpc-framework[sklearn]'",
            err=True,
        )
        return frequencies
    if wanted is False:
        return frequencies
    try:
        return {**baselines(), **frequencies}
    except ImportError as error:
        raise click.ClickException(str(error)) from error


def _size(score: Score) -> str:
    if score.size == 0:
        return "-"
    return str(score.size) if score.basis == score.size else f"{score.size} ({score.basis:g})"


_HEADINGS = ["design", "size", "error", "", "log loss", "", "p", "AUC", "Brier", "seconds"]


def _print(scores: list[Score], beside: dict[tuple[str, int], Pair], title: str) -> None:
    best = min(score.nlp for score in scores)
    print_table(
        _HEADINGS,
        [
            [
                score.design,
                _size(score),
                f"{100 * score.error:.1f} %",
                f"± {100 * score.error_noise:.1f}",
                f"{score.nlp:.4f}",
                f"± {score.nlp_noise:.4f}{' *' if score.nlp == best else '  '}",
                f"{pair.p_holm:.2g}" if pair else "",
                score.figures["auc"].text(3),
                score.figures["brier"].text(3),
                f"{score.seconds:.1f}",
            ]
            for score in scores
            for pair in [beside.get((score.design, score.size))]
        ],
        title=title,
    )
    echo(
        "* the least log loss; p for no difference to it, by pairs of folds (Nadeau and Bengio's "
        "t-test with Holm's correction)\n"
        "seconds are those of one fit, which holds all sizes of a design"
    )
