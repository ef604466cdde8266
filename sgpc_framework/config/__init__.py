"""From text to parts: configurations, presets, structure, provenance and description."""
