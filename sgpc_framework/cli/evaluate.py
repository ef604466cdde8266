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
    error              the share of rows whose most probable label is not their own
    NLP                the mean negative log probability of the true labels, in nats
    calibration error  how far probabilities are from frequencies, on average over ten bins

    \b
    sgpc evaluate species.sgpc test.csv
    """
    from sgpc_framework.metrics.merits import Merits, confusion

    classifier, table = open_model(model, data, target, **options)
    truth = classifier.codes(table)
    log_proba = classifier.predict_log_proba(table)
    merits, matrix = Merits.of(log_proba, truth), confusion(log_proba, truth)
    labels = classifier.classes.tolist()
    if as_json:
        results = {
            "basis": len(classifier),
            **attrs.asdict(merits),
            "classes": labels,
            "confusion": matrix.tolist(),
        }
        print_json(results)
        return
    always = f"always {labels[int(matrix.sum(axis=1).argmax())]}"
    print_table(
        ["", "the model", "to compare with"],
        [
            [
                "error",
                f"{100 * merits.error:.1f} %",
                f"{always}: {100 * merits.constant:.1f} %",
            ],
            ["NLP", f"{merits.nlp:.4f}", f"even odds: {merits.coin:.4f}"],
            ["calibration error", f"{merits.expected_calibration_error:.4f}", "perfect: 0"],
        ],
        title=f"{model} on {data}: {merits.rows} rows, {len(classifier)} basis vectors",
    )
    print_table(
        ["true \\ predicted", *map(str, labels)],
        [[label, *row] for label, row in zip(labels, matrix.tolist(), strict=True)],
        title="\nRows by true and by predicted label",
    )
