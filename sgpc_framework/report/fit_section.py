"""What was fitted: parts, hyperparameters, iterations and notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import tomli_w

from sgpc_framework.config.provenance import Provenance
from sgpc_framework.model.model import Model
from sgpc_framework.parts.hyperparameters import Hyperparameter, hyperparameters, parts_of
from sgpc_framework.plugin.kinds import own_name as name_of
from sgpc_framework.report.html_tables import number, table
from sgpc_framework.report.markup import Markup, element, join
from sgpc_framework.report.subject import Subject

MOST_HYPERPARAMETERS = 12
"""Beyond so many, one lengthscale a feature say, the others are folded."""


def describe_fit(subject: Subject) -> Markup:
    """The section on what was fitted."""
    models = join(
        _one_model(label if subject.one_for_each else None, model, subject)
        for label, model in subject.models.items()
    )
    text = "Lengthscales are those of the features that the model sees, which are standardised."
    units = element("p", text, class_="quiet") if subject.units is not None else None
    return join([models, units, _configuration(subject.model.provenance)])


def _configuration(provenance: Provenance | None) -> Markup | None:
    """The configuration of the fit, if the model knows it, as a file would have it."""
    if provenance is None:
        return None
    sources = ", ".join(
        sorted({f"{part.distribution} {part.version}" for part in provenance.parts})
    )
    return element(
        "details",
        element("summary", "The configuration of the fit"),
        element("pre", tomli_w.dumps(provenance.config)),
        element("p", f"Its parts come from {sources}.", class_="quiet") if sources else None,
        class_="fold",
    )


def _one_model(label: str | None, model: Model, subject: Subject) -> Markup:
    parts = table(
        ["part", "what"],
        [
            ["kernel", _name_of_part(model.kernel)],
            ["likelihood", _name_of_part(model.likelihood)],
            *_other_parts(model.provenance),
            ["basis vectors", _basis(model)],
            ["outer iterations", _iterations(model)],
        ],
        class_="plain",
    )
    inner = element("div", parts, _hyperparameters(model, subject), class_="columns")
    notes = _notes(model)
    if label is None:
        return join([inner, notes])
    named = f"{_name_of_part(model.kernel)} kernel, {_name_of_part(model.likelihood)} likelihood"
    text = f" against the rest: {len(model)} basis vectors, {named}"
    heading = element("summary", element("b", label), text)
    return element("details", heading, inner, notes, class_="fold")


def _other_parts(provenance: Provenance | None) -> Iterator[list[str]]:
    """The parts that a model does not need to predict."""
    for slot in ("selector", "sites", "objective", "refiner"):
        part = provenance.config.get(slot) if provenance else None
        if isinstance(part, Mapping) and "name" in part:
            yield [slot, str(part["name"])]


def _name_of_part(part: object) -> str:
    names = [str(name_of(type(each)) or type(each).__name__) for each in parts_of(part)]
    return names[0] + (f" of {', '.join(names[1:])}" if names[1:] else "")


def _basis(model: Model) -> str:
    if model.smaller is None:
        return f"{len(model)}; every smaller number is a model too"
    if not model.smaller:
        return f"{len(model)}, refined together"
    others = ", ".join(str(len(one)) for one in model.smaller)
    return f"{len(model)}, refined together; also refined at {others}"


def _iterations(model: Model) -> str:
    iterations = model.trace.iterations
    best = iterations[model.trace.best]
    known = [iteration.seconds for iteration in iterations if iteration.seconds is not None]
    seconds = f" {sum(known):.2g} seconds;" if known else ""  # a file does not say
    kept = f", of which number {best.number} was kept" if len(iterations) > 1 else ""
    return f"{len(iterations)}{kept};{seconds} the stages ended: {best.ended}"


def _hyperparameters(model: Model, subject: Subject) -> Markup:
    rows = [list(row) for row in _rows(model, subject)]
    if not rows:
        return element("p", "No hyperparameters.", class_="quiet")
    shown = table(["hyperparameter", "value"], rows[:MOST_HYPERPARAMETERS], class_="plain")
    rest = rows[MOST_HYPERPARAMETERS:]
    if not rest:
        return element("div", shown)
    folded = element(
        "details",
        element("summary", f"{len(rest)} more"),
        table(["hyperparameter", "value"], rest, class_="plain"),
    )
    return element("div", shown, folded)


def _rows(model: Model, subject: Subject) -> Iterator[tuple[Any, Any]]:
    for slot, part in (("kernel", model.kernel), ("likelihood", model.likelihood)):
        tunable = hyperparameters(part)
        lengths = Counter(each.list_path for each in tunable)
        for each in tunable:
            name = f"{slot}.{each.path}"
            if each.position is not None:
                of = _belongs_to(each, lengths[each.list_path], subject.names)
                name = f"{slot}.{each.list_path} of {of}" if of else name
            at_bound = " (at its bound)" if each.value in each.bounds else ""
            yield name, f"{number(each.value)}{at_bound}"


def _belongs_to(number: Hyperparameter, length: int, names: Sequence[str]) -> str:
    """The feature, or the two, whose number it is in a list of that length; empty if of none."""
    position = number.position or 0
    if number.each == "feature" and length == len(names):
        return names[position]
    if number.each == "pair of features" and length == len(names) ** 2:
        return f"{names[position // len(names)]} in {names[position % len(names)]}"
    return ""


def _notes(model: Model) -> Markup | None:
    if not model.trace.notes:
        return None
    items = join(element("li", note) for note in model.trace.notes)
    return element("div", element("h3", "Notes of the fit"), element("ul", items), class_="notes")
