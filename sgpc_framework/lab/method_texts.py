"""Methods as people write them: parts with options, presets, files, and any of these together.

>>> method_of("pool:keep=40 + matern-52").settings["selector"]
{'name': 'pool', 'keep': 40}
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from sgpc_framework.config.config_files import is_configuration_file, read_mapping, written_value
from sgpc_framework.config.presets import PRESETS
from sgpc_framework.errors import ConfigError, InputError, suggestion
from sgpc_framework.lab.methods import PAPER, Method, is_known, method
from sgpc_framework.lab.part_files import PartFile
from sgpc_framework.plugin.kinds import KINDS
from sgpc_framework.plugin.registry import default_registry

SETTING = re.compile(r"([a-z_0-9]+)\s*=\s*(.*)", re.DOTALL)
PART = re.compile(r"([^:=]+(?::[a-z][a-z0-9-]*(?=:|$))?)(?::(.*))?", re.DOTALL)
PYTHON_FILE = re.compile(r"(.*?\.py)(?::([A-Za-z_]\w*)(?![\w=\s]*=))?(?::(.*))?", re.DOTALL)

Given = str | Mapping[str, Any] | Method | Any


def method_of(given: Given, name: str | None = None, base: Mapping[str, Any] = PAPER) -> Method:
    """A method from a text, a mapping of settings, a ready part, or a method.

    A text names parts of any kind, ``pool:keep=40``, ``refiner=none`` where several kinds have
    the name, ``distribution:name:keep=40`` where several distributions have it; presets; TOML or
    JSON files; ``file.py:Class``; settings, ``max_iterations=5``; or
    several of them with `` + `` between. What it does not say is as in ``base``, which is the
    paper's Algorithm 1, unless it begins with a preset or a file.

    >>> method_of("adaptive-sampling:working_set=2").settings["optimizer"]
    'conjugate-gradients'
    """
    if isinstance(given, Method):
        return given
    if isinstance(given, str):
        return _from_text(given.strip(), name, base)
    if isinstance(given, Mapping):
        if name is None:
            raise InputError("wanted a name for a method that is a mapping of settings")
        settings = dict(given) if "preset" in given else {**base, **given}
        return Method(name, settings, _candidates(settings))
    slots = [slot for slot, kind in KINDS.items() if kind.has_instance(given)]
    if len(slots) != 1:
        raise InputError(
            "wanted a method: a text, a mapping of settings or a part, found "
            f"{type(given).__name__} {given!r}"
        )
    return Method(name or str(given.name), {**base, slots[0]: given})


def methods_of(
    given: Iterable[Given] | Mapping[str, Given], base: Mapping[str, Any] = PAPER
) -> tuple[Method, ...]:
    """Several of them, each under a name of its own."""
    if isinstance(given, Mapping):
        chosen = [method_of(each, name, base) for name, each in given.items()]
    else:
        chosen = [method_of(each, None, base) for each in given]
    names = [each.name for each in chosen]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(
            f"wanted methods of different names, found {', '.join(map(repr, twice))} twice"
        )
    return tuple(chosen)


def base_of(text: str) -> dict[str, Any]:
    """The settings of a preset or a file, for methods that change them."""
    return read_mapping(Path(text)) if is_configuration_file(text) else {"preset": text}


def _from_text(text: str, name: str | None, base: Mapping[str, Any]) -> Method:
    if is_known(text) and base is PAPER:
        known = method(text)
        return Method(name or text, known.settings, known.candidates)
    terms = [term.strip() for term in text.split(" + ")]
    settings: dict[str, Any] = {}
    for position, term in enumerate(terms):
        said = _term(term)
        if position == 0 and not ("preset" in said or is_configuration_file(term)):
            settings = dict(base)
        settings |= said
    title = name or " + ".join(map(_title, terms))
    return Method(title, settings, _candidates(settings))


def _title(term: str) -> str:
    """A file is called by its name, not by where it lies."""
    file = PYTHON_FILE.fullmatch(term)
    return term.replace(file[1], Path(file[1]).name, 1) if file else term


def _term(term: str) -> dict[str, Any]:
    if not term:
        raise ConfigError(["wanted a method, found nothing @ method"])
    if "\0" in term:
        raise ConfigError([f"wanted a method, found {term!r}, which has a zero byte @ method"])
    if file := PYTHON_FILE.fullmatch(term):
        held = PartFile(Path(file[1]), file[2], _options(file[3] or ""))
        return {held.slot: held}
    if term in PRESETS:
        return {"preset": term}
    if is_configuration_file(term.partition(":")[0]):
        return read_mapping(Path(term))
    setting = SETTING.fullmatch(term)
    if setting and setting[1] not in KINDS:
        return {setting[1]: written_value(setting[2])}
    slot, text = (setting[1], setting[2]) if setting else (None, term)
    named = PART.fullmatch(text)
    part, options = (named[1], named[2] or "") if named else (text, "")
    chosen = slot or _slot_of(part)
    return {chosen: {"name": part, **_options(options)}}


def _slot_of(name: str) -> str:
    slots = default_registry().kinds_of(name)
    if len(slots) == 1:
        return slots[0]
    if slots:
        ways = " or ".join(f"{slot}={name}" for slot in slots)
        raise ConfigError([f"{name!r} is the name of several kinds of parts: say {ways} @ method"])
    names = {*PRESETS, *(part.name for part in default_registry().parts())}
    absent = "; ".join(map(str, default_registry().quarantined()))
    missing = f"; it may be missing because {absent}" if absent else ""
    raise ConfigError(
        [
            "wanted the name of a part, a preset, a file that ends in .toml, .json or .py, or "
            f"KEY=VALUE, found {name!r}; {suggestion(name, names)}{missing} @ method"
        ]
    )


def _options(text: str) -> dict[str, Any]:
    """
    >>> _options("keep=40,fresh=2"), _options("of=[1,2],name=x")
    ({'keep': 40, 'fresh': 2}, {'of': [1, 2], 'name': 'x'})
    """
    options = {}
    for each in re.split(r",(?=\s*\w+\s*=)", text) if text.strip() else ():
        key, equals, value = each.partition("=")
        if not equals or not key.strip():
            raise ConfigError([f"wanted OPTION=VALUE behind the colon, found {each!r} @ method"])
        options[key.strip()] = written_value(value)
    return options


def _candidates(settings: Mapping[str, Any]) -> int:
    """How many rows a stage tries, by what the selector says; only the time left depends on it."""
    selector = settings.get("selector")
    options = selector if isinstance(selector, Mapping) else {}
    numbers = [v for v in options.values() if isinstance(v, int) and not isinstance(v, bool)]
    return max(1, sum(numbers))
