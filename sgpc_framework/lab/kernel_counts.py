"""How many values of the kernel a stage of a method asks for: a cost that no machine changes."""

from __future__ import annotations

from threading import Lock
from typing import Any, ClassVar

import attrs

from sgpc_framework.design import Design
from sgpc_framework.lab.cells import data_of, digest_of
from sgpc_framework.lab.data_sources import Source
from sgpc_framework.lab.identities import identity_of
from sgpc_framework.lab.methods import Method
from sgpc_framework.lab.timed_fit import TimedFit
from sgpc_framework.lab.timing import inner_loop
from sgpc_framework.model.classes import models_of
from sgpc_framework.parts.hyperparameters import Hyperparameter
from sgpc_framework.plugin.registry import Registry
from sgpc_framework.protocols import Floats, Inputs, Kernel


class CountedKernel:
    """Another kernel that counts the values it is asked for. It has nothing to tune and no other
    ability: stages need none, and every one would be a way around the count."""

    name: ClassVar[str] = "counted"

    def __init__(self, inner: Kernel) -> None:
        self._inner = inner
        self._lock = Lock()  # blocks of rows may be on several threads
        self.values = 0

    def __call__(self, X: Inputs, Z: Inputs, /) -> Floats:
        with self._lock:
            self.values += len(X) * len(Z)
        return self._inner(X, Z)

    def hyperparameters(self) -> tuple[Hyperparameter, ...]:
        return ()

    def with_hyperparameters(self, values: Floats) -> CountedKernel:
        return self

    def diag(self, X: Inputs, /) -> Floats:
        with self._lock:
            self.values += len(X)
        return self._inner.diag(X)


@attrs.frozen
class KernelCount:
    """Values of the kernel in one inner loop of a method, a ``running.Job``."""

    data: str
    size: int
    rows: int | None
    recipe: Method
    origin: Source = attrs.field(eq=False, repr=False)

    def __str__(self) -> str:
        return f"{self.data}: values of the kernel, {self.recipe.name}, {self.size}"

    @property
    def identity(self) -> dict[str, Any]:
        rows = digest_of(self.origin, 0, self.rows)
        return {**identity_of(self._design.config), "rows": rows, "of": "kernel values"}

    @property
    def cost(self) -> float:
        rows = self.rows or self.origin.training_rows
        return rows * self.size * (14.0 + self.recipe.candidates)

    def compute(self) -> dict[str, float]:
        """How many values, and how many stages asked for them."""
        data, design = data_of(self.origin, 0, self.rows), self._design
        began = next(iter(models_of(TimedFit.of(design, data).model).values()))
        counted = CountedKernel(began.kernel)  # with the hyperparameters that data have chosen
        config = attrs.evolve(design.config, kernel=counted)
        nobody = Registry.of()  # who provides the counter is not looked for
        stages = len(TimedFit.of(Design(config, nobody), data).model)
        return {"values": float(counted.values), "stages": float(stages)}

    @property
    def _design(self) -> Design:
        return inner_loop(self.recipe, self.size)
