"""How much memory reading a file may take: ten times its size and 64 MB, unless it is trusted.

A model may take 256 MB besides: one of 26 classes with 80 basis vectors is a small file and a large
matrix.

A few bytes can ask for gigabytes: by a shape, a count, an index, or by being compressed. What they
ask for is compared with what is allowed before any room is made.
"""

from __future__ import annotations

from typing import NoReturn

import attrs

from sgpc_framework.errors import ModelFileError, SgpcError

TIMES = 10
BESIDES = 64 * 2**20
BESIDES_OF_MODELS = 256 * 2**20

PACKED_TIMES = 8
PACKED_BESIDES = 8 * 2**20
"""Text that was packed may be eight times the file and 8 MB: parsing it takes time, and tables are
packed to a fourth or so."""


@attrs.frozen
class Allowance:
    """What reading a file of so many bytes may take; anything if it is trusted (``None``).

    ``error`` is what is raised when it asks for more, after ``place``, which says where.
    """

    size: int | None
    error: type[SgpcError]
    place: str = ""
    besides: int = BESIDES

    @classmethod
    def of(
        cls, size: int, error: type[SgpcError], place: str = "", *, trust: bool = False
    ) -> Allowance:
        """The allowance of a file of so many bytes."""
        return cls(None if trust else size, error, place)

    @classmethod
    def of_model(cls, size: int, *, trust: bool = False) -> Allowance:
        """The allowance of a model file of so many bytes."""
        return cls(None if trust else size, ModelFileError, besides=BESIDES_OF_MODELS)

    def permits(self, wanted: float) -> bool:
        """Whether so many bytes of memory are not too many."""
        return self.size is None or wanted <= TIMES * self.size + self.besides

    def check(self, wanted: float, what: str) -> None:
        """Refuse what would take ``wanted`` bytes of memory, if that is too much."""
        if not self.permits(wanted):
            self._refuse(f"{what} takes {megabytes(wanted)} of memory", TIMES, self.besides)

    def check_unpacked(self, count: int) -> None:
        """Refuse packed text when so many bytes of it have come, if that is too much."""
        if self.size is not None and count > PACKED_TIMES * self.size + PACKED_BESIDES:
            text = f"unpacked, it is more than {megabytes(count)} of text"
            self._refuse(text, PACKED_TIMES, PACKED_BESIDES)

    def _refuse(self, problem: str, times: int, besides: int) -> NoReturn:
        assert self.size is not None  # what is trusted is not refused
        raise self.error(
            f"{self.place}{problem}, where {megabytes(times * self.size + besides)} are allowed, "
            f"{times} times the file and {megabytes(besides)}: if you trust the file, say so "
            "(trust=True; on the command line: --trust)"
        )


def megabytes(count: float) -> str:
    """A number of bytes for people.

    >>> megabytes(7e4), megabytes(3 * 2**20), megabytes(5e12)
    ('1 MB', '3 MB', '4768372 MB')
    """
    return f"{max(count / 2**20, 1.0):.0f} MB"
