"""The page: sections in order, one style, one script, and no way out to any network."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from sgpc_framework.plots import (
    along_stages,
    calibration_curve,
    decision_regions,
    feature_relevance,
    probability_histogram,
)
from sgpc_framework.plots.style import SERIES, colour
from sgpc_framework.report.facts import facts
from sgpc_framework.report.markup import Markup, element, embedded, joined, void
from sgpc_framework.report.pictures import picture, raster
from sgpc_framework.report.player import can_be_played, reel
from sgpc_framework.report.subject import MOST_STAGED_ROWS, Subject, Units
from sgpc_framework.report.tables import (
    basis_table,
    confusion_table,
    percent,
    surprise_table,
)

MOST_NAMED_CLASSES = 4


def page(subject: Subject, title: str | None = None) -> str:
    """The whole document."""
    style, script = _asset("report.css"), _asset("report.js")
    name = title or _title(subject)
    head = element(
        "head",
        void("meta", charset="utf-8"),
        void("meta", http_equiv="Content-Security-Policy", content=_policy(script)),
        void("meta", name="viewport", content="width=device-width, initial-scale=1"),
        void("meta", name="color-scheme", content="light dark"),
        void("meta", name="generator", content=f"sgpc-framework {version('sgpc-framework')}"),
        element("title", name),
        element("style", Markup(style)),
    )
    sections = list(_sections(subject))
    links = joined(
        element("a", heading, href=f"#{id_}") for id_, heading, _ in sections if heading is not None
    )
    body = element(
        "body",
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
                for id_, heading, content in sections
            ),
        ),
        element(
            "footer",
            f"Made by sgpc-framework {version('sgpc-framework')}. This page is complete in itself: "
            "it asks no network for anything.",
        ),
        element("script", Markup(script)),
    )
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


def _title(subject: Subject) -> str:
    names = subject.classes
    if len(names) > MOST_NAMED_CLASSES:
        return f"A classifier of {len(names)} classes"
    return f"A classifier of {', '.join(names[:-1])} and {names[-1]}"


def _summary(subject: Subject) -> str:
    sizes = [len(model) for model in subject.models.values()]
    basis = f"{sizes[0]} basis vectors,"
    if subject.many:
        basis = f"{sum(sizes)} basis vectors, {min(sizes)} to {max(sizes)} a class,"
        if min(sizes) == max(sizes):
            basis = f"{sum(sizes)} basis vectors, {sizes[0]} for each of {len(sizes)} classes,"
    return (
        f"A sparse Gaussian process classifier with {basis} judged here by "
        f"{subject.merits.rows} rows. Where these were used to fit it, expect it to do less well "
        "on others."
    )


def _cards(subject: Subject) -> Markup:
    merits = subject.merits
    cards = [
        ("Error", percent(merits.error), f"always the same class: {percent(merits.constant)}"),
        ("NLP, nats", f"{merits.nlp:.3f}", f"equal odds, a coin: {merits.coin:.3f}"),
        (
            "Calibration error",
            percent(merits.expected_calibration_error),
            "between said and observed, on average",
        ),
        (
            "Basis vectors",
            str(sum(len(model) for model in subject.models.values())),
            f"{merits.rows} rows judge it",
        ),
    ]
    return element(
        "dl",
        *(
            element("div", element("dt", name), element("dd", value), element("small", beside))
            for name, value, beside in cards
        ),
        class_="cards",
    )


# ---------------------------------------------------------------------------------------------
# The sections


def _sections(subject: Subject) -> Iterator[tuple[str, str, Markup]]:
    yield "fitted", "What was fitted", facts(subject)
    if can_be_played(subject):
        yield "plane", "Stage by stage", _plane(subject)
    yield "stages", "Loss and error", _stages(subject)
    yield "calibration", "Probabilities", _probabilities(subject)
    yield "confusion", "Right and wrong", _right_and_wrong(subject)
    if subject.spread_in_lengthscales is not None:
        yield "features", "Features that matter", _features(subject)
    yield "basis", "Basis vectors", _basis(subject)


def _text(text: str) -> Markup:
    return element("p", text)


def _plane(subject: Subject) -> Markup:
    found = reel(subject)
    sizes, whole = found.sizes, subject.model.sizes
    moves = "at the sizes it was refined at" if subject.refined else "as the basis vectors join"
    text = (
        f"The classifier {moves}. The stronger the colour, the further a class leads; the line is "
        "where the prediction changes. Numbers are basis vectors in the order in which they came"
        + (", in the colour of the class whose model they belong to. " if subject.many else ". ")
    )
    if len(sizes) < len(whole):
        text += f"Of {len(whole)} sizes, {len(sizes)} are shown. "
    if found.points < len(subject.y):
        text += f"Of {len(subject.y)} rows, {found.points} are drawn."
    rows = subject.sample(found.points)
    X, y = subject.X[rows], subject.y[rows]

    def draw(ax: Any) -> None:
        decision_regions(subject.model, X, y, ax, feature_names=subject.names)
        _in_units(ax, subject.units)

    last = raster(
        draw,
        "Decision regions of the whole model, with its basis vectors",
        5.6,
        4.2,
    )
    return joined(
        [
            _text(text),
            element("div", last, class_="still"),
            _player(subject, len(sizes)),
            embedded(found.data, "reel"),
        ]
    )


def _in_units(ax: Any, units: Units | None) -> None:
    """Ticks in the units that people know, where the model has others."""
    if units is None:
        return
    from matplotlib.ticker import MaxNLocator

    for axis, limits, centre, scale in zip(
        (ax.xaxis, ax.yaxis), (ax.get_xlim(), ax.get_ylim()), units.centre, units.scale, strict=True
    ):
        low, high = (centre + scale * limit for limit in limits)
        ticks = [tick for tick in MaxNLocator(7).tick_values(low, high) if low <= tick <= high]
        places = [(tick - centre) / scale for tick in ticks]
        axis.set_ticks(places, labels=[f"{tick:g}" for tick in ticks])


def _player(subject: Subject, frames: int) -> Markup:
    legend = element(
        "ul",
        *(
            element("li", element("i", "", style=f"--c:{colour(position)}"), name)
            for position, name in enumerate(subject.classes)
        ),
        class_="legend",
    )
    controls = element(
        "div",
        element("button", "Play", type="button", id_="play"),
        void(
            "input",
            type="range",
            id_="stage",
            min=1,
            max=frames,
            value=frames,
            step=1,
            aria_label="Number of basis vectors",
        ),
        class_="controls",
    )
    return element(
        "div",
        legend,
        element("canvas", "", id_="plane-canvas", role="img", aria_labelledby="said"),
        controls,
        element("p", "", id_="said", class_="said", aria_live="polite"),
        class_="player",
        id_="player",
        hidden=True,
    )


def _stages(subject: Subject) -> Markup:
    rows = subject.sample(MOST_STAGED_ROWS)
    X, y = subject.X[rows], subject.y[rows]
    drawn = picture(
        lambda ax: along_stages(subject.model, X, y, ax),
        "Loss and error against the number of basis vectors",
        5.4,
        3.5,
    )
    if subject.many:
        text = (
            "Each class has a model that tells it from the rest; the thin lines are their "
            "losses in training. "
        )
    else:
        text = (
            "The training error never exceeds NLP / log 2, so the loss, read on the left, is a "
            "bound on it; on the right it is in nats. "
        )
    if subject.refined:
        text += (
            "The stages are the path before the model was refined, and not what it is now: "
            "refining changed sites and hyperparameters together. The rows of this report are "
            f"judged by the refined model, in the sizes it has: {_listed(subject.model.sizes)}. "
        )
    text += "Lines labelled held out are the rows of this report" + (
        f", {len(rows)} of them drawn at random." if len(rows) < len(subject.y) else "."
    )
    return joined([_text(text), drawn])


def _listed(sizes: tuple[int, ...]) -> str:
    return ", ".join(map(str, sizes))


def _probabilities(subject: Subject) -> Markup:
    kind = "whose most probable class" if subject.many else f"for which {subject.classes[1]}"
    text = (
        f"First, whether probabilities mean what they say: of the rows {kind} was given 80 %, "
        "eight in ten should be of that class. The band is where a calibrated model would "
        "be, nineteen times in twenty. Then, how many rows got which probability"
        + (", by their true class." if len(subject.classes) <= len(SERIES) else ".")
    )
    model, X, y = subject.model, subject.X, subject.y
    curve = picture(lambda ax: calibration_curve(model, X, y, ax), "Calibration curve", 3.8, 4.0)
    bars = picture(
        lambda ax: probability_histogram(model, X, y, ax), "Histogram of probabilities", 3.8, 4.0
    )
    return joined([_text(text), element("div", curve, bars, class_="columns")])


def _right_and_wrong(subject: Subject) -> Markup:
    return joined(
        [
            confusion_table(subject),
            element("h3", "The greatest surprises"),
            _text(
                "Rows whose own class had the least probability: mistakes of the model, or labels "
                f"that deserve a second look. Rows are counted from {subject.first_row}."
            ),
            surprise_table(subject),
        ]
    )


def _features(subject: Subject) -> Markup:
    shown = min(len(subject.names), 20)
    drawn = picture(
        lambda ax: feature_relevance(subject.model, subject.X, ax, feature_names=subject.names),
        "How much each feature matters",
        5.4,
        1.0 + 0.26 * shown,
    )
    text = (
        "The kernel has one lengthscale for each feature: how far one has to go along it for the "
        "function to change. Shown is the standard deviation of the feature in lengthscales. The "
        "model hardly looks at features far below the others."
    )
    return joined([_text(text), drawn])


def _basis(subject: Subject) -> Markup:
    text = (
        "What the classifier remembers of its training rows, in the order in which they came. "
        "Site mean and precision say what each asks of the latent function, and how firmly."
    )
    if subject.refined:
        text += " Refining may have moved them from the training rows they began at."
    if subject.units is not None:
        text += " Features are in the units of the data."
    return joined([_text(text), basis_table(subject)])
