"""Two features on a plane: stages that the script of the page plays, or the last as a picture."""

from __future__ import annotations

from typing import Any

from sgpc_framework.plots import decision_regions
from sgpc_framework.plots.style import colour
from sgpc_framework.report.frames import reel
from sgpc_framework.report.markup import Markup, element, embed, join, void
from sgpc_framework.report.pictures import raster
from sgpc_framework.report.subject import Subject, Units


def has_plane(subject: Subject) -> bool:
    """Whether there is a plane to draw, and something on it."""
    return subject.vectors and subject.X.shape[1] == 2 and len(subject.model) > 0


def stage_player(subject: Subject) -> Markup:
    """The player, the picture that stands for it where no script runs, and what they show."""
    stages = reel(subject)
    sizes = stages.sizes
    several = subject.refined and not subject.of_one_size
    moves = "at the sizes it was refined at" if several else "as the basis vectors join"
    text = (
        f"The classifier {moves}. The stronger the colour, the further a class "
        "leads; the line is where the most probable class changes. Numbers are basis vectors in "
        "the order in which they came"
        + (
            ", in the colour of the class whose model they belong to. "
            if subject.one_for_each
            else ". "
        )
    )
    if subject.of_one_size:
        text += (
            "A refiner has fitted them to work together: the first of them alone are a part of "
            "this model, and not the best one of their size. "
        )
    if len(sizes) < stages.of:
        text += f"Of {stages.of} sizes, {len(sizes)} are shown. "
    if stages.points < len(subject.y):
        text += f"Of {len(subject.y)} rows, {stages.points} are drawn."
    rows = subject.sample(stages.points)
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
    return join(
        [
            element("p", text),
            element("div", last, class_="still"),
            _player(subject, len(sizes)),
            embed(stages.data, "reel"),
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
        hidden=frames == 1,
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
