"""Components from plain data: made once if all is well, and heard out if not."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import attrs
import numpy as np
import pytest

import sgpc_framework as sgpc
from sgpc_framework.config.structure import nothings, plain, structured
from sgpc_framework.errors import ConfigError
from sgpc_framework.plugin.registry import Registry

REGISTRY = Registry.of()


def problems(cls, **options):
    with pytest.raises(ConfigError) as caught:
        structured(options, cls, REGISTRY)
    return list(caught.value.problems)


def short(value: Any) -> tuple[float, ...]:
    if len(value) > 2:
        raise ValueError(f"wanted at most two numbers, found {len(value)}")
    return tuple(value)


@attrs.frozen
class Converting:
    array: np.ndarray = attrs.field(
        factory=lambda: np.zeros(1), converter=lambda value: np.asarray(value, float), eq=False
    )
    pair: tuple[float, ...] = attrs.field(default=(), converter=short)
    size: int = attrs.field(default=1, validator=attrs.validators.ge(1))


@attrs.frozen
class Nested:
    rows: tuple[tuple[int, ...], ...] = ()
    limit: int | Literal["auto"] = 3
    table: dict[str, Any] = attrs.field(factory=dict)


def test_validators_run_once_if_all_is_well():
    calls = []

    @attrs.frozen
    class Counted:
        first: int = attrs.field(default=1, validator=lambda _, field, value: calls.append(value))
        second: int = attrs.field(default=2, validator=lambda _, field, value: calls.append(value))

    assert structured({"first": 5}, Counted, REGISTRY) == Counted(5)
    assert calls == [5, 2, 5, 2]  # one round for each of the two objects above


def test_converters_and_validators_complain_together():
    assert problems(Converting, array="x", pair=[1, 2, 3], size=0) == [
        "could not convert string to float: 'x' @ array",
        "wanted at most two numbers, found 3 @ pair",
        "'size' must be >= 1: 0 @ size",
    ]


def test_validators_that_complain_together():
    @attrs.define  # not frozen: strangers may do so
    class Two:
        _first: int = attrs.field(default=1, validator=attrs.validators.ge(1))
        second: int = attrs.field(kw_only=True, validator=attrs.validators.ge(1))

    paths = [text.rpartition(" @ ")[2] for text in problems(Two, first=0, second=0)]
    assert paths == ["first", "second"]
    paths = [text.rpartition(" @ ")[2] for text in problems(Two, first=0)]
    assert paths == ["second", "first"]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"rows": "12"}, "wanted a list of lists, found '12' (a string) @ rows"),
        ({"rows": [[1], [2, "3"]]}, "wanted an integer, found '3' (a string) @ rows[1][1]"),
        ({"limit": "x"}, "wanted an integer or 'auto', found 'x' (a string) @ limit"),
        ({"limit": "aut"}, "wanted 'auto', found 'aut' (a string); did you mean 'auto'? @ limit"),
        ({"table": {1: 2}}, "wanted a string, found 1 (an integer) @ table[1]"),
    ],
)
def test_the_words_of_nested_types(options, text):
    assert problems(Nested, **options) == [text]


@pytest.mark.parametrize("type_", [int, float])
def test_a_number_too_large_is_not_finite(type_):
    number = attrs.make_class("Numbers", {"number": attrs.field(type=type_)})
    (text,) = problems(number, number=10**400)
    assert text.startswith("wanted a finite number, found 1000")
    assert len(text) < 100
    (text,) = problems(number, number=10**5000)
    assert text == "wanted a finite number, found a number of too many digits @ number"


def test_sets_and_paths_are_written_as_lists_and_strings():
    @attrs.frozen
    class Files:
        words: frozenset[str] = frozenset()
        path: Path = Path()

    files = Files(frozenset({"b", "a"}), Path("a.txt"))
    assert plain(files) == {"words": ["a", "b"], "path": "a.txt"}
    assert structured(plain(files), Files, REGISTRY) == files


def test_a_default_that_needs_a_refused_option_is_not_blamed():
    @attrs.frozen
    class Half:
        whole: int = attrs.field(validator=attrs.validators.ge(1))
        half: int = attrs.field(validator=attrs.validators.ge(1))
        size: int = attrs.field(default=1, validator=attrs.validators.ge(1))

        @half.default
        def _half(self) -> int:
            return self.whole // 2

    assert problems(Half, whole="4", size=0) == [
        "wanted an integer, found '4' (a string) @ whole",
        "'size' must be >= 1: 0 @ size",
    ]
    assert problems(Half, whole=1) == ["'half' must be >= 1: 0 @ half"]


def test_nothings_are_found_in_mappings_too():
    (text,) = nothings(Nested(table={"a": [1, None]}))
    assert text == "wanted what TOML can write, found None @ table['a'][1]"


@pytest.mark.parametrize("depth", [49, 51, 400, 5000])
def test_parts_of_parts_are_not_followed_for_ever(depth):
    """A part in the list of another is two deeper."""
    part = "constant"
    for _ in range(depth):
        part = {"name": "sum", "terms": [part, "linear"]}
    if depth < 50:
        assert sgpc.build(kernel=part)
        return
    with pytest.raises(ConfigError, match="at most 100 deep, found deeper ones @ the top level"):
        sgpc.build(kernel=part)
