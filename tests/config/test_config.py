"""The configuration: strict, complete in its complaints, and the same again after a round trip."""

from __future__ import annotations

import json
import math
import tomllib
from enum import Enum, StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sgpc_framework.config.config import Config
from sgpc_framework.config.structure import plain, structured
from sgpc_framework.errors import ConfigError
from sgpc_framework.parts.hyperparameters import hyperparameter
from sgpc_framework.plugin.registry import Registry, default_registry

if TYPE_CHECKING:
    from sgpc_framework.protocols import Kernel  # resolved all the same: linters move it here


# ---------------------------------------------------------------------------------------------
# A small world of parts


class AnyKernel:
    def __call__(self, X, Z, /):
        return np.zeros((len(X), len(Z)))

    def diag(self, X, /):
        return np.zeros(len(X))


@attrs.frozen
class Smooth(AnyKernel):
    name: ClassVar[str] = "smooth"
    variance: float = hyperparameter(1.0, bounds=(1e-4, 1e4))
    lengthscale: float | tuple[float, ...] | str = hyperparameter(
        "median", bounds=(1e-3, 1e3), starts=("median",)
    )


@attrs.frozen
class Sum(AnyKernel):
    name: ClassVar[str] = "sum"
    terms: tuple[Kernel, ...] = attrs.field(validator=attrs.validators.min_len(1))


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Size(StrEnum):
    SMALL = "small"


@attrs.frozen
class Inner:
    depth: int = attrs.field(default=1, validator=attrs.validators.ge(1))


@attrs.frozen
class Everything(AnyKernel):
    name: ClassVar[str] = "everything"
    whole: int = 1
    real: float = 0.5
    flag: bool = False
    word: str = "word"
    words: tuple[str, ...] = ()
    pair: tuple[float, int] = (0.0, 1)
    numbers: list[float] = attrs.field(factory=list)
    table: dict[str, float] = attrs.field(factory=dict)
    choice: Literal["a", "b"] = "a"
    colour: Colour = Colour.RED
    size: Size = Size.SMALL
    maybe: int | None = None
    inner: Inner = attrs.field(factory=Inner)
    base: Kernel | None = None
    only: Smooth = attrs.field(factory=Smooth)
    array: np.ndarray = attrs.field(
        factory=lambda: np.zeros(1), converter=np.asarray, eq=attrs.cmp_using(np.array_equal)
    )
    _hidden: int = 3
    computed: int = attrs.field(init=False)

    @computed.default
    def _twice(self) -> int:
        return 2 * self.whole


@attrs.frozen
class Interval(AnyKernel):
    name: ClassVar[str] = "interval"
    low: float = 0.0
    high: float = attrs.field(default=1.0)

    @high.validator
    def _check(self, field: Any, value: float) -> None:
        if value <= self.low:
            raise ValueError(f"wanted high above low = {self.low:g}, found {value:g}")


@attrs.frozen
class Even(AnyKernel):
    name: ClassVar[str] = "even"
    number: int = 2

    def __attrs_post_init__(self) -> None:
        if self.number % 2:
            raise ValueError(f"wanted an even number, found {self.number}")


@attrs.frozen
class Sure:
    name: ClassVar[str] = "probit"
    slope: float = 1.0

    def moments(self, y, mean, variance, /):
        raise NotImplementedError


@attrs.frozen
class Sampling:
    name: ClassVar[str] = "adaptive-sampling"
    working_set: int = attrs.field(default=2, validator=attrs.validators.ge(1))

    def propose(self, posterior, rng, /):
        return 0


@attrs.frozen
class Matching:
    name: ClassVar[str] = "moment-matching"

    def estimate(self, posterior, candidates, /):
        raise NotImplementedError


@attrs.frozen
class Flat:
    name: ClassVar[str] = "nlp"

    def loss(self, trial, /):
        return None


@attrs.frozen
class Untouched:
    name: ClassVar[str] = "none"

    def loss(self, state, rows, /):
        return 0.0

    def refine(self, state, rows, rng, tell, /):
        return state


@attrs.frozen
class Stranger(AnyKernel):
    name: ClassVar[str] = "stranger"


KERNELS = (Smooth, Sum, Everything, Interval, Even)
REGISTRY = Registry.of(*KERNELS, Sure, Sampling, Matching, Flat, Untouched)


