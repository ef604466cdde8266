"""The package that ``sgpc new`` writes: which files, from which templates, with which words."""

from __future__ import annotations

from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from string import Template

import attrs

from sgpc_framework.plugin.kinds import Kind


@attrs.frozen
class Package:
    """A distribution with one part."""

    kind: Kind
    name: str

    @property
    def distribution(self) -> str:
        """The name of the distribution and of its folder: ``sgpc-my-idea``."""
        return f"sgpc-{self.name}"

    @property
    def module(self) -> str:
        """The importable package: ``sgpc_my_idea``."""
        return self.distribution.replace("-", "_")

    @property
    def class_name(self) -> str:
        """``MyIdeaSelector``: with the kind in it, it cannot be a keyword or hide an import."""
        words = self.name.split("-")
        if words[-1] != self.kind.name:
            words.append(self.kind.name)
        return "".join(word.capitalize() for word in words)

    def contents(self) -> dict[Path, str]:
        """Every file of the package, by its path inside the folder."""
        sources = {
            "pyproject.toml": "pyproject.toml",
            "README.md": "README.md",
            f"src/{self.module}/__init__.py": "package.py",
            f"src/{self.module}/{self.kind.name}.py": f"{self.kind.name}.py",
            "tests/test_conformance.py": "test_conformance.py",
        }
        return {Path(path): self._fill(template) for path, template in sources.items()}

    def _fill(self, template: str) -> str:
        text = files("sgpc_framework.cli").joinpath("templates", f"{template}.template")
        return Template(text.read_text(encoding="utf-8")).substitute(
            name=self.name,
            kind=self.kind.name,
            noun=self.kind.noun.split(maxsplit=1)[1],
            protocol=self.kind.protocol.__name__,
            hook=self.kind.hook,
            distribution=self.distribution,
            package=self.module,
            class_name=self.class_name,
            framework_version=version("sgpc-framework"),
        )
