"""How commands print tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

WIDE = 200


def console() -> Console:
    """Standard output; where it is no terminal, lines are as long as they need to be."""
    from rich.console import Console

    found = Console(highlight=False, markup=False)
    return found if found.is_terminal else Console(highlight=False, markup=False, width=WIDE)
