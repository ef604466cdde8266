"""A classifier as one formula: encoding, kernels, numbers and links, free of the framework's parts.

Every back end writes this down in its language.
"""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.adapters.portable.kernel_plan import KernelPlan
from sgpc_framework.errors import ExportError
from sgpc_framework.model.classes import Classifier
from sgpc_framework.model.many_classes import OneVsRest
from sgpc_framework.model.model import Model
from sgpc_framework.parts.abilities import has
from sgpc_framework.parts.expressions import ManyClassLink, TwoClassLink
from sgpc_framework.parts.hyperparameters import parts_of
from sgpc_framework.protocols import Kernel, KernelExpression, LikelihoodLink
from sgpc_framework.tables.encoding import Encoding
from sgpc_framework.tables.table_classifier import TableClassifier

Floats = NDArray[np.float64]


@attrs.frozen(eq=False)
class Process:
    """One Gaussian process with its link.

        k̃ = functions · k(inputs, x)
        mean = coefficient · k̃           variance = k(x, x) - shrinkage · k̃²

    ``inputs`` are the basis vectors; ``coefficient`` has a row for each latent function.
    """

    plan: KernelPlan
    inputs: Floats
    functions: Floats
    coefficient: Floats
    shrinkage: Floats
    link: TwoClassLink | ManyClassLink

    @classmethod
    def of(cls, model: Model) -> Process:
        """That of a model; ``ExportError`` names the part that has no formula."""
        kernel, likelihood = model.kernel, model.likelihood
        _refuse_without_formula(kernel)
        if not has(likelihood, LikelihoodLink):
            raise ExportError(
                f"likelihood {likelihood.name!r} ({type(likelihood).__module__}) cannot be "
                "exported: wanted a method link() that returns a TwoClassLink or a ManyClassLink "
                "(sgpc_framework.protocols.LikelihoodLink), found none"
            )
        if model.inputs.ndim != 2 or model.inputs.dtype.kind not in "fiub":
            raise ExportError(
                "wanted a model of feature vectors, found one of objects "
                f"({model.inputs.dtype}), which other languages do not know"
            )
        assert has(kernel, KernelExpression)
        inputs = np.asarray(model.inputs, dtype=np.float64)
        form = model.state.form()
        functions, shrinkage = form.functions, form.shrinkage
        coefficient = np.atleast_2d(form.coefficient)
        if not len(model):  # a basis vector of no weight, so that no language needs an empty list
            inputs, functions = np.zeros((1, inputs.shape[1])), np.ones((1, 1))
            coefficient, shrinkage = np.zeros((len(coefficient), 1)), np.zeros(1)
        plan = KernelPlan(kernel.expression())
        return cls(plan, inputs, functions, coefficient, shrinkage, likelihood.link())

    def __len__(self) -> int:
        """The number of basis vectors."""
        return len(self.inputs)


@attrs.frozen(eq=False)
class Formula:
    """A whole classifier.

    ========== =======================================================================
    encoding   from the columns of a table to features; ``None`` for a model of matrices
    classes    the labels, in the order of the probabilities
    processes  one, or one for each class against the rest
    odds_share how the latter go together (``OneVsRest.odds_share``)
    regret     what each answer (column) costs more than the right one (row), by which it
               decides; ``None`` where it says what is most probable
    ========== =======================================================================
    """

    encoding: Encoding | None
    classes: list[Any]
    processes: tuple[Process, ...]
    odds_share: float = 0.0
    regret: list[list[float]] | None = None

    @classmethod
    def of(cls, classifier: Classifier | TableClassifier) -> Formula:
        """The formula of a model, or ``ExportError`` with the part that has none."""
        encoding = classifier.encoding if isinstance(classifier, TableClassifier) else None
        model = classifier.model if isinstance(classifier, TableClassifier) else classifier
        classes = model.classes.tolist() if isinstance(model, (Model, OneVsRest)) else []
        if isinstance(model, OneVsRest):
            processes = tuple(map(Process.of, model.models))
            return cls(encoding, classes, processes, model.odds_share, _regret(model))
        if isinstance(model, Model):
            return cls(encoding, classes, (Process.of(model),), regret=_regret(model))
        raise ExportError(
            "wanted a Model, a OneVsRest or a TableClassifier, found "
            f"{type(classifier).__name__}; an SGPClassifier has its model as model_"
        )

    @property
    def width(self) -> int:
        """The number of features."""
        return int(self.processes[0].inputs.shape[1])


def _regret(model: Classifier) -> list[list[float]] | None:
    if model.costs is None:
        return None
    regret: list[list[float]] = model.costs.regret.tolist()
    return regret


def _refuse_without_formula(kernel: Kernel) -> None:
    """``ExportError`` if the kernel, or a kernel inside it, has no expression."""
    for part in parts_of(kernel):
        if has(part, Kernel) and not has(part, KernelExpression):
            inside = "" if part is kernel else f", inside kernel {kernel.name!r},"
            raise ExportError(
                f"kernel {part.name!r} ({type(part).__module__}){inside} cannot be exported: "
                "wanted a method expression() that returns its formula "
                "(sgpc_framework.protocols.KernelExpression), found none; give it one, or fit with "
                "another kernel"
            )