def config(**mapping):
    return Config.from_mapping({"kernel": "smooth", **mapping}, REGISTRY)


def problems(**mapping):
    with pytest.raises(ConfigError) as caught:
        config(**mapping)
    return list(caught.value.problems)


def problem(**mapping):
    (only,) = problems(**mapping)
    return only


def kernel_problem(**options):
    return problem(kernel={"name": "everything", **options})


# ---------------------------------------------------------------------------------------------
# What is accepted


def test_defaults():
    made = config()
    assert made.kernel == Smooth()
    assert made.selector == Sampling(working_set=2)
    assert (made.likelihood, made.sites, made.objective, made.refiner) == (
        Sure(),
        Matching(),
        Flat(),
        Untouched(),
    )
    assert (made.max_basis, made.max_iterations, made.tolerance) == (80, 20, 1e-4)
    assert (made.optimizer, made.optimizer_steps) == ("l-bfgs-b", 20)
    assert (made.block_rows, made.seed) == (8192, 0)


def test_a_slot_takes_a_name_a_mapping_or_an_instance():
    by_name = config(kernel="smooth").kernel
    by_mapping = config(kernel={"name": "smooth", "lengthscale": "median"}).kernel
    instance = Smooth()
    assert by_name == by_mapping == instance
    assert config(kernel=instance).kernel is instance


def test_an_instance_needs_no_registration_and_no_attrs():
    class Notebook(AnyKernel):
        def __init__(self):
            self.name = "notebook"

    kernel = Notebook()
    assert config(kernel=kernel).kernel is kernel
    nested = config(kernel={"name": "sum", "terms": ["smooth", kernel]}).kernel
    assert nested.terms == (Smooth(), kernel)


def test_parts_nest():
    terms = ["smooth", {"name": "sum", "terms": [{"name": "smooth", "lengthscale": [1, 2.5]}]}]
    made = config(kernel={"name": "sum", "terms": terms}).kernel
    assert made == Sum((Smooth(), Sum((Smooth(lengthscale=(1.0, 2.5)),))))


def test_an_integer_is_a_number_and_becomes_a_float():
    kernel = config(kernel={"name": "smooth", "variance": 4, "lengthscale": 2}).kernel
    assert type(kernel.variance) is float
    assert type(kernel.lengthscale) is float


def test_numpy_numbers_and_vectors_are_numbers_and_lists():
    options = {"variance": np.float32(2), "lengthscale": np.array([1.0, 2.0])}
    made = config(kernel={"name": "smooth", **options}, max_basis=np.int64(7))
    assert made.max_basis == 7
    assert type(made.max_basis) is int
    assert made.kernel == Smooth(2.0, (1.0, 2.0))


def test_every_kind_of_option():
    given_options = {
        "whole": 2,
        "real": 3,
        "flag": True,
        "word": "w",
        "words": ["a", "b"],
        "pair": [1, 2],
        "numbers": [1, 2.5],
        "table": {"a": 1},
        "choice": "b",
        "colour": "blue",
        "size": "small",
        "maybe": 4,
        "inner": {"depth": 2},
        "base": "smooth",
        "only": {"name": "smooth", "variance": 2.0, "lengthscale": 3.0},
        "array": [1.0, 2.0],
        "hidden": 5,
    }
    kernel = config(kernel={"name": "everything", **given_options}).kernel
    assert kernel == Everything(
        whole=2,
        real=3.0,
        flag=True,
        word="w",
        words=("a", "b"),
        pair=(1.0, 2),
        numbers=[1.0, 2.5],
        table={"a": 1.0},
        choice="b",
        colour=Colour.BLUE,
        size=Size.SMALL,
        maybe=4,
        inner=Inner(2),
        base=Smooth(),
        only=Smooth(2.0, 3.0),
        array=np.array([1.0, 2.0]),
        hidden=5,
    )
    assert kernel.computed == 4
    base = {"name": "smooth", "variance": 1.0, "lengthscale": "median"}
    assert plain(kernel) == {"name": "everything", **given_options, "base": base}


