"""From the tree of exceptions that cattrs collects to a flat list of problems with their paths."""

from __future__ import annotations

from collections.abc import Iterator

from cattrs import ClassValidationError, IterableValidationError

TOP = "the top level"


def problems(error: BaseException, path: str = "") -> Iterator[str]:
    """Every problem as ``"what was wanted, what was found @ path"``."""
    if isinstance(error, ClassValidationError):
        fields, plain = error.group_exceptions()
        for cause, field in fields:
            yield from problems(cause, f"{path}.{field.name}" if path else field.name)
    elif isinstance(error, IterableValidationError):
        entries, plain = error.group_exceptions()
        for cause, entry in entries:
            yield from problems(cause, f"{path}[{entry.index!r}]")
    else:
        yield f"{_text(error)} @ {path or TOP}"
        return
    for cause in plain:
        yield from problems(cause, path)


def _text(error: BaseException) -> str:
    """What an exception says. Validators of attrs put more than the text into its arguments."""
    said = str(error.args[0]) if error.args else ""
    if said and isinstance(error, (ValueError, TypeError)):
        return said
    return f"{type(error).__name__}: {said}"
