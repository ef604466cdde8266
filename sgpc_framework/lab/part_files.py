"""A part in a file that nobody has installed: ``borderline.py:Borderline``."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

import attrs

from sgpc_framework.errors import ConfigError, PluginError, suggestion
from sgpc_framework.lab.source_digests import source_files
from sgpc_framework.plugin.admission import kind_of


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
        parts = {
            name: value
            for name, value in vars(module).items()
            if isinstance(value, type) and value.__module__ == module.__name__ and _slot(value)
        }
        if self.class_name is None and len(parts) == 1:
            return next(iter(parts.values()))
        if self.class_name not in parts:
            wanted = f"a part {self.class_name!r}" if self.class_name else "one part"
            there = suggestion(self.class_name or "", parts) if parts else "it has none"
            raise ConfigError([f"wanted {wanted} in {str(self.path)!r}; {there}"])
        return parts[self.class_name]

    @property
    def slot(self) -> str:
        """The kind of part that it is."""
        return _slot(self.cls) or ""

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
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ConfigError([f"wanted a file of Python, found {str(path)!r}"])
    module = module_from_spec(spec)
    sys.modules[name] = module  # attrs and pickle look there for the module of a class
    before = sys.path[:]
    sys.path.insert(0, str(path.parent))  # so that it finds what lies beside it
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise ConfigError(
            [f"{str(path)!r} cannot be imported: {type(error).__name__}: {error}"]
        ) from error
    finally:
        sys.path[:] = before
    return module
