"""All that a fit depends on besides its rows: the configuration, and the software that runs it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import attrs

from sgpc_framework.config.config import Config
from sgpc_framework.config.structure import plain
from sgpc_framework.errors import ConfigError
from sgpc_framework.lab.source_digests import file_digest, source_digest
from sgpc_framework.parts.hyperparameters import parts_of
from sgpc_framework.plugin.kinds import KINDS
from sgpc_framework.plugin.registry import default_registry

FRAMEWORK = "sgpc-framework"


def identity_of(config: Config) -> dict[str, Any]:
    """What a fit with this configuration depends on, in terms of JSON.

    Distributions are there with their versions. Where sources can change under a version, in an
    editable install or in a class that no distribution has, there is a digest of the source, too.
    """
    settings = {field.name: getattr(config, field.name) for field in attrs.fields(Config)}
    described = {
        key: _described(value) if key in KINDS else plain(value) for key, value in settings.items()
    }
    return {"design": described, "software": dict(sorted(_software(config)))}


def _software(config: Config) -> Iterator[tuple[str, str]]:
    yield FRAMEWORK, _framework()
    for slot in KINDS:
        for part in parts_of(getattr(config, slot)):
            cls: Any = type(part)
            provider = default_registry().provider(cls)
            if provider is None:  # by its source alone: the same file elsewhere is the same part
                yield f"{slot}: {cls.__qualname__}", source_digest(cls)
                continue
            name = provider.distribution
            if is_editable(name):
                yield f"{name}: {cls.__name__}", f"{provider.version} {_loaded_digest(cls)}"
            elif name != FRAMEWORK:
                yield name, provider.version


@cache
def is_editable(name: str) -> bool:
    """Whether a distribution is installed such that its files are edited in place."""
    try:
        text = distribution(name).read_text("direct_url.json")
    except PackageNotFoundError:
        return True  # a version that nobody vouches for
    if text is None:
        return False
    try:
        return bool(json.loads(text).get("dir_info", {}).get("editable", False))
    except (ValueError, AttributeError):
        return True


@cache
def _loaded_digest(cls: type) -> str:
    """That of an installed class: this process goes on with what it has loaded."""
    return source_digest(cls)


@cache
def _framework() -> str:
    from sgpc_framework import design

    version = distribution(FRAMEWORK).version
    if not is_editable(FRAMEWORK):
        return version
    return f"{version} {file_digest(Path(design.__file__), design.__name__)}"


def _described(part: Any) -> Any:
    """Name and options; of an object that does not say its options, what it holds."""
    try:
        said = plain(part)
        json.dumps(said)
    except (ConfigError, TypeError, ValueError):
        held = {key: repr(value) for key, value in sorted(vars(part).items())}
        said = {"name": part.name, "holds": held}
    return said
