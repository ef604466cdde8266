"""``sgpc decide``: another way to decide for a model that is fitted already."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sgpc_framework.cli.cost_options import check_costs, cost_options, deciding_by
from sgpc_framework.cli.model_options import open_classifier, open_model, true_labels_option
from sgpc_framework.cli.printing import OutputPath, check_output, echo
from sgpc_framework.cli.table_options import reading_options

if TYPE_CHECKING:
    from sgpc_framework.tables import TableClassifier


def _share(name: str, what: str) -> Callable[[Any], Any]:
    kind = click.FloatRange(0.0, 1.0, min_open=True)
    return click.option(f"--{name}", type=kind, metavar="SHARE", help=what)


@click.command(name="decide")
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("data", type=click.Path(path_type=Path), required=False)
@click.option(
    "-o",
    "--output",
    type=OutputPath(),
    required=True,
    metavar="MODEL",
    help="The model file to write.",
)
@cost_options
@_share("recall", "The least share of the rows of a class that are to be found.")
@_share("precision", "The least share of rows said to be of a class that are to be of it.")
@_share("specificity", "The least share of other rows that are not to be said to be of the class.")
@click.option("--label", metavar="LABEL", help="That class: of two, the second unless it is said.")
@true_labels_option
@reading_options
def command(
    model: Path,
    data: Path | None,
    output: Path,
    costs: tuple[str, ...],
    threshold: float | None,
    label: str | None,
    target: str | None,
    **options: Any,
) -> None:
    """Write a MODEL that decides by costs, by a threshold, or so that a target is reached.

    Probabilities stay as they are. A target needs DATA with labels, which the fit should not have
    seen. With no option at all, the most probable class is predicted again.

    \b
    sgpc decide loans.sgpc --cost bad=5 -o careful.sgpc
    sgpc decide loans.sgpc held-out.csv --recall 0.9 --label bad -o careful.sgpc
    """
    from sgpc_framework.model.costs import TARGETS

    measures = {name: options.pop(name) for name in TARGETS}
    measure = {name: share for name, share in measures.items() if share is not None}
    check_costs(costs, threshold)
    if len(measure) + bool(costs) + (threshold is not None) > 1:
        raise click.UsageError(
            "wanted one way to decide: --cost, --threshold, --recall, --precision or --specificity"
        )
    check_output(output, model, *([] if data is None else [data]))
    if not measure:
        classifier = open_classifier(model, None, None, options["trust"]).with_costs(None)
        changed = deciding_by(classifier, costs, threshold)
    elif data is None:
        raise click.UsageError(f"--{next(iter(measure))} needs DATA, rows with labels to reach it")
    else:
        classifier, table = open_model(model, data, target, size=None, unseen=None, **options)
        changed = classifier.with_target(table, label=_label(classifier, label), **measure)
    changed.save(output)
    echo(f"{_decision(changed)}\nwritten to {output}")


def _label(classifier: TableClassifier, text: str | None) -> Any:
    return {str(label): label for label in classifier.classes.tolist()}.get(text or "", text)


def _decision(classifier: TableClassifier) -> str:
    costs = classifier.model.costs
    if costs is None:
        return "predicts the most probable class"
    lines = []
    if costs.threshold is not None:
        second = classifier.classes.tolist()[1]
        lines.append(f"predicts {second} where its probability is above {costs.threshold:.4g}")
    else:
        lines.append("predicts what costs least")
    if costs.target is not None:
        lines.append(str(costs.target))
    return "\n".join(lines)
