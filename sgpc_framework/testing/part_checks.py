"""The laws of every part, whatever its kind: how it is made, named, compared and written down."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from difflib import get_close_matches
from typing import Any

import attrs
import numpy as np

from sgpc_framework.config.structure import plain, structured, unregistered
from sgpc_framework.errors import PluginError
from sgpc_framework.parts.abilities import ABILITIES, has
from sgpc_framework.parts.hyperparameters import declaration, parts_of, replaced, values
from sgpc_framework.parts.undeclared import untunable_parts
from sgpc_framework.plugin.admission import checked_name
from sgpc_framework.plugin.kinds import Kind, own_name
from sgpc_framework.plugin.registry import Registry
from sgpc_framework.protocols import Tunable
from sgpc_framework.testing.differences import variations
from sgpc_framework.testing.samples import is_unlocked, locked, samples_for, started
from sgpc_framework.testing.verdict import Violation, require, require_finite


def frozen_attrs_class(part: Any, kind: Kind, registry: Registry) -> None:
    """The class is decorated with ``@attrs.frozen``, so that no instance can be changed."""
    cls = type(part)
    if not attrs.has(cls) and has(part, Tunable):
        return  # it makes copies itself, which is for "hyperparameters round trip" to judge
    require(attrs.has(cls), f"{cls.__qualname__}, which is not an attrs class")
    try:
        part.name = own_name(cls)
    except attrs.exceptions.FrozenInstanceError:
        return
    except AttributeError:
        pass
    raise Violation(f"{cls.__qualname__}, an attrs class that is not frozen")


def well_formed_name_and_options(part: Any, kind: Kind, registry: Registry) -> None:
    """``name`` is a class attribute in lower case with hyphens; options have types that resolve."""
    if not attrs.has(type(part)):
        require(isinstance(own_name(type(part)), str), f"the name {own_name(type(part))!r}")
        return
    try:
        checked_name(kind, type(part))
    except PluginError as error:
        raise Violation(str(error)) from error


def whole_abilities(part: Any, kind: Kind, registry: Registry) -> None:
    """An ability is there with all of its methods, under their right names.

    Otherwise the engine does without it, and nobody would notice.
    """
    offered = {name for name in dir(part) if not name.startswith("_")}
    known: set[str] = set()
    whole = [a.members for a in ABILITIES[kind.name] if a.members <= offered]
    for ability in ABILITIES[kind.name]:
        present, missing = ability.members & offered, ability.members - offered
        require(
            not (present.difference(*whole) and missing),
            f"{' and '.join(present)} without {' and '.join(missing)} ({ability.name})",
        )
        known |= ability.members
    options = set(attrs.fields_dict(type(part))) if attrs.has(type(part)) else set()
    for name in sorted(offered - known - options - set(kind.required)):
        meant = get_close_matches(name, known, n=1, cutoff=0.8)
        require(not meant, f"{name!r}, which nobody asks for: is {'/'.join(meant)!r} meant?")


def equal_and_hashable(part: Any, kind: Kind, registry: Registry) -> None:
    """A copy (``attrs.evolve``, ``copy.deepcopy``, a pickle) is equal to the part and has the same
    hash; a part with other hyperparameters is not equal to it."""
    twin = attrs.evolve(part) if attrs.has(type(part)) else replaced(part, values(part))
    require(bool(twin == part), f"{twin!r}, not equal to the part it is a copy of")
    try:
        same = hash(twin) == hash(part)
    except TypeError as error:
        raise Violation(f"{error}: write options as tuples, not as lists or arrays") from error
    require(same, "another hash for the copy")
    if len(values(part)):
        for other in variations(started(part, samples_for(part)[0].X)):
            require(bool(deepcopy(other) == other), f"{deepcopy(other)!r}, a copy of {other!r}")
            differs = not np.array_equal(values(other), values(twin))
            require(not (differs and other == twin), f"{other!r}, said to be equal to {twin!r}")


def hyperparameters_round_trip(part: Any, kind: Kind, registry: Registry) -> None:
    """Hyperparameters can be read as one vector and replaced by another, which is then read."""
    require(not untunable_parts(part), "; ".join(untunable_parts(part)))
    ready = started(part, samples_for(part)[0].X)
    before = values(ready)
    require(replaced(ready, before) == ready, "another part after replacing like by like")
    for varied in variations(ready):
        again = replaced(ready, values(varied))
        require(again == varied, f"{again!r}, not {varied!r}")
    require(np.array_equal(values(ready), before), "a part that was changed, where a copy is meant")


def configuration_round_trip(part: Any, kind: Kind, registry: Registry) -> None:
    """What a configuration file would say of a registered part makes the same part again."""
    if any(unregistered(part, registry)):
        return  # no file can name it yet
    written = plain(part)
    again = structured(written, kind.protocol, registry)
    require(again == part, f"{again!r} from {written!r}")


def starts_from_data(part: Any, kind: Kind, registry: Registry) -> None:
    """started(X) leaves no word among the hyperparameters, whatever X is, and changes no number."""
    for sample in samples_for(part):
        for X in (sample.X, sample.X[np.arange(1)]):
            where = f"{sample.title}, {len(X)} rows"
            ready = part.started(X)
            words = " and ".join(_words(ready))
            require(not words, f"{words} ({where})")
            require_finite(values(ready), "hyperparameter", where)
            require(ready.started(X) == ready, f"another part when started twice ({where})")


def starting_leaves_the_inputs_alone(part: Any, kind: Kind, registry: Registry) -> None:
    """started(X) changes nothing in X, which is the user's, and does not make it writable."""
    for sample in samples_for(part):
        X = locked(sample.X)
        part.started(X)
        require(np.array_equal(X, sample.X), f"X was changed ({sample.title})")
        require(not is_unlocked(X), f"X was made writable ({sample.title})")


PART_LAWS = (
    frozen_attrs_class,
    well_formed_name_and_options,
    whole_abilities,
    equal_and_hashable,
    hyperparameters_round_trip,
    configuration_round_trip,
)
STARTING_LAWS = (starts_from_data, starting_leaves_the_inputs_alone)


def _words(part: Any) -> Iterator[str]:
    """The hyperparameters that are words, those of nested parts included."""
    for inner in parts_of(part):
        cls: Any = type(inner)
        for field in attrs.fields(cls) if attrs.has(cls) else ():
            value = getattr(inner, field.name)
            if declaration(field) is not None and isinstance(value, str):
                yield f"{field.name} = {value!r}"
