"""A fit to a data set, and what it took."""

from __future__ import annotations

from time import perf_counter, process_time
from warnings import catch_warnings

import attrs

from sgpc_framework.datasets import Benchmark
from sgpc_framework.design import Design
from sgpc_framework.errors import ChanceLevelWarning
from sgpc_framework.model.classes import Classifier


@attrs.frozen(eq=False)
class TimedFit:
    """The model, and the seconds of its fit by the clock and of the processor."""

    model: Classifier
    seconds: float
    cpu_seconds: float

    @classmethod
    def of(cls, design: Design, data: Benchmark) -> TimedFit:
        """Fit to the training rows."""
        began, began_cpu = perf_counter(), process_time()
        with catch_warnings(action="ignore", category=ChanceLevelWarning):  # the figures say it
            model = design.fit(data.X, data.y)
        seconds, cpu_seconds = perf_counter() - began, process_time() - began_cpu
        return cls(model, seconds, cpu_seconds)
