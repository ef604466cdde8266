"""A prior that lets a kernel change as a whole, and makes its features earn their differences."""

from __future__ import annotations

from collections import Counter

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.authors import Floats, Hyperparameter

LOCATIONS = 12.0
"""How far all locations of one list are expected to move together, in widths: each of a metric's
hundreds of numbers must then earn its place."""


@attrs.frozen(eq=False)
class RelevancePrior:
    """Minus the log density of a normal prior on how far hyperparameters have moved.

    Numbers that stand in one list (the lengthscales of an ARD kernel) have a common shift and
    deviations e from it:

        ½ Σ_lists shift² / (2 width)² + ½ Σ e² / width²

    A number that stands alone is a list of one, and so is every location (a bias for each class):
    only scales have ratios to keep. Of many locations in one list each has less than 2 widths.
    ``width`` is in free coordinates, where one is a factor of e.
    """

    members: NDArray[np.intp]
    """The list that each hyperparameter stands in."""

    width: float

    shifts: Floats
    """How far each list is expected to shift, in widths: a number for each hyperparameter."""

    @classmethod
    def over(cls, hyperparameters: tuple[Hyperparameter, ...], width: float) -> RelevancePrior:
        """The prior over these hyperparameters."""
        lists: dict[str, int] = {}
        paths = [h.list_path if h.transform == "log" else h.path for h in hyperparameters]
        members = [lists.setdefault(path, len(lists)) for path in paths]
        lengths = Counter(h.list_path for h in hyperparameters if h.transform != "log")
        many = [lengths.get(h.list_path, 1) for h in hyperparameters]
        shifts = np.minimum(2.0, LOCATIONS / np.sqrt(many))
        return cls(np.array(members, dtype=np.intp), width, shifts)

    def __call__(self, displacement: Floats) -> tuple[float, Floats]:
        """The penalty, without its constant, and its gradient."""
        shift = self.together(displacement)
        deviation = displacement - shift
        weight = self.shifts**-2.0 / np.bincount(self.members)[self.members]
        value = 0.5 * float(weight @ shift**2 + deviation @ deviation) / self.width**2
        return value, (weight * shift + deviation) / self.width**2

    @property
    def has_lists(self) -> bool:
        """Whether any two hyperparameters stand in one list."""
        return len(np.unique(self.members)) < len(self.members)

    def together(self, displacement: Floats) -> Floats:
        """The same without deviations: every number of a list moves by their common shift."""
        shift = np.bincount(self.members, displacement) / np.bincount(self.members)
        return shift[self.members]
