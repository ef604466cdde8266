"""A fit that is of no use says so: its loss beside that of the class frequencies.

Who knows nothing but how frequent each class is, n_c of n rows, loses on the average

    H = -Σ_c (n_c / n) log(n_c / n).

A model that does not beat that on its own training rows is of no use: the features have nothing to
say, or the kernel cannot hear it, or the basis vectors are too few.
"""

from __future__ import annotations

import warnings
from collections import Counter

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.engine.outcome import Fit
from sgpc_framework.engine.slopes import predictive_loss
from sgpc_framework.errors import ChanceLevelWarning
from sgpc_framework.rows.blocks import Block
from sgpc_framework.rows.training_rows import TrainingRows

Floats = NDArray[np.float64]

GAIN = 1e-3
"""The share of the loss of the frequencies by which a model that is worth anything is better."""


def beside_frequencies(fit: Fit, rows: TrainingRows) -> Fit:
    """The fit, whose trace knows the class frequencies; with a note and a warning if it is no
    better than they are.

    One that was stopped is what whoever stopped it wanted.
    """
    shares = class_shares(rows)
    trace = attrs.evolve(fit.trace, class_shares=tuple(shares.tolist()))
    fit = attrs.evolve(fit, trace=trace)
    if fit.stopped:
        return fit
    frequencies = entropy(shares)
    most = (1.0 - GAIN) * frequencies
    if _recorded_loss(fit) < most:  # it is known already: nothing has to be computed
        return fit
    loss = predictive_loss(fit.whole, rows)
    if loss < most:
        return fit
    text = (
        "the model is no better than the class frequencies: its loss on the training rows is "
        f"{loss:.4g}, and theirs {frequencies:.4g}. If the features should tell the classes apart, "
        "try the preset 'accurate', a lengthscale for each feature (lengthscale = "
        "'median-per-feature') or more basis vectors"
    )
    warnings.warn(text, ChanceLevelWarning, stacklevel=2)
    return attrs.evolve(fit, trace=attrs.evolve(fit.trace, notes=(*fit.trace.notes, text)))


def class_shares(rows: TrainingRows) -> Floats:
    """n_c / n of each class in the order of the labels: one trip."""
    counts = np.array([count for _, count in sorted(rows.sum(_label_counts).items())])
    shares: Floats = counts / counts.sum()
    return shares


def entropy(shares: Floats) -> float:
    """H, what is lost on the average by who knows these shares alone."""
    return float(-(shares * np.log(shares)).sum())


def _label_counts(block: Block) -> Counter[float]:
    labels, places = np.unique(block.y, return_inverse=True)
    counts = np.bincount(places, block.weight)
    return Counter(dict(zip(labels.tolist(), counts.tolist(), strict=True)))


def _recorded_loss(fit: Fit) -> float:
    """NLP of the whole where it was refined, and otherwise that before its last step 6."""
    if fit.refined and fit.trace.sizes:
        return fit.trace.sizes[-1].predictive_loss
    stages = fit.trace.stages
    return stages[-1].predictive_loss if stages else np.inf
