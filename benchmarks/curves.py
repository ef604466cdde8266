"""Pictures of NLP against processor time, beside the Markdown of the quality benchmark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import attrs

from benchmarks.methods import METHODS, OURS
from benchmarks.standings import Entrant, Standings
from sgpc_framework.plots.style import BLUE, GREEN, ORANGE, PURPLE, QUIET, RED, SKY, dress

BLACK = "#000000"
COLOURS = {
    "svgp": RED,
    "svgp-pll": ORANGE,
    "svgp-batches": RED,
    "svgp-batches-pll": ORANGE,
    "catboost": GREEN,
    "lightgbm": PURPLE,
    "boosting": SKY,
    "svm": QUIET,
    "logistic": BLACK,
}
LEFT_OUT = "paper"
"""So far above all others that their differences could not be seen; tables have it."""

Points = Sequence[tuple[Entrant, float, float]]


@attrs.frozen
class Curves:
    """Draws into files whose names begin like that of ``beside``, or nowhere."""

    beside: Path | None = None

    def of_sets(self, standings: Standings, name: str) -> str | None:
        """Geometric means over the sets that all have finished; the name of the file."""
        entrants = [entrant for entrant in standings.entrants if entrant.method != LEFT_OUT]
        over = standings.shared(entrants)
        if self.beside is None or not over:
            return None
        points = [
            (entrant, *(standings.geometric_mean(entrant, f, over) for f in ("cpu_seconds", "nlp")))
            for entrant in entrants
        ]
        axes = new_figure(1)
        draw(axes[0], points)
        dress(axes[0], "processor seconds of a fit", "test NLP")
        axes[0].legend(frameon=False, fontsize="small")
        axes[0].set_title(
            f"{standings.size} basis vectors or inducing points: "
            f"geometric means over {len(over)} sets",
            loc="left",
            fontsize="medium",
        )
        return self._save(axes, name)

    def of_many_rows(
        self, standings: Standings, least: Mapping[tuple[str, int], float], name: str
    ) -> str | None:
        """One panel for each number of rows: what is lost beside the true probabilities."""
        if self.beside is None:
            return None
        axes = new_figure(len(standings.sets))
        for ax, data in zip(axes, standings.sets, strict=True):
            points = []
            for entrant in standings.entrants:
                scores = standings.scores[data].get(entrant, {})
                if scores and entrant.method != LEFT_OUT:
                    excess = fmean(one.nlp - least[data, p] for p, one in scores.items())
                    took = fmean(one.cpu_seconds for one in scores.values())
                    points.append((entrant, took, excess))
            draw(ax, points)
            ax.set_yscale("log")
            dress(ax, "processor seconds of a fit", "")
            ax.set_title(data, loc="left", fontsize="medium")
        axes[0].set_ylabel("NLP beyond that of the true probabilities")
        axes[-1].legend(frameon=False, fontsize="small")
        return self._save(axes, name)

    def _save(self, axes: Sequence[Any], name: str) -> str:
        from matplotlib import pyplot

        assert self.beside is not None
        path = self.beside.with_name(f"{self.beside.stem}-{name}.png")
        axes[0].figure.savefig(path, dpi=110)
        pyplot.close(axes[0].figure)
        return path.name


def new_figure(panels: int) -> Sequence[Any]:
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    width = 7.2 if panels == 1 else 4.2 * panels
    figure = pyplot.figure(figsize=(width, 4.6), layout="constrained")
    return list(figure.subplots(1, panels, squeeze=False)[0])


def draw(ax: Any, points: Points) -> None:
    """A line for each method that was looked at several times, one for all of ours, and dots."""
    for method in METHODS:
        mine = [(entrant, x, y) for entrant, x, y in points if entrant.method == method]
        if method in OURS or not mine:
            continue
        entrants, x, y = zip(*mine, strict=True)
        steps = ", ".join(str(entrant.budget) for entrant in entrants)
        several = len(mine) > 1
        ax.plot(
            x,
            y,
            "o-" if several else "D",
            ms=5,
            lw=1.4,
            color=COLOURS[method],
            label=f"{method}: {steps} steps" if several else method,
        )
    ours = sorted((x, y, entrant.method) for entrant, x, y in points if entrant.method in OURS)
    if ours:
        x, y, names = zip(*ours, strict=True)
        ax.plot(x, y, "s-", ms=7, lw=2.4, color=BLUE, zorder=5, label="ours")
        for place in zip(names, x, y, strict=True):
            ax.annotate(
                place[0],
                place[1:],
                xytext=(0, -8),
                textcoords="offset points",
                ha="center",
                va="top",
                color=BLUE,
                weight="bold",
                bbox={"facecolor": "white", "alpha": 0.7, "edgecolor": "none", "pad": 1},
            )
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter("{x:g}")
    ax.xaxis.set_minor_formatter("")
    ax.grid(color="#DDDDDD", lw=0.6)
    ax.set_axisbelow(True)
    ax.margins(0.08, 0.12)