def test_overrides_replace_whole_keys():
    mapping = {"kernel": {"name": "smooth", "variance": 2.0}, "seed": 1}
    made = Config.from_mapping(mapping, REGISTRY, overrides={"kernel": "smooth", "max_basis": 5})
    assert (made.kernel, made.seed, made.max_basis) == (Smooth(), 1, 5)
    assert mapping == {"kernel": {"name": "smooth", "variance": 2.0}, "seed": 1}


# ---------------------------------------------------------------------------------------------
# What is refused


@pytest.mark.parametrize(
    ("option", "value", "text"),
    [
        ("whole", 7.9, "wanted an integer, found 7.9 (a number)"),
        ("whole", 7.0, "wanted an integer, found 7.0 (a number)"),
        ("whole", True, "wanted an integer, found True (a boolean)"),
        ("whole", "7", "wanted an integer, found '7' (a string)"),
        ("whole", None, "wanted an integer, found None (nothing)"),
        ("real", True, "wanted a number, found True (a boolean)"),
        ("real", "0.5", "wanted a number, found '0.5' (a string)"),
        ("real", math.nan, "wanted a finite number, found nan"),
        ("real", math.inf, "wanted a finite number, found inf"),
        ("real", [1.0], "wanted a number, found [1.0] (a list)"),
        ("flag", "false", "wanted true or false, found 'false' (a string)"),
        ("flag", 0, "wanted true or false, found 0 (an integer)"),
        ("word", 3, "wanted a string, found 3 (an integer)"),
        ("words", "abc", "wanted a list of strings, found 'abc' (a string)"),
        ("numbers", {"a": 1}, "wanted a list of numbers, found {'a': 1} (a mapping)"),
        ("pair", [1, 2, 3], "wanted a list of 2 entries, found 3"),
        ("table", [1], "wanted a mapping, found [1] (a list)"),
        ("choice", "c", "wanted 'a' or 'b', found 'c' (a string)"),
        ("colour", "bleu", "wanted 'red' or 'blue', found 'bleu' (a string); did you mean 'blue'?"),
        ("size", "large", "wanted 'small', found 'large' (a string)"),
        ("maybe", "x", "wanted an integer or nothing, found 'x' (a string)"),
        ("inner", 3, "wanted a mapping with the options of Inner, found 3 (an integer)"),
        ("computed", 3, "wanted an option of everything, found 'computed'; "),
        ("_hidden", 3, "wanted an option of everything, found '_hidden'; did you mean 'hidden'?"),
    ],
)
def test_wrong_values(option, value, text):
    found = kernel_problem(**{option: value})
    assert found.startswith(text)
    assert found.endswith(f" @ kernel.{option}")


def test_a_path_leads_to_the_entry():
    assert kernel_problem(words=["a", 1]).endswith(" @ kernel.words[1]")
    assert kernel_problem(table={"a": "b"}).endswith(" @ kernel.table['a']")
    assert kernel_problem(inner={"depth": 0}).endswith(" @ kernel.inner.depth")
    assert kernel_problem(base="smoth").endswith("did you mean 'smooth'? @ kernel.base")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("1.0", "lengthscale must be a number or 'median', found '1.0'"),
        (True, "wanted a number, a list of numbers or a string, found True (a boolean)"),
        (math.inf, "wanted a finite number, found inf"),
        (1e9, "lengthscale must lie in [0.001, 1000], found 1000000000.0"),
        ([], "lengthscale must hold at least one number, found none"),
        ([1.0, -1.0], "lengthscale must lie in [0.001, 1000], found -1.0"),
    ],
)
def test_hyperparameters(value, text):
    assert (
        problem(kernel={"name": "smooth", "lengthscale": value}) == f"{text} @ kernel.lengthscale"
    )


def test_every_problem_is_reported_at_once():
    bad_term = {"name": "smooth", "lengthscale": [1, "x"], "variance": -1.0, "lenghtscale": 3}
    found = problems(
        kernel={"name": "sum", "terms": ["smooth", bad_term, "smoth"]},
        selector={"name": "adaptive-sampling", "working_set": 0},
        max_basis=7.9,
        max_iterations=0,
        tolerance=-1,
        optimizer="lbfgs",
        seed=-1,
        sede=1,
    )
    paths = {text.rpartition(" @ ")[2] for text in found}
    assert paths == {
        "kernel.terms[1].lengthscale[1]",
        "kernel.terms[1].variance",
        "kernel.terms[1].lenghtscale",
        "kernel.terms[2]",
        "selector.working_set",
        "max_basis",
        "max_iterations",
        "tolerance",
        "optimizer",
        "seed",
        "sede",
    }
    assert len(found) == len(paths)
    assert any("did you mean 'lengthscale'?" in text for text in found)
    assert any("did you mean 'seed'?" in text for text in found)
    assert any("did you mean 'l-bfgs-b'?" in text for text in found)


