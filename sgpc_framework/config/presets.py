"""Presets: whole recipes by name.

    sgpc.build("accurate", max_basis=20)

A preset says what differs from the defaults; what is said beside it replaces single entries.

>>> sorted(PRESETS)
['accurate', 'fast', 'paper']
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from types import MappingProxyType
from typing import Any

import attrs

from sgpc_framework.config.structure.wording import value_in_words
from sgpc_framework.errors import ConfigError, suggestion

DEFAULT_PRESET = "accurate"
"""What ``sgpc fit``, ``sgpc compare``, ``TableClassifier`` and ``SGPClassifier`` fit if nobody says
anything else. ``build()``, which is for who composes a design, begins with the paper's method."""


@attrs.frozen
class Preset:
    """A recipe, and what one gets and pays for it.

    ``choices`` are options of the refiner that leave a slot to held-out rows, by that slot. Who
    says what is in the slot has chosen: the options are left out.
    """

    settings: Mapping[str, Any]
    trade_off: str
    choices: Mapping[str, Mapping[str, Any]] = MappingProxyType({})

    def for_who_said(self, slots: Container[str]) -> dict[str, Any]:
        """The settings for who says himself what is in some slots."""
        settings = dict(self.settings)
        for slot, options in self.choices.items():
            if slot not in slots:
                settings["refiner"] = {**settings["refiner"], **options}
        return settings


def _per_feature(kernel: str) -> dict[str, str]:
    """A kernel with one lengthscale for each feature."""
    return {"name": kernel, "lengthscale": "median-per-feature"}


PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        "paper": Preset(
            {},
            "The paper's method: stages and step 6 in turns, no site is ever revisited. Every "
            "smaller model is a prefix of the model. Least accurate at a given size.",
        ),
        "fast": Preset(
            {
                "kernel": _per_feature("matern-52"),
                "objective": "none",
                "stage_rows": 2000,
                "refiner": {
                    "name": "corrective",
                    "penalty": 1.0,
                    "elbo_share": 0.1,
                    "settling": 100,
                    "batches": 0,
                    "iterations": 100,
                },
            },
            "One pass of stages, then a short joint refinement in which nothing is left to choose: "
            "most of the accuracy in a sixth of the time.",
        ),
        "accurate": Preset(
            {
                "kernel": _per_feature("matern-52"),
                "objective": "none",
                "stage_rows": 10_000,
                "refiner": {"name": "corrective"},
            },
            "One pass of stages, then everything is refined together; held-out rows choose the "
            "kernel, the noise and how boldly to fit. Best at any size. Smaller models are not "
            "prefixes of it.",
            {
                "kernel": {
                    "kernels": [_per_feature("squared-exponential"), _per_feature("matern-32")],
                    "terms": [{"name": "linear", "variance": 0.01}],
                    "warps": ["warped"],
                    "metrics": ["mahalanobis", "stretched"],
                },
                "likelihood": {"likelihoods": ["noisy-probit"]},
            },
        ),
    }
)


def preset(name: object, said: Container[str] = ()) -> dict[str, Any]:
    """The settings of the preset of that name; ``said`` are slots that are not left open."""
    word = name if isinstance(name, str) else ""
    if word not in PRESETS:
        raise ConfigError(
            [
                "wanted the name of a preset, or the path of a file that ends in .toml or .json, "
                f"found {value_in_words(name)}; {suggestion(word, PRESETS)} @ preset"
            ]
        )
    return PRESETS[word].for_who_said(said)
