"""More than two classes: one model for each class, which tells it from all the others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from os import PathLike
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from sgpc_framework.errors import InputError
from sgpc_framework.model.costs import Costs
from sgpc_framework.model.dask_collections import lazy_where_the_rows_are
from sgpc_framework.model.decider import Decider
from sgpc_framework.model.model import Model

if TYPE_CHECKING:
    from sgpc_framework.config.provenance import Provenance
    from sgpc_framework.model.explanation import Explanation
    from sgpc_framework.plugin.registry import Registry

Floats = NDArray[np.float64]

ONE_OR_REST = np.array([False, True])
"""The classes of a model that tells one class from the rest."""


@attrs.frozen(eq=False, repr=False)
class OneVsRest(Decider):
    """A classifier of three or more classes.

    ========== =======================================================================
    classes    the labels, sorted; columns of probabilities follow this order
    models     one for each class; its own classes are ``False`` and ``True``
    odds_share b, from 0 to 1
    costs      what wrong decisions cost, which ``predict`` decides by; None if all the same
    ========== =======================================================================

    With pₖ what its own model says of class k, its probability is pₖ / (1 - pₖ)ᵇ, divided by the
    sum over all classes: shares of the probabilities where b is zero, and of the odds where it is
    one. Probabilities alone are timid: of two classes that both fit, each gets a half.
    """

    classes: NDArray[Any]
    models: tuple[Model, ...]
    odds_share: float = 0.0
    costs: Costs | None = None

    def __len__(self) -> int:
        """The number of basis vectors of the class that has the most."""
        return max(map(len, self.models))

    def __repr__(self) -> str:
        each = " + ".join(str(len(model)) for model in self.models)
        return f"OneVsRest({each} basis vectors, classes {self.classes.tolist()})"

    @property
    def provenance(self) -> Provenance | None:
        """How the models were made: the configuration of the fit, and who provided the parts."""
        return self.models[0].provenance

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes that ``truncated`` accepts, in ascending order.

        A size is the most basis vectors that a class may have: classes that have fewer in all keep
        what they have. So it needs every larger model to be there in this size.
        """
        sizes = {size for model in self.models for size in model.sizes}
        return tuple(
            size
            for size in sorted(sizes)
            if all(size >= len(model) or size in model.sizes for model in self.models)
        )

    @lazy_where_the_rows_are
    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of shape (rows, classes): the columns follow ``classes``."""
        return np.exp(self.predict_log_proba(X))

    @lazy_where_the_rows_are
    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of the probabilities, finite even where a probability rounds to 0 or 1."""
        return combine_classes(
            (model.predict_log_proba(X) for model in self.models), self.odds_share
        )

    def predict_latent(self, X: Any) -> tuple[Floats, Floats]:
        """Mean and variance of each class's latent function, both of shape (rows, classes)."""
        means, variances = zip(*(model.predict_latent(X) for model in self.models), strict=True)
        return np.stack(means, axis=1), np.stack(variances, axis=1)

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """The probabilities of the model of each size, in the order of ``sizes``."""
        return map(np.exp, self.staged_predict_log_proba(X))

    def staged_predict_log_proba(self, X: Any) -> Iterator[Floats]:
        """Like ``staged_predict_proba``, but logarithms."""
        paths = [_along(self.sizes, model, X) for model in self.models]
        for each in zip(*paths, strict=True):
            yield combine_classes(each, self.odds_share)

    def explain(self, X: Any, most: int = 5) -> list[Explanation]:
        """Of each row, which basis vectors of the predicted class's own model speak for it and
        which against it: see ``Model.explain``."""
        from sgpc_framework.model.explanation import explain_one_vs_rest

        return explain_one_vs_rest(self, X, most)

    def truncated(self, size: int) -> OneVsRest:
        """The model with at most so many basis vectors a class; one of ``sizes``."""
        if not isinstance(size, (int, np.integer)) or size not in self.sizes:
            raise InputError(
                f"this model can be had in sizes {list(self.sizes)} only, at which every class "
                f"either has a model or is at its end, found {size}"
            )
        models = (one if size >= len(one) else one.truncated(size) for one in self.models)
        return attrs.evolve(self, models=tuple(models))

    def save(self, path: str | PathLike[str], registry: Registry | None = None) -> None:
        """Write the model to one file, which ``sgpc_framework.load`` reads."""
        from sgpc_framework.files.model_files import save

        save(self, path, registry)


def _along(sizes: tuple[int, ...], model: Model, X: Any) -> Iterator[Floats]:
    """The log probabilities of one class and the rest at each size, or at the end of its model."""
    stages = zip(model.sizes, model.staged_predict_log_proba(X), strict=True)
    reached, latest = 0, None
    for size in sizes:
        while reached < min(size, len(model)):
            reached, latest = next(stages)
        if latest is None:  # no basis vector at all: the prior's word
            latest = model.predict_log_proba(X)
        yield latest


def combine_classes(each: Iterable[Floats], odds_share: float) -> Floats:
    """Log probabilities over the classes, from those of each class (second column) and the rest."""
    stacked = np.stack([one[:, 1] - odds_share * one[:, 0] for one in each], axis=1)
    normalised: Floats = log_softmax(stacked, axis=1)
    return normalised