@pytest.mark.parametrize("key", ["max_basis", "max_iterations", "optimizer_steps", "block_rows"])
def test_settings_start_at_one(key):
    assert problem(**{key: 0}) == f"wanted {key} of at least 1, found 0 @ {key}"
    assert getattr(config(**{key: 1}), key) == 1


@pytest.mark.parametrize("value", ["aut", 0, 7.9, True])
def test_max_basis_is_a_number_or_auto(value):
    assert problem(max_basis=value).endswith("@ max_basis")
    with pytest.raises((TypeError, ValueError), match="max_basis"):
        attrs.evolve(config(), max_basis=value)
    assert config(max_basis="auto").max_basis == "auto"


@pytest.mark.parametrize("value", [[0], [2, 2], [3, 1], [-1, 4]])
def test_sizes_ascend(value):
    wanted = "wanted sizes to be whole numbers of at least 1, each above the one before"
    assert problem(sizes=value) == f"{wanted}, found {tuple(value)} @ sizes"
    assert config(sizes=[1, 4]).sizes == (1, 4)


@pytest.mark.parametrize("value", [(True,), (1.5,), [1, 2], "12", 3])
def test_sizes_of_a_configuration_made_by_hand_are_checked_too(value):
    with pytest.raises(ValueError, match="sizes"):
        attrs.evolve(config(), sizes=value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Smooth, "wanted a kernel, found the class Smooth: call it, Smooth(...) @ kernel"),
        (3, "wanted a kernel (a name, a mapping with 'name' and options, or an instance), found 3"),
        (Sure(), "wanted a kernel, found an instance of Sure, which has no __call__ and no diag"),
        ({"variance": 1.0}, "wanted the name of a kernel, found none @ kernel.name"),
        ({"name": 3}, "wanted a string, found 3 (an integer) @ kernel.name"),
        ({"name": "smoth"}, "wanted the name of a kernel, found 'smoth'; did you mean 'smooth'?"),
        ({"name": "sum"}, "wanted a value, found none: sum has no default for it @ kernel.terms"),
        ({"name": "sum", "terms": "smooth"}, "wanted a list, found 'smooth' (a string)"),
        ("probit", "wanted the name of a kernel, found 'probit'"),
    ],
)
def test_wrong_parts(value, text):
    assert problem(kernel=value).startswith(text)


@pytest.mark.parametrize("value", [Smooth(), Path("nlp"), 3])
def test_an_objective_is_recognised_although_it_needs_no_method(value):
    assert problem(objective=value).startswith("wanted an objective")


def test_a_part_without_options_says_so():
    assert "it has no options" in problem(refiner={"name": "none", "steps": 3})


def test_validators_that_look_at_other_fields():
    found = problem(kernel={"name": "interval", "low": 2.0})
    assert found == "wanted high above low = 2, found 1 @ kernel.high"
    # The other field is at fault already: nothing is said about the comparison.
    assert problem(kernel={"name": "interval", "low": "2"}).endswith("@ kernel.low")


def test_what_only_the_constructor_knows():
    assert problem(kernel={"name": "even", "number": 3}) == (
        "wanted an even number, found 3 @ kernel"
    )


def test_not_a_mapping():
    with pytest.raises(
        ConfigError, match=r"wanted a mapping, found 'a\.toml'; from_file reads files"
    ):
        Config.from_mapping("a.toml", REGISTRY)


def test_the_constructor_wants_components():
    slots = {kind: getattr(config(), kind) for kind in attrs.asdict(config(), recurse=False)}
    with pytest.raises(TypeError, match="wanted a kernel, ready made, found 'smooth'"):
        Config(**{**slots, "kernel": "smooth"})


def test_one_part_alone_can_be_structured():
    from sgpc_framework.protocols import Likelihood

    assert structured({"name": "probit", "slope": 2}, Likelihood, REGISTRY) == Sure(2.0)
    with pytest.raises(ConfigError, match="@ slope"):
        structured({"name": "probit", "slope": "2"}, Likelihood, REGISTRY)


