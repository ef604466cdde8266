"""Where ``sgpc`` and ``python -m sgpc_framework`` begin."""

from __future__ import annotations

import sys


def main() -> None:
    """The command line; Ctrl-C while it is still being imported ends without a traceback, too."""
    try:
        from sgpc_framework.cli import main as command_line
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        sys.exit(130)
    command_line(prog_name="sgpc")


if __name__ == "__main__":
    main()
