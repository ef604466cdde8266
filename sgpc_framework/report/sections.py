"""What a report has to say, section by section."""

from __future__ import annotations

from collections.abc import Iterator

from sgpc_framework.plots import feature_relevance
from sgpc_framework.plots.calibration import draw_calibration
from sgpc_framework.plots.importance_bars import draw_importance
from sgpc_framework.plots.loss_and_error import draw_stages
from sgpc_framework.plots.probabilities import draw_histogram
from sgpc_framework.plots.style import SERIES
from sgpc_framework.report.decision_section import decisions
from sgpc_framework.report.fit_section import describe_fit
from sgpc_framework.report.html_tables import basis_table, figure_table, percent
from sgpc_framework.report.markup import Markup, element, join
from sgpc_framework.report.pictures import picture
from sgpc_framework.report.plane import has_plane, stage_player
from sgpc_framework.report.subject import MOST_STAGED_ROWS, Subject
from sgpc_framework.report.surprises import surprises


def each_section(subject: Subject) -> Iterator[tuple[str, str, Markup]]:
    """Anchor, heading and content of each section: what one decides by first, machinery last."""
    if has_plane(subject):
        yield "plane", "Stage by stage", stage_player(subject)
    yield "decisions", "Decisions", decisions(subject)
    yield "calibration", "Probabilities", _probabilities(subject)
    yield "surprises", "The greatest surprises", surprises(subject)
    if subject.vectors:
        yield "columns", "Columns that matter", _columns(subject)
    yield "figures", "All figures of merit", _figures(subject)
    if not subject.of_one_size:
        yield "stages", "Loss and error by size", _stages(subject)
    yield "fitted", "What was fitted", join([describe_fit(subject), *_lengthscales(subject)])
    yield "basis", "Basis vectors", _basis(subject)


def _figures(subject: Subject) -> Markup:
    text = (
        "Log loss is the mean of -log p(true label), which the paper calls NLP. Each figure stands "
        "beside what needs no model: the class frequencies of the training rows. The Brier score "
        "is reliability, which calibrated probabilities do not have, less resolution, what the "
        "model knows beyond the frequencies, plus uncertainty, which is that of the rows. "
    )
    if subject.many:
        text += "AUC and average precision are means over the classes, each beside all others. "
    if subject.predictions.shares is None:
        text += "This file does not say how frequent the classes were in training. "
    return join([element("p", text), figure_table(subject)])


def _stages(subject: Subject) -> Markup:
    rows = subject.sample(MOST_STAGED_ROWS)
    drawn = picture(
        lambda ax: draw_stages(subject.model, subject.staged_merits, ax),
        "Loss and error against the number of basis vectors",
        5.4,
        3.5,
    )
    if subject.one_for_each:
        text = (
            "Each class has a model that tells it from the rest; the thin lines are their "
            "losses in training. "
        )
    else:
        text = (
            "The training error never exceeds log loss / log 2, so the loss, read on the left, "
            "is a bound on it; on the right it is in nats. "
        )
    if subject.refined:
        text += (
            "The stages are the path before the model was refined, and not what it is now: "
            "refining changed sites and hyperparameters together. The rows of this report are "
            f"judged by the refined model, in the sizes it has: {_list(subject.model.sizes)}. "
        )
    if subject.model.costs is not None:
        text += "Errors are those of the most probable class, whatever it costs. "
    text += "Lines labelled held out are the rows of this report" + (
        f", {len(rows)} of them drawn at random." if len(rows) < len(subject.y) else "."
    )
    return join([element("p", text), drawn])


def _list(sizes: tuple[int, ...]) -> str:
    return ", ".join(map(str, sizes))


def _probabilities(subject: Subject) -> Markup:
    kind = "whose most probable class" if subject.many else f"for which {subject.classes[1]}"
    text = (
        "First, whether probabilities mean what they say: of the rows "
        f"{kind} was given {percent(0.8)}, eight in ten should be of that class. The band is where "
        "a calibrated model would be, nineteen times in twenty. Then, how many rows got which "
        "probability" + (", by their true class." if len(subject.classes) <= len(SERIES) else ".")
    )
    known = subject.predictions
    curve = picture(lambda ax: draw_calibration(known, ax), "Calibration curve", 3.8, 4.0)
    bars = picture(lambda ax: draw_histogram(known, ax), "Histogram of probabilities", 3.8, 4.0)
    return join([element("p", text), element("div", curve, bars, class_="columns")])


def _columns(subject: Subject) -> Markup:
    found, rows = subject.importances, len(subject.sample(subject.judged_by_columns))
    bars = picture(
        lambda ax: draw_importance(found, ax),
        "By how much the log loss rises without each column",
        5.4,
        1.0 + 0.26 * min(len(found), 20),
    )
    text = (
        "What the model gets from each column: by how many nats the log loss of "
        f"{rows} rows of this report rises when the column is permuted, which leaves it nothing to "
        "tell. The lines are two standard errors either way, over rows and repeats: where one "
        "reaches zero, the column may be worth nothing. Columns that say the same stand in for "
        "each other, so that each of them seems to matter less."
    )
    return join([element("p", text), bars])


def _lengthscales(subject: Subject) -> Iterator[Markup]:
    if subject.spread_in_lengthscales is None:
        return
    yield element("h3", "Lengthscales")
    yield element(
        "p",
        "The kernel has one lengthscale for each feature: how far one has to go along it for the "
        "function to change. Shown is the standard deviation of the feature in lengthscales. That "
        "is how fast the function changes, and not what the feature is worth: a function may turn "
        "fast where there are no rows, or where nothing hangs on it.",
    )
    yield picture(
        lambda ax: feature_relevance(subject.model, subject.X, ax, feature_names=subject.names),
        "The standard deviation of each feature in lengthscales",
        5.4,
        1.0 + 0.26 * min(len(subject.names), 20),
    )


def _basis(subject: Subject) -> Markup:
    text = (
        "What the classifier remembers of its training rows, in the order in which they came. "
        "Site mean and precision say what each asks of the latent function, and how firmly."
    )
    if subject.many and not subject.one_for_each:
        text += (
            " Every class has a latent function; shown is the class whose function a basis vector "
            "asks to be highest."
        )
    if subject.refined:
        text += " Refining may have moved them from the training rows they began at."
    if subject.units is not None:
        text += " They are shown as rows of the table."
    return join([element("p", text), basis_table(subject)])