# ---------------------------------------------------------------------------------------------
# Files


def test_toml_and_json_files(tmp_path):
    mapping = {"kernel": {"name": "smooth", "variance": 2.0}, "max_basis": 7}
    toml = tmp_path / "a.toml"
    toml.write_text('max_basis = 7\n[kernel]\nname = "smooth"\nvariance = 2.0\n')
    as_json = tmp_path / "a.json"
    as_json.write_text(json.dumps(mapping))
    made = Config.from_mapping(mapping, REGISTRY)
    assert Config.from_file(toml, REGISTRY) == Config.from_file(str(as_json), REGISTRY) == made
    assert Config.from_file(toml, REGISTRY, overrides={"max_basis": 8}).max_basis == 8


@pytest.mark.parametrize(
    ("name", "text", "fragment"),
    [
        ("a.toml", "seed = 1\nseed = \n", "line 2"),
        ("a.toml", "seed = 1\nseed = 2\n", "line 2"),
        ("a.json", '{"seed": 1,\n "max_basis": }', "line 2"),
        ("a.json", '{"tolerance": NaN}', "wanted a finite number, found NaN"),
        ("a.json", '{"tolerance": -Infinity}', "wanted a finite number, found -Infinity"),
        ("a.json", '{"seed": 1, "seed": 2}', "wanted every key once, found 'seed' twice"),
        ("a.json", "[1]", "must hold a mapping, found a list"),
        ("a.yaml", "seed: 1", "ends in .toml or .json"),
        ("a.toml", "tolerance = nan", "wanted a finite number, found nan @ tolerance"),
        ("a.json", '{"tolerance": 1e999}', "wanted a finite number, found inf @ tolerance"),
    ],
)
def test_files_that_cannot_be_used(tmp_path, name, text, fragment):
    (tmp_path / name).write_text(text)
    with pytest.raises(ConfigError) as caught:
        Config.from_file(tmp_path / name, REGISTRY)
    assert fragment in str(caught.value)
    assert name in str(caught.value) + "".join(getattr(caught.value, "__notes__", []))


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "design.toml").write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="not UTF-8"):
        Config.from_file(tmp_path / "design.toml", REGISTRY)
    with pytest.raises(ConfigError, match=r"there is no file .*did you mean 'design.toml'"):
        Config.from_file(tmp_path / "desing.toml", REGISTRY)
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(ConfigError, match="cannot be read"):
        Config.from_file(tmp_path / "folder.toml", REGISTRY)


# ---------------------------------------------------------------------------------------------
# The way back

positive = st.floats(1e-3, 1e3)
smooth = st.builds(
    Smooth,
    variance=st.floats(1e-4, 1e4),
    lengthscale=positive
    | st.lists(positive, min_size=1, max_size=4).map(tuple)
    | st.just("median"),
)
finite = st.floats(allow_nan=False, allow_infinity=False)
everything = st.builds(
    Everything,
    whole=st.integers(-(2**63), 2**63 - 1),
    real=finite,
    flag=st.booleans(),
    word=st.text(st.characters(codec="utf-8")),
    words=st.lists(st.text(st.characters(codec="utf-8"))).map(tuple),
    numbers=st.lists(finite),
    table=st.dictionaries(st.text(st.characters(codec="utf-8")), finite),
    colour=st.sampled_from(Colour),
    maybe=st.none() | st.integers(0, 9),
    inner=st.builds(Inner, st.integers(1, 9)),
    base=st.none() | smooth,
    hidden=st.integers(0, 9),
)
kernels = st.recursive(
    smooth | everything,
    lambda parts: st.builds(Sum, st.lists(parts, min_size=1, max_size=3).map(tuple)),
    max_leaves=6,
)
configs = st.builds(
    Config,
    kernel=kernels,
    likelihood=st.builds(Sure, finite),
    selector=st.builds(Sampling, st.integers(1, 99)),
    sites=st.just(Matching()),
    objective=st.just(Flat()),
    refiner=st.just(Untouched()),
    max_basis=st.integers(1, 2**40) | st.just("auto"),
    sizes=st.sets(st.integers(1, 2**40), max_size=4).map(sorted).map(tuple),
    tolerance=st.floats(0, 1),
    optimizer=st.sampled_from(["conjugate-gradients", "l-bfgs-b"]),
    seed=st.integers(0, 2**62),
)


