"""Every exception and warning the framework raises on purpose.

Each text says what was wanted, what was found, where, and what to do next.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches


class SgpcError(Exception):
    """Base of all errors of the framework."""


class ConfigError(SgpcError, ValueError):
    """A configuration cannot be built; ``problems`` lists everything wrong with it."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        count = len(self.problems)
        head = "1 problem" if count == 1 else f"{count} problems"
        lines = "\n".join(f"  - {problem}" for problem in self.problems)
        super().__init__(f"the configuration has {head}:\n{lines}")


class InputError(SgpcError, ValueError):
    """The data cannot be used as given."""


class PluginError(SgpcError):
    """A plugin is missing, broken, ambiguous, or did what its protocol forbids.

    When a part misbehaves in a fit, the attributes say whose it is and what it was doing: ``kind``,
    ``name``, ``distribution``, ``version``, ``call``, and ``iteration`` and ``stage`` (counted from
    one) where there are any. What the part itself raised is the ``__cause__``.
    """

    def __init__(
        self,
        problem: str,
        *,
        kind: str | None = None,
        name: str | None = None,
        distribution: str | None = None,
        version: str | None = None,
        call: str | None = None,
    ) -> None:
        super().__init__(problem)
        self.problem = problem
        self.kind = kind
        self.name = name
        self.distribution = distribution
        self.version = version
        self.call = call
        self.iteration: int | None = None
        self.stage: int | None = None

    def __str__(self) -> str:
        if self.kind is None:
            return self.problem
        source = f"{self.distribution} {self.version or ''}".strip()
        when = f" at iteration {self.iteration}, stage {self.stage}" if self.iteration else ""
        return f"{self.kind} {self.name!r} ({source}), in {self.call}{when}: {self.problem}"


class ClusterError(SgpcError, RuntimeError):
    """The machines that have the rows failed, or do not answer."""


class ModelFileError(SgpcError):
    """A model file cannot be read or written."""


class ExportError(SgpcError):
    """A model cannot be written in another language, or what was written predicts otherwise."""


class CheckpointError(SgpcError):
    """A fit cannot be kept in a log, or not be resumed from it."""


class NumericalError(SgpcError, ArithmeticError):
    """Rounding or a wrong kernel made the algebra impossible; the fit ends with its best model."""


class StopFitting(SgpcError):
    """Raised by a ``progress`` callback: the fit ends, and returns the best model so far."""


class NumericalWarning(RuntimeWarning):
    """A fit ended early for numerical reasons; the returned model is the best one before that."""


class ChanceLevelWarning(UserWarning):
    """A fit is no better than the class frequencies, even on the rows that it was fitted to."""


class CheckpointWarning(UserWarning):
    """The log of a fit lacks something: its end was cut, or it could not be written."""


def suggestion(word: str, known: Iterable[str]) -> str:
    """A sentence with the nearest valid name, or with all of them.

    >>> suggestion("entrpy", ["entropy", "validation"])
    "did you mean 'entropy'?"
    >>> suggestion("x", ["entropy", "validation"])
    'choose from entropy, validation'
    """
    names = sorted(known)
    close = get_close_matches(word, names, n=1, cutoff=0.6)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"choose from {', '.join(names)}" if names else "there is nothing to choose from"
