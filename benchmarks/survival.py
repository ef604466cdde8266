"""What survives what: ``python -m benchmarks.survival``, or one of its parts by name.

=========== ======================================================================================
workers     processes that have the rows are killed at random moments (``survival_workers``)
checkpoints fits are killed and resumed, and what checkpoints cost (``killed_fits``)
later       fits go on from a model when more rows have come (``later_rows``)
stream      streams of which a bounded number of rows is kept (``later_rows``)
=========== ======================================================================================
"""

from __future__ import annotations

import sys
from importlib import import_module

PARTS = {
    "workers": ("survival_workers", "main"),
    "checkpoints": ("killed_fits", "main"),
    "later": ("later_rows", "later"),
    "stream": ("later_rows", "stream"),
}


def main() -> int:
    """Run the part that is named, or all; returns how many of them found something wrong."""
    part, arguments = (sys.argv[1:2] or [""])[0], sys.argv[2:]
    if part and part not in PARTS:
        raise SystemExit(f"wanted one of {', '.join(PARTS)}, found {part!r}")
    chosen = [PARTS[part]] if part else [*PARTS.values()]
    return sum(
        bool(getattr(import_module(f"benchmarks.{module}"), name)(arguments))
        for module, name in chosen
    )


if __name__ == "__main__":
    sys.exit(main())