@given(configs)
def test_toml_and_json_give_back_exactly_the_same(made):
    assert Config.from_mapping(tomllib.loads(made.to_toml(REGISTRY)), REGISTRY) == made
    assert Config.from_mapping(json.loads(json.dumps(made.to_mapping())), REGISTRY) == made


def test_a_mapping_names_every_part_and_every_option():
    assert config(kernel={"name": "sum", "terms": ["smooth"]}).to_mapping() == {
        "kernel": {
            "name": "sum",
            "terms": [{"name": "smooth", "variance": 1.0, "lengthscale": "median"}],
        },
        "likelihood": {"name": "probit", "slope": 1.0},
        "selector": {"name": "adaptive-sampling", "working_set": 2},
        "sites": {"name": "moment-matching"},
        "objective": {"name": "nlp"},
        "refiner": {"name": "none"},
        "max_basis": 80,
        "sizes": [],
        "stage_rows": "all",
        "strategy": "joint",
        "max_iterations": 20,
        "tolerance": 1e-4,
        "optimizer": "l-bfgs-b",
        "optimizer_steps": 20,
        "block_rows": 8192,
        "storage": "float64",
        "seed": 0,
    }


def test_a_part_that_no_file_could_name():
    made = config(kernel=Sum((Smooth(), Stranger())))
    with pytest.raises(ConfigError) as caught:
        made.to_toml(REGISTRY)
    (found,) = caught.value.problems
    assert "Stranger, which no plugin provides" in found
    assert "registry.extended(Stranger)" in found
    assert found.endswith("@ kernel.terms[1]")
    assert 'name = "stranger"' in made.to_toml(REGISTRY.extended(Stranger))


def test_a_part_that_is_not_attrs_cannot_be_written():
    class Notebook(AnyKernel):
        name = "notebook"

    with pytest.raises(ConfigError, match="@ kernel"):
        config(kernel=Notebook()).to_mapping()


def test_nothing_has_no_word_in_toml():
    @attrs.frozen
    class Odd(AnyKernel):
        name: ClassVar[str] = "odd"
        limit: int | None = 3

    registry = REGISTRY.extended(Odd)
    made = Config.from_mapping({"kernel": {"name": "odd", "limit": None}}, registry)
    assert made.to_mapping()["kernel"] == {"name": "odd", "limit": None}
    with pytest.raises(ConfigError, match=r"found None @ kernel\.limit"):
        made.to_toml(registry)


# ---------------------------------------------------------------------------------------------
# With the built-in parts


def test_the_built_in_defaults_round_trip():
    made = Config.from_mapping()
    assert made.kernel.name == "squared-exponential"
    assert made.selector.working_set == 2
    assert Config.from_mapping(tomllib.loads(made.to_toml())) == made


@pytest.mark.parametrize(
    "part",
    [
        pytest.param((kind, name), id=f"{kind}:{name}")
        for kind, names in {
            "kernel": "matern-12 matern-32 matern-52 rational-quadratic periodic linear polynomial"
            " constant",
            "likelihood": "probit logistic noisy-probit",
            "selector": "entropy information-gain validation random-sampling most-violated"
            " conditional-variance",
            "sites": "moment-matching predictive-loss",
            "objective": "nlp predictive-loss marginal-likelihood none",
            "refiner": "none",
        }.items()
        for name in names.split()
    ],
)
def test_every_built_in_part_round_trips(part):
    kind, name = part
    made = Config.from_mapping({kind: name})
    assert type(getattr(made, kind)) is default_registry().get(kind, name)
    assert Config.from_mapping(tomllib.loads(made.to_toml())) == made


def test_built_in_sums_and_products_nest():
    factors = ["linear", {"name": "matern-32", "lengthscale": [1, 2]}]
    kernel = {"name": "sum", "terms": ["constant", {"name": "product", "factors": factors}]}
    made = Config.from_mapping({"kernel": kernel})
    assert made.kernel.terms[1].factors[1].lengthscale == (1.0, 2.0)
    assert Config.from_mapping(tomllib.loads(made.to_toml())) == made
