"""The fully corrective refiner, with all that only it needs."""

from sgpc_plugins.refiners.corrective.corrective import Corrective

__all__ = ["Corrective"]
