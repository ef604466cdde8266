"""How much memory reading a file may take: ten times its size and 64 MB, unless it is trusted.

A few bytes can ask for gigabytes: by a shape, a count, an index, or by being compressed. What they
ask for is compared with what is allowed before any room is made.
"""

from __future__ import annotations

import attrs

from sgpc_framework.errors import SgpcError

TIMES = 10
BESIDES = 64 * 2**20


@attrs.frozen
class Allowance:
    """The bytes that reading a file of some size may take; ``None`` if it is trusted.

    ``error`` is what is raised when it asks for more, after ``place``, which says where.
    """

    limit: int | None
    error: type[SgpcError]
    place: str = ""

    @classmethod
    def of(
        cls, size: int, error: type[SgpcError], place: str = "", *, trust: bool = False
    ) -> Allowance:
        """The allowance of a file of so many bytes."""
        return cls(None if trust else TIMES * size + BESIDES, error, place)

    def check(self, wanted: float, what: str) -> None:
        """Refuse what would take ``wanted`` bytes, if that is too much."""
        if self.limit is not None and wanted > self.limit:
            raise self.error(
                f"{self.place}{what} takes {megabytes(wanted)} of memory, where "
                f"{megabytes(self.limit)} are allowed, {TIMES} times the file and "
                f"{megabytes(BESIDES)}: if you trust the file, say so (trust=True; on the command "
                "line: --trust)"
            )


def megabytes(count: float) -> str:
    """A number of bytes for people.

    >>> megabytes(3 * 2**20), megabytes(5e12)
    ('3 MB', '4768372 MB')
    """
    return f"{count / 2**20:.0f} MB"
