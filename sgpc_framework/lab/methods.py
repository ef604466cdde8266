"""The methods that the experiments compare, by the names that tables and figures have for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

PAPER = {"optimizer": "conjugate-gradients"}
"""What is said beside the defaults to have the paper's Algorithm 1."""


@attrs.frozen
class Method:
    """What ``sgpc.build`` is given besides sizes and iterations."""

    settings: Mapping[str, Any]
    candidates: int = 1
    """How many rows a stage tries; only the estimate of the time left asks."""


def _sampling(name: str, working_set: int) -> Method:
    return Method({**PAPER, "selector": {"name": name, "working_set": working_set}}, working_set)


def adaptive(working_set: int) -> str:
    """The name of adaptive sampling with that working set, the paper's proposal."""
    return f"adaptive {working_set}"


def random(working_set: int) -> str:
    """The name of uniform sampling with that working set."""
    return f"random {working_set}"


ENTROPY, GAIN, GAIN_REVERSED = "entropy", "information gain", "information gain, old-new"
VALIDATION = "validation 59"
PROPOSED = adaptive(2)
OPTIMISED_SITES = "adaptive 2, predictive-loss sites"
CORRECTIVE, FAST, ACCURATE = "adaptive 2 + corrective", "preset fast", "preset accurate"
REFINED = (CORRECTIVE, FAST, ACCURATE)

_FIXED: Mapping[str, Method] = {
    ENTROPY: Method({**PAPER, "selector": "entropy"}),
    GAIN: Method({**PAPER, "selector": {"name": "information-gain", "direction": "new-old"}}),
    GAIN_REVERSED: Method(
        {**PAPER, "selector": {"name": "information-gain", "direction": "old-new"}}
    ),
    VALIDATION: _sampling("validation", 59),
    OPTIMISED_SITES: Method(
        {**_sampling("adaptive-sampling", 2).settings, "sites": "predictive-loss"}, 20
    ),
    CORRECTIVE: Method({**_sampling("adaptive-sampling", 2).settings, "refiner": "corrective"}, 8),
    FAST: Method({"preset": "fast"}),
    ACCURATE: Method({"preset": "accurate"}),
}


def method(name: str) -> Method:
    """The method of that name.

    >>> method("random 5").settings["selector"]
    {'name': 'random-sampling', 'working_set': 5}
    """
    kind, _, working_set = name.partition(" ")
    if name not in _FIXED and kind in ("adaptive", "random") and working_set.isdecimal():
        return _sampling(f"{kind}-sampling", int(working_set))
    return _FIXED[name]
