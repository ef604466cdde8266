"""The paper's timing claims: one inner loop of each selection method, in turns."""

from __future__ import annotations

import os
import platform
from statistics import median
from typing import Any

import attrs

from sgpc_framework.design import Design, build
from sgpc_framework.lab.cells import data_of, digest_of
from sgpc_framework.lab.data_sources import PaperSet, Source
from sgpc_framework.lab.identities import identity_of
from sgpc_framework.lab.methods import ENTROPY, GAIN, VALIDATION, Method, adaptive, method
from sgpc_framework.lab.timed_fit import TimedFit

TURNS = 7
TIMED = (ENTROPY, GAIN, adaptive(1), adaptive(2), VALIDATION)


@attrs.frozen
class InnerLoops:
    """Seconds of one inner loop, the methods in turns, a ``running.Job``; not beside others."""

    data: str
    size: int
    rows: int | None = None
    turns: int = attrs.Factory(lambda: TURNS)
    recipes: tuple[Method, ...] = attrs.Factory(lambda: tuple(map(method, TIMED)))
    origin: Source = attrs.field(eq=False, repr=False, kw_only=True)

    @origin.default
    def _origin(self) -> Source:
        return PaperSet(self.data)

    def __str__(self) -> str:
        return f"{self.data}: inner loops of {self.size} stages"

    @property
    def identity(self) -> dict[str, Any]:
        designs = {name: identity_of(each.config) for name, each in self._designs().items()}
        machine = [platform.machine(), platform.node(), os.cpu_count()]
        rows = digest_of(self.origin, 0, self.rows)
        return {"designs": designs, "rows": rows, "turns": self.turns, "machine": machine}

    @property
    def cost(self) -> float:
        rows = self.rows or self.origin.training_rows
        return self.turns * rows * self.size * 90.0

    def compute(self) -> dict[str, list[float]]:
        """The seconds of every turn, by method. The first turn warms up and is left out."""
        data = data_of(self.origin, 0, self.rows)
        seconds: dict[str, list[float]] = {name: [] for name in self._designs()}
        for _ in range(1 + self.turns):
            for name, design in self._designs().items():
                seconds[name].append(TimedFit.of(design, data).seconds)
        return {name: took[1:] for name, took in seconds.items()}

    def _designs(self) -> dict[str, Design]:
        """One round of the outer loop without step 6 is one inner loop."""
        return {each.name: inner_loop(each, self.size) for each in self.recipes}


def inner_loop(recipe: Method, size: int) -> Design:
    """A design that makes the stages of a method, and nothing else."""
    once = {"max_iterations": 1, "objective": "none", "refiner": "none"}
    return build({**recipe.ready, **once}, max_basis=size)


def ratio(seconds: dict[str, list[float]], slow: str, quick: str) -> float:
    """How many times the median of one method is that of another."""
    return median(seconds[slow]) / median(seconds[quick])
