"""Abilities: what a part may be able to do besides, in one table, and the one way to ask for them.

    if has(kernel, KernelPullback):
        K, pullback = kernel.linearised(X, Z)

``isinstance`` looks at every method of a protocol anew, which takes as long as a pass over a
thousand rows. A class does not change, so it is asked once.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from inspect import get_annotations, isfunction
from typing import TYPE_CHECKING, Any

import attrs

from sgpc_framework.protocols import (
    FeatureRelevance,
    JoinsKernels,
    KernelColumns,
    KernelExpression,
    KernelFusedPullback,
    KernelInputPullback,
    KernelPullback,
    LikelihoodLink,
    LikelihoodPullback,
    LogEvidence,
    ManyClasses,
    PlainOptions,
    RefinesInRuns,
    SampleInputs,
    ScoresCandidates,
    SelectsWithMemory,
    SeveralFunctions,
    Sketches,
    StartsFromData,
    StorableInputs,
    Subsampled,
    Tunable,
    WarpsInputs,
    WrapsKernel,
)

if TYPE_CHECKING:  # a checker of types may conclude the same
    from builtins import isinstance as has
else:

    def has(part: object, ability: type) -> bool:
        """Whether a part, or every part of a class, has the members of a protocol.

        Methods must be those of the class: what an instance alone has, or makes up in
        ``__getattr__``, does not count. A property may be a field, or an attribute of the instance.

        >>> from sgpc_framework.protocols import LogEvidence
        >>> has("a word", LogEvidence)
        False
        """
        missing = _missing(part if isinstance(part, type) else type(part), ability)
        if not missing or isinstance(part, type):
            return not missing
        return missing <= _properties(ability) and missing <= getattr(part, "__dict__", {}).keys()


@cache
def members(ability: type) -> frozenset[str]:
    """The methods and properties that a protocol asks for."""
    return frozenset(
        name
        for base in ability.__mro__
        if vars(base).get("_is_protocol")
        for name in {*vars(base), *get_annotations(base)}
        if name == "__call__" or not name.startswith("_")
    )


@cache
def _missing(cls: type, ability: type) -> frozenset[str]:
    fields = {field.name for field in attrs.fields(cls)} if attrs.has(cls) else set()
    return frozenset(
        name
        for name in members(ability) - fields
        # Not getattr: every class can be called, which says nothing of its instances.
        if next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None) is None
    )


@cache
def _properties(ability: type) -> frozenset[str]:
    methods = {
        name
        for base in ability.__mro__
        for name, member in vars(base).items()
        if isfunction(member) or isinstance(member, classmethod)
    }
    return members(ability) - methods


# ---------------------------------------------------------------------------------------------
# The table


@attrs.frozen
class Ability:
    """One ability of a kind of parts: ``purpose`` is a line for the reference.

    ``sgpc describe`` answers the ``question`` by ``present`` or ``absent``, and by ``untuned`` if a
    part without it has no hyperparameters either. An ability without a text for ``absent`` is
    mentioned where it is there, and one without a question never.
    """

    protocol: Any
    purpose: str
    question: str | None = None
    present: str = "yes"
    absent: str | None = None
    untuned: str | None = None

    @property
    def name(self) -> str:
        """What the protocol is called."""
        return str(self.protocol.__name__)

    @property
    def members(self) -> frozenset[str]:
        """The methods and properties that it consists of."""
        return members(self.protocol)


_GRADIENTS = {
    "question": "gradients",
    "present": "exact (pullback)",
    "absent": "numerical (central differences)",
    "untuned": "not needed (no hyperparameters)",
}
_STARTS_FROM_DATA = Ability(
    StartsFromData, "hyperparameters that start from the inputs", "starts from data", absent="no"
)
_TUNABLE = Ability(
    Tunable,
    "hyperparameters that are no attrs fields, said by the part itself",
    "hyperparameters",
    "said by the part itself",
)
_PLAIN_OPTIONS = Ability(
    PlainOptions, "options in files, for a class that is no attrs class", "options", "its own words"
)

ABILITIES: Mapping[str, tuple[Ability, ...]] = {
    "kernel": (
        Ability(KernelPullback, "exact gradients of the hyperparameters", **_GRADIENTS),
        Ability(KernelInputPullback, "basis vectors that move", "input gradients", absent="no"),
        Ability(KernelFusedPullback, "the two above in one go, when basis vectors move"),
        Ability(KernelColumns, "faster stages: what depends on the rows alone is computed once"),
        _STARTS_FROM_DATA,
        _TUNABLE,
        _PLAIN_OPTIONS,
        Ability(
            StorableInputs,
            "model files of inputs that are neither vectors nor strings",
            "inputs in files",
            "encoded by the kernel",
        ),
        Ability(
            WarpsInputs,
            "a map of the inputs that can be undone, and a kernel of what was mapped",
            "inputs",
            "mapped, then seen by the kernel inside",
        ),
        Ability(WrapsKernel, "a kernel around another one, which can be exchanged"),
        Ability(FeatureRelevance, "how much each feature matters"),
        Ability(JoinsKernels, "what `+` and `*` of kernels ask for"),
        Ability(
            KernelExpression,
            "a formula for other languages: models that can be exported",
            "exported",
            absent="no",
        ),
        Ability(SampleInputs, "inputs for the conformance kit, if they are not vectors"),
    ),
    "likelihood": (
        Ability(LikelihoodPullback, "exact gradients of the hyperparameters", **_GRADIENTS),
        Ability(
            LogEvidence,
            "log Z alone, faster than all moments",
            "log Z alone",
            "computed faster",
            "as a moment",
        ),
        Ability(SeveralFunctions, "labels that depend on several latent functions"),
        Ability(
            ManyClasses,
            "a form for any number of classes, with a latent function each",
            "many classes",
            "one model",
            "one model for each class, against the rest",
        ),
        Ability(
            LikelihoodLink,
            "a formula for other languages: models that can be exported",
            "exported",
            absent="no",
        ),
        _STARTS_FROM_DATA,
        _TUNABLE,
        _PLAIN_OPTIONS,
    ),
    "selector": (
        Ability(
            ScoresCandidates,
            "a ranking of the candidates by a loss of its own",
            "ranks candidates by",
            "its own score",
            "NLP over all rows (eq. 5)",
        ),
        Ability(
            SelectsWithMemory, "a memory through the stages of a fit", "remembers", absent="no"
        ),
    ),
    "sites": (),
    "objective": (
        Ability(
            Subsampled, "some of the rows, when there are many", "judges by some rows", absent="no"
        ),
    ),
    "refiner": (
        Ability(
            Sketches,
            'a quicker form of itself, by which `max_basis = "auto"` compares sizes',
            "sketches",
            absent="no",
        ),
        Ability(
            RefinesInRuns,
            "runs that a checkpoint keeps one by one",
            "kept in a checkpoint",
            "run by run",
            "when it has ended",
        ),
    ),
}
"""What a part of each kind may do besides; descriptions, the kit and the docs all read it here."""


def answers(kind: str, cls: type, tuned: bool) -> dict[str, str]:
    """What ``sgpc describe`` says of the abilities of a class; ``tuned`` if it can be tuned."""
    said: dict[str, str] = {}
    for ability in ABILITIES[kind]:
        if ability.question is None:
            continue
        if has(cls, ability.protocol):
            said[ability.question] = ability.present
        elif ability.untuned is not None and not tuned:
            said[ability.question] = ability.untuned
        elif ability.absent is not None:
            said[ability.question] = ability.absent
    return said


__all__ = ["ABILITIES", "Ability", "answers", "has", "members"]
