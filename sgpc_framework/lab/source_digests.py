"""A name for the source of a class: another one as soon as anybody edits it.

The source of a class is its module and all that this imports, directly or not, from the same
folder of packages: a helper beside a selector counts, numpy does not. What has no file, such as a
class of a notebook, is known by its compiled code.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any


def source_digest(cls: type) -> str:
    """The name of the source that a class has now."""
    module = sys.modules.get(cls.__module__)
    file = getattr(module, "__file__", None)
    if file is None or not Path(file).is_file() or Path(file).suffix != ".py":
        return _short(hashlib.sha256("\n".join(_compiled(cls, {})).encode()))
    return file_digest(Path(file), cls.__module__ if cls.__module__ != "__main__" else None)


def file_digest(path: Path, module: str | None = None) -> str:
    """The same for a file, which holds the module of that name, if it is in a package."""
    root, sources = _root(path, module), source_files(path, module)
    digest = hashlib.sha256()
    for name, source in sorted((p.relative_to(root).as_posix(), s) for p, s in sources.items()):
        digest.update(f"{name} {len(source)}\n".encode())
        digest.update(source)
    return _short(digest)


def source_files(path: Path, module: str | None = None) -> dict[Path, bytes]:
    """The file and all that it imports, directly or not, from the same folder of packages."""
    path, root = path.resolve(), _root(path, module)
    sources = {path: path.read_bytes()}
    waiting = [path]
    while waiting:
        for other in _imported(waiting.pop(), root):
            if other not in sources:
                sources[other] = other.read_bytes()
                waiting.append(other)
    return sources


def _root(path: Path, module: str | None) -> Path:
    """The folder in which the outermost package of a module lies."""
    depth = 0 if module is None else module.count(".") + (path.name == "__init__.py")
    within = path.resolve().parents
    return within[depth] if depth < len(within) else within[0]


def _imported(path: Path, root: Path) -> Iterator[Path]:
    """The files below the root that a file imports, at its top or in functions."""
    return iter(_imports(path, root, path.stat().st_mtime_ns))


@lru_cache(maxsize=4096)
def _imports(path: Path, root: Path, _: int) -> tuple[Path, ...]:
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return ()  # whoever imports it hears of it
    found = (_file(name, root) for name in _names(tree, path, root))
    return tuple(dict.fromkeys(each for each in found if each is not None))


def _names(tree: ast.AST, path: Path, root: Path) -> Iterator[tuple[str, ...]]:
    own = path.resolve().parent.relative_to(root).parts
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (tuple(alias.name.split(".")) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = own[: len(own) - node.level + 1] if node.level else ()
            module = (*start, *(node.module.split(".") if node.module else ()))
            yield module
            yield from ((*module, alias.name) for alias in node.names)


def _file(name: tuple[str, ...], root: Path) -> Path | None:
    if not name:
        return None
    place = root.joinpath(*name)
    for path in (place.with_name(f"{place.name}.py"), place / "__init__.py"):
        if path.is_file():
            return path
    return None


def _compiled(value: Any, known: dict[int, None]) -> Iterator[str]:
    """The code of a function or a class, and of what it uses of its own module."""
    if id(value) in known:
        return
    known[id(value)] = None
    if isinstance(value, (staticmethod, classmethod)):
        value = value.__func__
    elif isinstance(value, property):
        value = value.fget
    if isinstance(value, type):
        for name, member in sorted(vars(value).items()):
            if isinstance(member, (FunctionType, staticmethod, classmethod, property)):
                yield name
                yield from _compiled(member, known)
            elif not name.startswith("__"):
                yield f"{name} = {member!r}" if _is_plain(member) else name
    elif isinstance(value, FunctionType):
        yield from _code(value.__code__)
        for name in value.__code__.co_names:
            other = value.__globals__.get(name)
            if getattr(other, "__module__", None) == value.__module__:
                yield from _compiled(other, known)
            elif _is_plain(other):
                yield f"{name} = {other!r}"


def _is_plain(value: object) -> bool:
    return isinstance(value, (bool, int, float, str, tuple))


def _code(code: CodeType) -> Iterator[str]:
    yield f"{code.co_code.hex()} {code.co_names} {code.co_varnames}"
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code(constant)
        else:
            yield repr(constant)


def _short(digest: Any) -> str:
    text: str = digest.hexdigest()
    return text[:16]
