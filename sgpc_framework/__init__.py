"""sgpc-framework: sparse Gaussian process classifiers, composed from plugins.

    import sgpc_framework as sgpc

    model = sgpc.build({"selector": "adaptive-sampling", "max_basis": 40}).fit(X, y)
    model.predict_proba(X_new)

The public names are imported when they are first used, so that importing the package is cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sgpc_framework.adapters.sklearn import SGPClassifier as SGPClassifier
    from sgpc_framework.adapters.sklearn_tables import SGPTableClassifier as SGPTableClassifier
    from sgpc_framework.config.config import Config
    from sgpc_framework.design import Design, build
    from sgpc_framework.errors import (
        ChanceLevelWarning,
        CheckpointError,
        CheckpointWarning,
        ClusterError,
        ConfigError,
        InputError,
        ModelFileError,
        NumericalError,
        NumericalWarning,
        PluginError,
        SgpcError,
        StopFitting,
    )
    from sgpc_framework.files.inspection import inspect
    from sgpc_framework.files.model_files import load
    from sgpc_framework.model.many_classes import OneVsRest
    from sgpc_framework.model.model import Model
    from sgpc_framework.plugin import hookimpl
    from sgpc_framework.plugin.registry import Registry

__all__ = [
    "ChanceLevelWarning",
    "CheckpointError",
    "CheckpointWarning",
    "ClusterError",
    "Config",
    "ConfigError",
    "Design",
    "InputError",
    "Model",
    "ModelFileError",
    "NumericalError",
    "NumericalWarning",
    "OneVsRest",
    "PluginError",
    "Registry",
    "SgpcError",
    "StopFitting",
    "build",
    "hookimpl",
    "inspect",
    "load",
]

_WITH_EXTRAS = [
    "SGPClassifier",
    "SGPTableClassifier",
]  # not in __all__, so that a star import needs no extra

_HOME = {
    "Config": "config.config",
    "Design": "design",
    "Model": "model.model",
    "OneVsRest": "model.many_classes",
    "Registry": "plugin.registry",
    "SGPClassifier": "adapters.sklearn",
    "SGPTableClassifier": "adapters.sklearn_tables",
    "build": "design",
    "hookimpl": "plugin",
    "inspect": "files.inspection",
    "load": "files.model_files",
}


def __getattr__(name: str) -> Any:
    if name in (*__all__, *_WITH_EXTRAS):
        return getattr(import_module(f"{__name__}.{_HOME.get(name, 'errors')}"), name)
    if name == "__version__":
        from importlib.metadata import version

        return version("sgpc-framework")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, *_WITH_EXTRAS, "__version__"]
