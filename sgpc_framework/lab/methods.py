"""The methods that the experiments compare, by the names that tables and figures have for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from sgpc_framework.lab.part_files import PartFile

PAPER = {"optimizer": "conjugate-gradients"}
"""What is said beside the defaults to have the paper's Algorithm 1."""


@attrs.frozen
class Method:
    """A name, and what ``sgpc.build`` is given besides sizes and iterations."""

    name: str
    settings: Mapping[str, Any] = attrs.field(eq=False)
    candidates: int = attrs.field(default=1, eq=False)
    """How many rows a stage tries; only the estimate of the time left asks."""

    @property
    def ready(self) -> dict[str, Any]:
        """The settings with parts in the place of the files that hold them."""
        return {
            key: value.make() if isinstance(value, PartFile) else value
            for key, value in self.settings.items()
        }

    @property
    def text(self) -> str:
        """The settings as a command has them.

        >>> method("adaptive 2").text
        'optimizer=conjugate-gradients + selector=adaptive-sampling:working_set=2'
        """
        return " + ".join(f"{key}={_text(value)}" for key, value in self.settings.items())


def _text(value: Any) -> str:
    """A part's name with its options, or a value."""
    if not isinstance(value, Mapping) or "name" not in value:
        return str(value)
    options = ",".join(f"{key}={each}" for key, each in value.items() if key != "name")
    return f"{value['name']}:{options}" if options else str(value["name"])


def _sampling(name: str, working_set: int) -> dict[str, Any]:
    return {**PAPER, "selector": {"name": name, "working_set": working_set}}


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
    each.name: each
    for each in (
        Method(ENTROPY, {**PAPER, "selector": "entropy"}),
        Method(GAIN, {**PAPER, "selector": {"name": "information-gain", "direction": "new-old"}}),
        Method(
            GAIN_REVERSED,
            {**PAPER, "selector": {"name": "information-gain", "direction": "old-new"}},
        ),
        Method(VALIDATION, _sampling("validation", 59), 59),
        Method(
            OPTIMISED_SITES, {**_sampling("adaptive-sampling", 2), "sites": "predictive-loss"}, 20
        ),
        Method(CORRECTIVE, {**_sampling("adaptive-sampling", 2), "refiner": "corrective"}, 8),
        Method(FAST, {"preset": "fast"}),
        Method(ACCURATE, {"preset": "accurate"}),
    )
}


def _is_count(text: str) -> bool:
    return text.isdecimal() and len(text) < 10


def is_known(name: str) -> bool:
    """Whether the experiments have a method of that name."""
    kind, _, working_set = name.partition(" ")
    return name in _FIXED or (kind in ("adaptive", "random") and _is_count(working_set))


def method(name: str) -> Method:
    """The method of that name.

    >>> method("random 5").settings["selector"]
    {'name': 'random-sampling', 'working_set': 5}
    """
    if name in _FIXED or not is_known(name):
        return _FIXED[name]
    kind, _, working_set = name.partition(" ")
    return Method(name, _sampling(f"{kind}-sampling", int(working_set)), int(working_set))
