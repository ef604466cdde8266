"""``sgpc evaluate``: how good a model is on rows whose labels are known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import click

from sgpc_framework.cli.model_options import open_model, prediction_options, true_labels_option
from sgpc_framework.cli.option_groups import json_option
from sgpc_framework.cli.printing import print_json, print_table


@click.command(name="evaluate")
@prediction_options
@true_labels_option
@json_option
def command(model: Path, data: Path, target: str | None, as_json: bool, **options: Any) -> None:
    """Compare what a model predicts for DATA with the labels that DATA has.

    \b
    log loss           the mean of -log p(true label), in nats; the paper calls it NLP
    cost               of a model that decides by costs: what its decisions cost a row
    error              the share of rows whose predicted label is not their own
    balanced error     the mean of the errors of the classes
    AUC                whether rows of a class get higher probabilities of it than others
    average precision  the mean precision over all thresholds; of two classes, of the second
    Brier score        the mean squared distance of probabilities; it is reliability, which
                       calibrated ones have not, less resolution, plus uncertainty
    calibration error  how far probabilities are from frequencies, in ten bins of equal count

    Each stands beside what needs no model: the class frequencies of the training rows. After a
    figure is its standard error, or its interval of 95 % by the bootstrap. Of more than two
    classes, AUC and average precision are means over the classes, each against the rest.

    \b
    sgpc evaluate species.sgpc test.csv
    """
    from sgpc_framework.metrics.figure_rows import figure_rows
    from sgpc_framework.metrics.predictions import Predictions
    from sgpc_framework.model.classes import class_shares

    classifier, table = open_model(model, data, target, **options)
    fitted = classifier.model
    shares = class_shares(fitted)
    known = Predictions(
        classifier.classes,
        classifier.predict_log_proba(table),
        classifier.codes(table),
        shares,
        fitted.costs,
    )
    merits, matrix = known.merits, known.confusion
    labels = classifier.classes.tolist()
    if as_json:
        results = {
            "basis": len(classifier),
            **attrs.asdict(merits),
            "log_loss": merits.log_loss,
            "noise": attrs.asdict(known.noise),
            "baseline": "rows" if shares is None else "training",
            "classes": labels,
            "confusion": matrix.tolist(),
        }
        print_json(_without_nan(results))
        return
    print_table(
        ["", "the model", "", "to compare with"],
        figure_rows(known),
        title=f"{model} on {data}: {merits.rows} rows, {len(classifier)} basis vectors",
    )
    print_table(
        ["true \\ predicted", *map(str, labels)],
        [[label, *row] for label, row in zip(labels, matrix.tolist(), strict=True)],
        title="\nRows by true and by predicted label",
    )


def _without_nan(value: Any) -> Any:
    """JSON knows no NaN: what the rows do not have is null."""
    if isinstance(value, dict):
        return {key: _without_nan(entry) for key, entry in value.items()}
    return None if isinstance(value, float) and value != value else value
