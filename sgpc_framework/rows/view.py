"""What a row-local function sees: a block of rows and what the posterior says of them.

A row-local function maps :class:`Rows` to one number for each row. It does not know how many
blocks there are, which is why the same plugin runs on one array, on blocks, and on shards.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.parts.abilities import has
from sgpc_framework.parts.calls import blame
from sgpc_framework.protocols import Inputs, Likelihood, LogEvidence, Moments

Floats = NDArray[np.float64]
S = TypeVar("S", bound=np.generic)


_NO_COLUMN = np.empty(0)


class Origin(Protocol):
    """Where rows come from: it knows their numbers, inputs and weights, if they have any."""

    @property
    def index(self) -> NDArray[np.intp]: ...

    @property
    def X(self) -> Inputs: ...

    @property
    def weight(self) -> Floats | None: ...


@attrs.define(eq=False)
class Rows:
    """Some rows with marginals N(mean, variance). Arrays have one entry a row.

    ========== ==================================================================
    y          labels, -1.0 or +1.0; with several latent functions, positions among the classes
    mean       f̂ᵢ, the posterior mean of the latent function
    variance   Aᵢᵢ, its posterior variance
    active     True for rows that are basis vectors already
    column     k̃(xᵢ, xⱼ) when a candidate j is tried (``Posterior.total``), else empty
    log_z      log Zᵢ: exp(log_z) is the predictive probability of the row's own label
    alpha      d log_z / d mean
    nu         -d² log_z / d mean²
    shrinkage  the mean of nu over the latent functions: what including a row takes (eq. 7)
    index      the numbers of the rows
    X          their inputs
    weight     how many rows each of them counts as
    ========== ==================================================================

    ``log_z``, ``alpha`` and ``nu`` come from the likelihood, on first use and once. The arrays are
    read-only. With several latent functions, mean, alpha and nu have a first axis more, one entry
    for each function; they share one variance and one column.

    Values are those of single rows: whoever sums them over rows multiplies by the weights
    (``Posterior.total``, ``Trial.mean``, ``slopes``, ...), and whoever draws rows does, too. What
    compares single rows, as ``Posterior.argmin`` does, asks for ``weighed`` values if it wants.
    """

    y: Floats
    mean: Floats
    variance: Floats
    active: NDArray[np.bool_]
    likelihood: Likelihood
    column: Floats = _NO_COLUMN
    all_moments: bool = False
    """Compute all three moments at once, because all three are going to be asked for."""
    _origin: Origin | None = attrs.field(default=None, alias="origin")
    _times: int = attrs.field(default=1, alias="times")
    """How often the rows of the origin stand here, once for each candidate that is tried."""
    _moments: Moments | None = attrs.field(default=None, init=False, repr=False)
    _log_z: Floats | None = attrs.field(default=None, init=False, repr=False)

    @property
    def has_moments(self) -> bool:
        """Whether all three moments have been computed."""
        return self._moments is not None

    @property
    def moments(self) -> Moments:
        """(log_z, alpha, nu) of every row of the block."""
        if self._moments is None:
            self._moments = self._evaluated_moments()
        return self._moments

    @property
    def log_z(self) -> Floats:
        """log Z; alone it is cheaper than all three where the likelihood knows how."""
        if self._log_z is None:
            self._log_z = self._evaluated_log_z()
        return self._log_z

    @property
    def alpha(self) -> Floats:
        """d log_z / d mean."""
        return self.moments.alpha

    @property
    def nu(self) -> Floats:
        """-d² log_z / d mean²."""
        return self.moments.nu

    @property
    def shrinkage(self) -> Floats:
        """ν, or its mean over the latent functions: what matches their common variance (eq. 2)."""
        return self.nu if self.nu.ndim == 1 else np.asarray(self.nu.mean(axis=0))

    @property
    def by_variance(self) -> Floats:
        """d log_z / d variance = (alpha² - nu) / 2, added up over the latent functions."""
        each: Floats = (self.alpha**2 - self.nu) / 2
        return each if each.ndim == 1 else np.asarray(each.sum(axis=0))

    @property
    def index(self) -> NDArray[np.intp]:
        """The number of every row."""
        return read_only(tile(self._known_origin.index, self._times))

    @property
    def X(self) -> Inputs:
        """The inputs of every row."""
        X = self._known_origin.X
        return X if self._times == 1 else X[np.tile(np.arange(len(X)), self._times)]

    @property
    def weight(self) -> Floats:
        """The weight of every row; one, where nobody gave any."""
        if self._origin is None or self._origin.weight is None:
            return np.ones(len(self))
        return read_only(tile(self._origin.weight, self._times))

    @property
    def has_weights(self) -> bool:
        """Whether somebody gave weights; otherwise all are one."""
        return self._origin is not None and self._origin.weight is not None

    def weighed(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values times the weights, which costs nothing where there are none."""
        return values * self.weight if self.has_weights else values

    def __len__(self) -> int:
        return len(self.y)

    @property
    def _known_origin(self) -> Origin:
        if self._origin is None:
            raise ValueError("these rows were made by hand: they have no numbers and no inputs")
        return self._origin

    def _evaluated_moments(self) -> Moments:
        with blame("likelihood", self.likelihood, "moments"):
            moments = self.likelihood.moments(self.y, self.mean, self.variance)
            rows, each = self.y.shape, self.mean.shape
            if isinstance(moments.log_z, np.ma.MaskedArray):  # sums would pass over its rows
                raise TypeError("wanted arrays of real numbers, found masked arrays: fill them")
            if moments.log_z.shape != rows or not moments.alpha.shape == moments.nu.shape == each:
                raise ValueError(f"wanted three arrays of shape {each}, found {moments!r}")
        return moments

    def _evaluated_log_z(self) -> Floats:
        if self.all_moments or self.has_moments or not has(self.likelihood, LogEvidence):
            return self.moments.log_z
        with blame("likelihood", self.likelihood, "log_z"):
            log_z = self.likelihood.log_z(self.y, self.mean, self.variance)
            if log_z.shape != self.y.shape:
                raise ValueError(f"wanted shape {self.y.shape}, found {log_z.shape}")
        return log_z


def tile(array: NDArray[S], times: int) -> NDArray[S]:
    """A vector so many times in a row: ``np.tile``, but other threads may run meanwhile."""
    if times == 1:
        return array
    copies = np.empty((times, len(array)), dtype=array.dtype)
    copies[:] = array
    return copies.reshape(-1)


def read_only(array: NDArray[S]) -> NDArray[S]:
    """The same numbers, not to be written into."""
    view = array.view()
    view.flags.writeable = False
    return view
