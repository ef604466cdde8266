"""The randomness of a stage: a function of seed, iteration and stage, and of nothing before it."""

from __future__ import annotations

import numpy as np


class Chance:
    """The generators of an outer iteration, one for each stage.

    Philox is a generator with a counter. The key comes from seed and iteration, and the stage is
    the counter's highest word: so a stage begins where it begins, whatever the ones before it drew,
    at a tenth of the price of a new generator.
    """

    def __init__(self, seed: int, iteration: int) -> None:
        self._bits = np.random.Philox(np.random.SeedSequence([seed, iteration]))
        self._generator = np.random.Generator(self._bits)
        self._state = self._bits.state
        self._counter = self._state["state"]["counter"]

    def __call__(self, stage: int) -> np.random.Generator:
        """The generator of a stage; stage 0 is before the first."""
        self._counter[3] = stage
        self._bits.state = self._state
        return self._generator
