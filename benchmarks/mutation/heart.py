"""The numerical heart, and the tests that concern each of its parts.

Of these tests the quickest run, for two minutes at most: what takes longer is not run while one
works.
"""

from __future__ import annotations

from pathlib import Path

import attrs

ROOT = Path(__file__).parents[2]


@attrs.frozen
class Group:
    """Modules that the same tests concern.

    ``compiled`` are those that numba compiles: they run as the Python that they are written in,
    because numba's cache does not see that a constant has changed. All others run without them.
    """

    name: str
    modules: tuple[str, ...]
    tests: tuple[str, ...]
    compiled: bool = False

    def files(self) -> list[tuple[str, Path]]:
        """The names and files of the modules; a pattern stands for all that it matches."""
        found = []
        for pattern in self.modules:
            for path in sorted(ROOT.glob(pattern)):
                if path.stem != "__init__" and path.stem.endswith("_compiled") == self.compiled:
                    inside = path.relative_to(ROOT).with_suffix("").parts
                    start = inside.index("sgpc_plugins") if "sgpc_plugins" in inside else 0
                    found.append((".".join(inside[start:]), path))
        return found


_PLUGINS = "plugins/builtin/sgpc_plugins"
_LAWS = "tests/properties"
_REFERENCE = (
    "tests/test_docs.py::test_the_reference_has_every_part_with_its_options_and_defaults",
    "tests/test_docs.py::test_the_reference_has_every_hyperparameter_with_its_bounds",
)
"""The options of every built-in part, as the reference states them."""

GROUPS = (
    Group(
        "algebra",
        ("sgpc_framework/algebra/*.py",),
        (
            "tests/algebra",
            f"{_LAWS}/test_posterior_laws.py",
            f"{_LAWS}/test_gradient_laws.py",
            "tests/model/test_model.py",
        ),
    ),
    Group(
        "rows",
        ("sgpc_framework/rows/*.py",),
        (
            "tests/rows",
            f"{_LAWS}/test_posterior_laws.py",
            f"{_LAWS}/test_weight_laws.py",
            "tests/engine/test_row_means.py",
            "tests/model/test_model.py",
            "tests/engine/test_algorithm1.py",
        ),
    ),
    Group(
        "engine",
        ("sgpc_framework/engine/*.py",),
        (
            "tests/engine",
            "tests/files/test_checkpoints.py",
            "tests/model/test_many_classes.py",
            f"{_LAWS}/test_gradient_laws.py",
            "tests/rows/test_training_rows.py",
        ),
    ),
    Group(
        "likelihoods",
        (f"{_PLUGINS}/likelihoods/*.py",),
        (
            "tests/plugins/test_likelihoods.py",
            "tests/plugins/test_multinomial_probit.py",
            "tests/plugins/test_exact_moments.py",
            *_REFERENCE,
        ),
    ),
    Group(
        "kernels",
        (f"{_PLUGINS}/kernels/*.py",),
        (
            "tests/plugins/test_kernels.py",
            "tests/parts/test_arithmetic.py",
            "tests/plugins/test_distances.py",
            "tests/plugins/test_warped.py",
            *_REFERENCE,
        ),
    ),
    Group(
        "sites and objectives",
        (f"{_PLUGINS}/sites/*.py", f"{_PLUGINS}/objectives/*.py"),
        (
            f"{_LAWS}/test_site_laws.py",
            f"{_LAWS}/test_gradient_laws.py",
            "tests/engine/test_row_means.py",
            "tests/plugins/test_site_estimators.py",
            "tests/plugins/test_objectives.py",
            *_REFERENCE,
        ),
    ),
    Group(
        "refiners",
        (f"{_PLUGINS}/refiners/*.py", f"{_PLUGINS}/refiners/*/*.py"),
        (
            "tests/plugins/test_joint_loss.py",
            "tests/plugins/test_mixed_loss.py",
            "tests/plugins/test_prune.py",
            "tests/plugins/test_rounds_of_batches.py",
            "tests/plugins/test_expectation_propagation.py",
            "tests/plugins/test_refiners.py",
            *_REFERENCE,
        ),
    ),
    Group(
        "compiled loops",
        (
            "sgpc_framework/rows/*.py",
            f"{_PLUGINS}/likelihoods/*.py",
            f"{_PLUGINS}/kernels/*.py",
        ),
        ("tests/rows/test_loops.py", "tests/plugins/test_multinomial_probit.py"),
        compiled=True,
    ),
)
