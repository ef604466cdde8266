"""A part in a file that nobody has installed: ``borderline.py:Borderline``."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

import attrs

from sgpc_framework.errors import ConfigError, PluginError, suggestion
from sgpc_framework.lab.source_digests import source_files
from sgpc_framework.plugin.admission import kind_of
from sgpc_framework.plugin.loading import contain_side_effects
from sgpc_framework.plugin.python_files import imported_file


@attrs.frozen
class PartFile:
    """The class of a file with options. It is imported where it is needed: in every worker."""

    path: Path
    class_name: str | None = None
    """The class; a file with a single part need not say which."""

    options: Mapping[str, Any] = attrs.field(factory=lambda: MappingProxyType({}), converter=dict)

    def __str__(self) -> str:
        options = ", ".join(f"{key}={value}" for key, value in self.options.items())
        which = f":{self.class_name}" if self.class_name else ""
        return f"{self.path.name}{which}{f':{options}' if options else ''}"

    @property
    def cls(self) -> type:
        """The class, imported from the file as it is now."""
        module = _module(self.path.resolve())
        classes = {
            name: value
            for name, value in vars(module).items()
            if isinstance(value, type) and value.__module__ == module.__name__
        }
        parts = {name: value for name, value in classes.items() if _slot(value)}
        if self.class_name is None and len(parts) == 1:
            return next(iter(parts.values()))
        if self.class_name not in classes:
            wanted = f"a part {self.class_name!r}" if self.class_name else "one part"
            there = suggestion(self.class_name or "", parts) if parts else "it has none"
            raise ConfigError([f"wanted {wanted} in {str(self.path)!r}; {there}"])
        return classes[self.class_name]

    @property
    def slot(self) -> str:
        """The kind of part that it is."""
        return kind_of(self.cls).name

    def make(self) -> Any:
        """The part."""
        try:
            return self.cls(**self.options)
        except (TypeError, ValueError) as error:
            raise ConfigError([f"{self.path}: {self.cls.__name__}: {error}"]) from error


def _slot(cls: type) -> str | None:
    try:
        return kind_of(cls).name
    except PluginError:
        return None


def _module(path: Path) -> ModuleType:
    try:
        sources = source_files(path)
    except OSError as error:
        raise ConfigError([f"{str(path)!r} cannot be read: {error.strerror}"]) from error
    # Another content is another module: an edited file is imported anew, and what lies beside it.
    content = hashlib.sha256(b"".join([bytes(path), *sources.values()]))
    name = f"{path.stem}_{content.hexdigest()[:12]}"
    if name in sys.modules:
        return sys.modules[name]
    for beside, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file is not None and beside != "__main__" and Path(file) in sources:
            del sys.modules[beside]
    with contain_side_effects():
        return imported_file(path, name)
