"""Reading a mapping from a TOML or JSON file, with errors that name the file and the line."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from sgpc_framework.errors import ConfigError, suggestion

MOST_BYTES = 2**20
"""A configuration is small."""


def read_mapping(path: Path) -> dict[str, Any]:
    """What a ``.toml`` or ``.json`` file says; ``ConfigError`` if it cannot be read or parsed."""
    parse = _PARSERS.get(path.suffix.lower())
    if parse is None:
        raise ConfigError([f"wanted a file that ends in .toml or .json, found {str(path)!r}"])
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            text = f"{str(path)!r} is larger than any configuration: {MOST_BYTES} bytes are most"
            raise ConfigError([text])
        content = parse(data.decode("utf-8-sig"))
    except FileNotFoundError:
        raise ConfigError([f"there is no file {str(path)!r}{_neighbour(path)}"]) from None
    except OSError as error:
        raise ConfigError([f"{str(path)!r} cannot be read: {error.strerror}"]) from error
    except UnicodeDecodeError as error:
        raise ConfigError([f"{str(path)!r} is not UTF-8 text: {error}"]) from error
    except RecursionError:
        raise ConfigError([f"{str(path)!r} is nested too deeply to be a configuration"]) from None
    except ValueError as error:  # both parsers' errors say the line and the column
        raise ConfigError([f"{str(path)!r} cannot be understood: {error}"]) from error
    if not isinstance(content, dict):
        raise ConfigError([f"{str(path)!r} must hold a mapping, found a {type(content).__name__}"])
    return content


def is_configuration_file(name: str) -> bool:
    """Whether a text looks like the path of a file rather than the name of a preset."""
    return Path(name).suffix.lower() in _PARSERS or Path(name).name != name


def written_value(text: str) -> Any:
    """What somebody wrote behind an equals sign: a value as TOML has it, or else a text.

    >>> written_value("2"), written_value("[1, 2]"), written_value("matern-52")
    (2, [1, 2], 'matern-52')
    """
    try:
        return tomllib.loads(f"value = {text.strip()}")["value"]
    except (ValueError, RecursionError):  # of 5000 digits, say, or brackets: no value of TOML
        return text.strip()


def _neighbour(path: Path) -> str:
    others = [p.name for p in path.parent.glob("*") if p.suffix.lower() in _PARSERS]
    return f"; {suggestion(path.name, others)}" if others else ""


def _parse_json(text: str) -> Any:
    """JSON as the standard has it: no NaN, and no key twice (Python would keep the last)."""
    return json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_without_repeats)


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"wanted a finite number, found {word}")


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        keys = [key for key, _ in pairs]
        repeated = sorted({key for key in keys if keys.count(key) > 1})
        raise ValueError(f"wanted every key once, found {', '.join(map(repr, repeated))} twice")
    return mapping


_PARSERS: dict[str, Callable[[str], Any]] = {".toml": tomllib.loads, ".json": _parse_json}
