"""The engine: composes the parts into Algorithm 1. Start reading at ``algorithm1``."""
