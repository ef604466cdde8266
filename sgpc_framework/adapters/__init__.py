"""Other worlds' views of the framework, each behind an extra, imported by whoever wants it."""
