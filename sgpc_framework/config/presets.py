"""Presets: whole recipes by name.

    sgpc.build("accurate", max_basis=20)

A preset says what differs from the defaults; what is said beside it replaces single entries.

>>> sorted(PRESETS)
['accurate', 'fast', 'paper']
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import attrs

from sgpc_framework.errors import ConfigError, suggestion


@attrs.frozen
class Preset:
    """A recipe, and what one gets and pays for it."""

    settings: Mapping[str, Any]
    trade_off: str


_ONE_LENGTHSCALE_EACH = {"name": "squared-exponential", "lengthscale": "median-per-feature"}

PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        "paper": Preset(
            {},
            "The paper's method: stages and step 6 in turns, no site is ever revisited. Every "
            "smaller model is a prefix of the model. Least accurate at a given size.",
        ),
        "fast": Preset(
            {
                "kernel": _ONE_LENGTHSCALE_EACH,
                "objective": "none",
                "refiner": {
                    "name": "corrective",
                    "penalty": 1.0,
                    "elbo_share": 0.0,  # so short a run cannot overfit much
                    "iterations": 25,
                },
            },
            "One pass of stages, then a short joint refinement with a fixed penalty: a fraction of "
            "the time of the others, between them in accuracy.",
        ),
        "accurate": Preset(
            {
                "kernel": _ONE_LENGTHSCALE_EACH,
                "objective": "none",
                "refiner": "corrective",
            },
            "One pass of stages, then everything is refined together, with a penalty that held-out "
            "rows choose. Best at any size. Smaller models are not prefixes of it.",
        ),
    }
)


def preset(name: object) -> Mapping[str, Any]:
    """The settings of the preset of that name."""
    if not isinstance(name, str) or name not in PRESETS:
        raise ConfigError(
            [
                "wanted the name of a preset, or the path of a file that ends in .toml or .json, "
                f"found {name!r}; {suggestion(str(name), PRESETS)} @ preset"
            ]
        )
    return PRESETS[name].settings
