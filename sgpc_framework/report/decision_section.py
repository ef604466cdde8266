"""What a reader can decide with the model: a threshold, what mistakes cost, and what follows."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import attrs
import numpy as np

from sgpc_framework.metrics.decision_curves import THRESHOLDS, DecisionCurve, own_threshold
from sgpc_framework.model.costs import label_position
from sgpc_framework.report.confusion_tables import confusion_table, taken_for_table
from sgpc_framework.report.html_tables import percent, table
from sgpc_framework.report.markup import Markup, element, embed, join, void
from sgpc_framework.report.subject import Subject

MOST_WATCHED = 20
"""The most classes that the page lets one look for: of more, the most frequent."""
ON_PAPER = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


def decisions(subject: Subject) -> Markup:
    """The section: the decisions of the model, and the way to others.

    Of two classes, the confusion is among the controls, which move it.
    """
    return join(
        [
            element("p", _by_what(subject)),
            join(_as_decided(subject))
            if subject.many
            else element("div", *_as_decided(subject), class_="still"),
            element("h3", "Another threshold, other costs"),
            *_other_decisions(subject),
        ]
    )


def _as_decided(subject: Subject) -> Iterator[Markup]:
    yield element(
        "p",
        "Rows of this table are true classes, columns are what the model said; the stronger a "
        "cell, the larger its share of the true class.",
    )
    yield confusion_table(subject)
    if subject.many:
        yield element("h3", "Class by class")
        yield taken_for_table(subject)


def _by_what(subject: Subject) -> str:
    costs, names = subject.model.costs, subject.classes
    if costs is None:
        text = "The model says the class that is most probable."
    elif costs.threshold is not None:
        text = f"The model says {names[1]} where its probability is above {costs.threshold:.3g}."
    else:
        text = "The model says the class that costs least."
    if costs is not None and costs.target is not None:
        text += f" That was chosen for a target: {costs.target}."
    return text


def _other_decisions(subject: Subject) -> Iterator[Markup]:
    choices = Choices(subject)
    watched = choices.watched
    name = subject.classes[watched]
    several = (
        ", as a share of it and of the most probable other class together," if subject.many else ""
    )
    yield element(
        "p",
        f"A row is said to be of a class where its probability{several} is above a threshold. "
        "If missing a row of the class costs M and a false alarm A, the decisions that cost least "
        "have the threshold A / (A + M): so far as the probabilities can be believed, which the "
        "next section shows.",
    )
    yield element(
        "div",
        element("p", f"What follows for {name}:"),
        _paper_table(choices.curves[watched]),
        class_="still",
    )
    yield _controls(choices)
    yield embed(choices.as_data(), "choices")


@attrs.frozen(eq=False, slots=False)
class Choices:
    """The decision curves of the classes that can be looked for."""

    subject: Subject

    @cached_property
    def positions(self) -> list[int]:
        """The classes: all of them, or the most frequent."""
        counts = np.bincount(self.subject.truth, minlength=len(self.subject.classes))
        order = np.argsort(-counts, kind="stable")[:MOST_WATCHED]
        return sorted(int(position) for position in order)

    @cached_property
    def starts(self) -> dict[int, float]:
        """Where the model has its threshold for each class."""
        return {k: own_threshold(self.subject.model.costs, k) for k in self.positions}

    @cached_property
    def watched(self) -> int:
        """The class of the target, or the one that is worst to miss, or the rarest of the rows."""
        costs, truth = self.subject.model.costs, self.subject.truth
        if costs is not None and costs.target is not None:
            named = label_position(self.subject.model.classes, costs.target.label)
            if named in self.positions:
                return named
        counts = np.bincount(truth, minlength=len(self.subject.classes))
        return min(self.positions, key=lambda k: (self.starts[k], counts[k] or len(truth), -k))

    @cached_property
    def curves(self) -> dict[int, DecisionCurve]:
        """The curve of each class."""
        thresholds = np.unique(np.round([*THRESHOLDS, *self.starts.values()], 6))
        known = self.subject.predictions
        return {
            k: DecisionCurve.of(known.log_proba, known.truth, k, thresholds) for k in self.positions
        }

    def as_data(self) -> dict[str, Any]:
        """What the script of the page needs."""
        curves = self.curves
        return {
            "thresholds": curves[self.watched].thresholds.tolist(),
            "watched": self.positions.index(self.watched),
            "classes": [self._class(k, curve) for k, curve in curves.items()],
        }

    def _class(self, position: int, curve: DecisionCurve) -> dict[str, Any]:
        label = self.subject.model.classes.tolist()[position]
        start = self.starts[position]
        return {
            "name": self.subject.classes[position],
            "other": "another" if self.subject.many else self.subject.classes[1 - position],
            "option": shlex.quote(f"{label}="),
            "literal": repr(label),
            "rows": [curve.own_rows, curve.other_rows],
            "own": curve.own.tolist(),
            "others": curve.others.tolist(),
            "start": round(start, 6),
            "miss": float(f"{(1.0 - start) / start:.3g}"),
        }


def _paper_table(curve: DecisionCurve) -> Markup:
    """Some thresholds as a table, where no script runs."""
    rows = []
    for wanted in ON_PAPER:
        place = int(np.abs(curve.thresholds - wanted).argmin())
        said = int(curve.own[place] + curve.others[place])
        wrong = curve.own_rows - curve.own[place] + curve.others[place]
        precision = curve.precision[place]
        rows.append(
            [
                f"{wanted:g}",
                said,
                percent(float(curve.recall[place])) if curve.own_rows else "-",
                percent(float(precision)) if said else "-",
                percent(float(curve.specificity[place])) if curve.other_rows else "-",
                percent(float(wrong) / (curve.own_rows + curve.other_rows)),
            ]
        )
    heads = ["threshold", "rows said", "found (recall)", "right (precision)"]
    return table([*heads, "others left alone (specificity)", "wrong"], rows)


def _controls(choices: Choices) -> Markup:
    names = choices.subject.classes
    options = [
        element("option", names[k], value=place, selected=k == choices.watched)
        for place, k in enumerate(choices.positions)
    ]

    def cost(text: str, id_: str) -> Markup:
        entry = void("input", type="number", id_=id_, min=0, step="any", value=1)
        return element("label", f"{text} ", entry)

    left_out = len(names) - len(choices.positions)
    return element(
        "div",
        element(
            "div",
            element("label", "Look for ", element("select", *options, id_="watched")),
            cost("Missing one costs", "miss"),
            cost("A false alarm costs", "alarm"),
            class_="fields",
        ),
        element(
            "div",
            element("label", "Threshold", for_="threshold"),
            void("input", type="range", id_="threshold", min=0, max=1, step=1),
            element("output", "", id_="at", for_="threshold"),
            class_="controls",
        ),
        element(
            "div",
            element("div", "", id_="follows"),
            element("figure", "", id_="cost-curve"),
            class_="columns",
        ),
        element("p", "", id_="decided", aria_live="polite"),
        element("p", "To keep it: ", element("code", "", id_="keep"), class_="quiet"),
        element("p", f"{left_out} rarer classes are left out here.", class_="quiet")
        if left_out
        else None,
        class_="decider",
        id_="decider",
        hidden=True,
    )
