"""The page: its beginning, its sections, one style, one script, and no way out to any network."""

from __future__ import annotations

import base64
import hashlib
from importlib.metadata import version
from importlib.resources import files

import numpy as np

from sgpc_framework.metrics.figure_rows import figure_rows
from sgpc_framework.report.html_tables import percent
from sgpc_framework.report.markup import Markup, element, join, void
from sgpc_framework.report.sections import each_section
from sgpc_framework.report.subject import Subject

MOST_NAMED_CLASSES = 4


def document(subject: Subject, title: str | None = None, *, target: str = "") -> str:
    """The whole document."""
    script = _asset("report.js")
    name = title or _title(subject, target)
    shown = list(each_section(subject))
    links = join(element("a", heading, href=f"#{id_}") for id_, heading, _ in shown)
    return standalone(
        name,
        element(
            "header",
            element("h1", name),
            element("p", _summary(subject), class_="lead"),
            _cards(subject),
            element("nav", links, aria_label="Sections"),
        ),
        element(
            "main",
            *(
                element("section", element("h2", heading), content, id_=id_)
                for id_, heading, content in shown
            ),
        ),
        script=script,
    )


def standalone(title: str, *content: Markup, script: str = "") -> str:
    """An HTML document of this content, in the style of a report, with at most one script."""
    head = element(
        "head",
        void("meta", charset="utf-8"),
        void("meta", http_equiv="Content-Security-Policy", content=_policy(script)),
        void("meta", name="viewport", content="width=device-width, initial-scale=1"),
        void("meta", name="color-scheme", content="light dark"),
        void("meta", name="generator", content=f"sgpc-framework {version('sgpc-framework')}"),
        element("title", title),
        element("style", Markup(_asset("report.css"))),
    )
    footer = element(
        "footer",
        f"Made by sgpc-framework {version('sgpc-framework')}. This page is complete in itself: "
        "it asks no network for anything.",
    )
    run = element("script", Markup(script)) if script else None
    body = element("body", *content, footer, run)
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"


def _asset(name: str) -> str:
    return files("sgpc_framework.report").joinpath("assets", name).read_text(encoding="utf-8")


def _policy(script: str) -> str:
    """Nothing may be loaded, and no script may run but the one of this page."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


# ---------------------------------------------------------------------------------------------
# The beginning


def _title(subject: Subject, target: str) -> str:
    names = subject.classes
    if target:
        if len(names) > MOST_NAMED_CLASSES:
            return f"{target}: one of {len(names)} classes"
        return f"{target}: {', '.join(names[:-1])} or {names[-1]}"
    if len(names) > MOST_NAMED_CLASSES:
        return f"A classifier of {len(names)} classes"
    return f"A classifier of {', '.join(names[:-1])} and {names[-1]}"


def _summary(subject: Subject) -> str:
    sizes = [len(model) for model in subject.models.values()]
    basis = f"{sizes[0]} basis vectors,"
    if subject.one_for_each:
        basis = f"{sum(sizes)} basis vectors, {min(sizes)} to {max(sizes)} a class,"
        if min(sizes) == max(sizes):
            basis = f"{sum(sizes)} basis vectors, {sizes[0]} for each of {len(sizes)} classes,"
    return (
        f"A sparse Gaussian process classifier with {basis} judged here by "
        f"{subject.merits.rows} rows. Where these were used to fit it, expect it to do less well "
        "on others."
    )


def _cards(subject: Subject) -> Markup:
    merits, noise = subject.merits, subject.predictions.noise
    cards = [
        (
            "Log loss, nats",
            f"{merits.log_loss:.3f}",
            f"± {noise.log_loss:.3f}, class frequencies alone: {merits.baseline_log_loss:.3f}",
        ),
        (
            "Error",
            percent(merits.error),
            f"± {percent(noise.error)}, always the same class: {percent(merits.baseline_error)}",
        ),
        (
            "Calibration error",
            percent(merits.calibration_error),
            f"a calibrated model, by chance: {percent(noise.calibration_by_chance)}",
        ),
    ]
    if subject.model.costs is not None:
        first = figure_rows(subject.predictions)[0]
        beside = f"{first.noise}, {first.beside}" if first.noise else first.beside
        cards.insert(0, (f"{first.name[0].upper()}{first.name[1:]}", first.value, beside))
    elif not np.isnan(merits.auc):
        between = f"{noise.auc.low:.3f} to {noise.auc.high:.3f}, by chance: 0.5"
        cards.append(("AUC", f"{merits.auc:.3f}", between))
    return element(
        "dl",
        *(
            element("div", element("dt", name), element("dd", value), element("small", beside))
            for name, value, beside in cards
        ),
        class_="cards",
    )
