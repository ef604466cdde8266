"""Models in other languages: ``export(model, "model.onnx")``, also ``.py``, ``.c`` and ``.js``."""

from sgpc_framework.adapters.portable.exports import Exported, export

__all__ = ["Exported", "export"]
