"""What ``sgpc fit`` was asked for besides the configuration: enough to ask for it again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import attrs

from sgpc_framework.errors import CheckpointError


@attrs.frozen(kw_only=True)
class FitRequest:
    """The table, the model file, and how the one is read for the other."""

    data: Path
    output: Path
    target: str | None
    weight: str | None
    drop: tuple[str, ...]
    words: tuple[str, ...]
    impute: bool
    standardise: bool
    unseen: Literal["refuse", "zero"]
    max_words: int
    format_: str | None
    header: bool | None
    missing: tuple[str, ...]
    trust: bool
    cluster: str | None = None
    """The address of a Dask scheduler, or ``local``, for rows that stay on workers."""
    holdout: float | None = None
    """The share of the rows that the fit does not see, but is judged by."""
    costs: tuple[str, ...] = ()
    threshold: float | None = None
    """How the model decides, as it was said."""

    @property
    def learning(self) -> dict[str, Any]:
        """How the encoding of the columns is learnt: arguments of ``TableClassifier.fit``."""
        names = ("drop", "words", "standardise", "impute", "unseen", "max_words")
        return {name: getattr(self, name) for name in names}

    def as_plain(self) -> dict[str, Any]:
        """Plain data, as a checkpoint has it; files by names that mean the same everywhere."""
        plain = attrs.asdict(self, value_serializer=lambda _, __, value: _plain(value))
        return {"command": "fit", **plain}

    @classmethod
    def from_plain(cls, asked: Mapping[str, Any], log: Path) -> FitRequest:
        """The request in a checkpoint that may hold anything."""
        import cattrs

        converter = cattrs.Converter(forbid_extra_keys=True)
        converter.register_structure_hook(Path, lambda value, _: Path(_checked(value, str)))
        for plain in (str, int, bool, float):
            converter.register_structure_hook(plain, _checked)
        rest = {key: value for key, value in asked.items() if key != "command"}
        try:
            if asked.get("command") != "fit":
                raise ValueError(f"wanted a log of sgpc fit, found one of {asked.get('command')!r}")
            return converter.structure(rest, cls)
        except (cattrs.BaseValidationError, LookupError, TypeError, ValueError) as error:
            raise CheckpointError(
                f"{log}: it does not say how the fit was begun: {error}"
            ) from error


def _plain(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value.absolute())
    return list(value) if isinstance(value, tuple) else value


def _checked(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise TypeError(f"wanted {kind.__name__}, found {value!r}")
    return value
