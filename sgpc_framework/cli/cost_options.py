"""Costs on the command line: ``--cost yes=5``, ``--cost yes:no=5``, ``--threshold 0.2``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from sgpc_framework.cli.option_groups import together
from sgpc_framework.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sgpc_framework.model.costs import Costs
    from sgpc_framework.tables import TableClassifier

cost_options = together(
    click.option(
        "--cost",
        "costs",
        multiple=True,
        metavar="LABEL=COST",
        help="What it costs to miss a row of a class, where other mistakes cost 1; TRUE:SAID=COST "
        "is one mistake alone. Predictions are what costs least. May be given more than once.",
    ),
    click.option(
        "--threshold",
        type=click.FloatRange(0.0, 1.0, min_open=True, max_open=True),
        metavar="P",
        help="Of two classes, predict the second where its probability is above P, instead of 0.5.",
    ),
)
"""How a model decides: ``costs`` and ``threshold``."""


def check_costs(costs: Sequence[str], threshold: float | None) -> None:
    """A usage error, before the work, if the options contradict each other."""
    if costs and threshold is not None:
        raise click.UsageError("--cost and --threshold are two ways to say the same: give one")
    for text in costs:
        _cost(text)


def deciding_by(
    classifier: TableClassifier, costs: Sequence[str], threshold: float | None
) -> TableClassifier:
    """The classifier with these costs; as it is if there are none."""
    if threshold is not None:
        return classifier.with_threshold(threshold)
    return classifier.with_costs(named_costs(classifier.classes, costs)) if costs else classifier


def named_costs(classes: NDArray[Any], costs: Sequence[str]) -> Costs:
    """The costs of these classes; ``InputError`` if they name another."""
    from sgpc_framework.model.costs import Costs

    labels = {str(label): label for label in classes.tolist()}
    pairs = map(_cost, costs)
    return Costs.of(classes, {_key(name, labels): cost for name, cost in pairs})


def _cost(text: str) -> tuple[str, float]:
    """What stands before the last sign of equality, and the number behind it."""
    name, _, number = text.rpartition("=")
    try:
        if name:
            return name, float(number)
    except ValueError:
        pass
    raise click.UsageError(f"--cost: wanted LABEL=COST or TRUE:SAID=COST, found {text!r}")


def _key(name: str, labels: dict[str, Any]) -> Any:
    """A label, or a pair of them: labels may have colons, too."""
    if name in labels:
        return labels[name]
    for place in (place for place, letter in enumerate(name) if letter == ":"):
        true, said = name[:place], name[place + 1 :]
        if true in labels and said in labels:
            return labels[true], labels[said]
    known = ", ".join(list(labels)[:10])
    raise InputError(f"--cost: wanted a class ({known}), or two with a colon, found {name!r}")
