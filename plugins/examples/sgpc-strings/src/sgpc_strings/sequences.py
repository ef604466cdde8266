"""Sequences that can be generated anywhere, with a signal like that of a splice site."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LETTERS = "ACGT"
DONOR = "AGGTAAGT"
ACCEPTOR = "TTTTTCAG"
MIDDLE = 30


def planted(
    rows: int, seed: int = 0, *, letters: int = 60, fidelity: float = 0.95
) -> tuple[NDArray[np.object_], NDArray[np.float64]]:
    """Random sequences, half of which have one of two motifs in the middle; +1 is without.

    A motif's letters are each kept with probability ``fidelity`` and random otherwise, except for
    its GT or AG. That pair stands in the middle of every other sequence too, so that it tells
    nothing by itself. Returns an array of strings and labels.
    """
    rng = np.random.default_rng(seed)
    sequences = rng.choice(list(LETTERS), size=(rows, letters))
    y = rng.choice([-1.0, 1.0], size=rows)
    for sequence, label in zip(sequences, y, strict=True):
        if rng.random() < 0.5:
            motif, start, pair = DONOR, MIDDLE - 3, (3, 4)
        else:
            motif, start, pair = ACCEPTOR, MIDDLE - 8, (6, 7)
        kept = rng.random(len(motif)) < (fidelity if label < 0 else 0.0)
        kept[list(pair)] = True
        for offset in np.flatnonzero(kept):
            sequence[start + offset] = motif[offset]
    return np.array(["".join(sequence) for sequence in sequences], dtype=object), y
