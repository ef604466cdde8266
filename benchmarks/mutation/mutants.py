"""Mutants: all small changes of a module that could be a mistake.

    a + b -> a - b, a * b -> a / b, a ** b -> a * b, ...     and so for +=, -=, ...
    a < b -> a <= b and a >= b, a == b -> a != b, in -> not in, ...
    a and b -> a or b, not a -> a, if a -> if not a
    7 -> 8, 0.5 -> 1.0, 0.0 -> 1.0, True -> False, -a -> a
    min -> max, argmin -> argmax, any -> all, zeros -> ones, log1p -> log, A.T -> A, ...
    a statement left out: calls, a += b, self.a = b, a[i] = b
    break -> continue

Left alone is what no test has to hold: texts, messages of errors, annotations, decorators.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import attrs

_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_PAIRS = (
    ("min", "max"),
    ("minimum", "maximum"),
    ("argmin", "argmax"),
    ("any", "all"),
    ("zeros", "ones"),
    ("zeros_like", "ones_like"),
    ("floor", "ceil"),
    ("cumsum", "cumprod"),
    ("sum", "mean"),
)
_NAMES = {
    **dict(_PAIRS),
    **{b: a for a, b in _PAIRS},
    "log1p": "log",
    "expm1": "exp",
    "square": "abs",
    "sqrt": "abs",
}
_UNHEARD = {"warn", "fault", "Note"}
"""Calls that only say something."""


@attrs.frozen
class Mutant:
    """One change of one module.

    ``name`` outlives changes elsewhere in the module: where it is, what was and what is there.
    ``function`` is empty if the code runs when the module is imported.
    """

    module: str
    path: Path
    line: int
    place: str
    function: str
    before: str
    after: str
    repeat: int
    node: int
    choice: int

    @property
    def name(self) -> str:
        again = f" ({self.repeat})" if self.repeat > 1 else ""
        return f"{self.module}:{self.place}: {self.before} -> {self.after}{again}"

    def tree(self) -> ast.Module:
        """The mutated module."""
        tree = ast.parse(self.path.read_text(encoding="utf-8"))
        old = list(ast.walk(tree))[self.node]
        new = ast.copy_location(list(_alternatives(old))[self.choice], old)
        mutated = ast.fix_missing_locations(_Replacement(old, new).visit(tree))
        assert isinstance(mutated, ast.Module)
        return mutated


def mutants(module: str, path: Path) -> list[Mutant]:
    """All mutants of a module, in the order of its lines."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    number = {id(node): i for i, node in enumerate(ast.walk(tree))}
    seen: Counter[tuple[str, str, str]] = Counter()
    found = []
    for node, place, function in _mutable(tree, "", ""):
        before = _text(node)
        for choice, other in enumerate(_alternatives(node)):
            after = _text(other)
            seen[place, before, after] += 1
            repeat = seen[place, before, after]
            line = node.lineno  # type: ignore[attr-defined]
            key = number[id(node)]
            where = (module, path, line, place, function)
            found.append(Mutant(*where, before, after, repeat, key, choice))
    return found


def _text(node: ast.AST) -> str:
    if isinstance(node, ast.If):
        return f"if {_text(node.test)}"
    return " ".join(ast.unparse(node).split())


def _mutable(node: ast.AST, place: str, function: str) -> Iterator[tuple[ast.AST, str, str]]:
    """The nodes below one that may be changed, each with the function or class that it is in, and
    with the function that runs it."""
    for child in ast.iter_child_nodes(node):
        if _is_left_alone(node, child):
            continue
        inside, running = place, function
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            inside = f"{place}.{child.name}" if place else child.name
        if isinstance(node, ast.FunctionDef) and child in node.body:
            running = place
        if isinstance(child, ast.expr | ast.stmt):
            yield child, inside, running
        yield from _mutable(child, inside, running)


def _is_left_alone(parent: ast.AST, child: ast.AST) -> bool:
    if isinstance(child, ast.Raise | ast.Assert | ast.JoinedStr | ast.Import | ast.ImportFrom):
        return True
    if isinstance(child, ast.Expr | ast.Call) and _called(child) in _UNHEARD:
        return True
    if isinstance(child, ast.Assign) and _is_type(child.value):
        return True
    if isinstance(parent, ast.FunctionDef | ast.ClassDef):
        declared = [*parent.decorator_list, getattr(parent, "returns", None)]
        return any(child is each for each in declared)
    if isinstance(parent, ast.arg | ast.AnnAssign):
        return child is parent.annotation
    return isinstance(parent, ast.Subscript) and _text(parent.value) in ("NDArray", "Callable")


def _is_type(value: ast.expr) -> bool:
    """Whether a value is a type: ``A | B`` of two, or one of numba's."""
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.BitOr):
        return isinstance(value.left, ast.Name) and isinstance(
            value.right, ast.Name | ast.Subscript
        )
    return isinstance(value, ast.Call) and _text(value.func).startswith("types.")


def _called(node: ast.AST) -> str:
    call = node.value if isinstance(node, ast.Expr) else node
    if not isinstance(call, ast.Call):
        return ""
    return _text(call.func).rpartition(".")[2]


def _alternatives(node: ast.AST) -> Iterator[ast.AST]:
    """What may stand in place of a node, in a fixed order."""
    match node:
        case ast.BinOp(op=op) if type(op) in _ARITHMETIC:
            yield ast.BinOp(node.left, _ARITHMETIC[type(op)](), node.right)
        case ast.AugAssign(op=op):
            if type(op) in _ARITHMETIC:
                yield ast.AugAssign(node.target, _ARITHMETIC[type(op)](), node.value)
            yield ast.Pass()
        case ast.Compare(ops=[op], comparators=others):
            for other in _COMPARISONS[type(op)]:
                yield ast.Compare(node.left, [other()], others)
        case ast.BoolOp(op=ast.And()):
            yield ast.BoolOp(ast.Or(), node.values)
        case ast.BoolOp(op=ast.Or()):
            yield ast.BoolOp(ast.And(), node.values)
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert()):
            yield node.operand
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield ast.Constant(value + 1)
        case ast.Constant(value=float(value)):
            yield ast.Constant(2.0 * value or 1.0)
        case ast.Attribute(attr="T"):
            yield node.value
        case ast.Attribute(attr=name) if name in _NAMES:
            yield ast.Attribute(node.value, _NAMES[name], node.ctx)
        case ast.Call(func=ast.Name(id=name)) if name in _NAMES:
            yield ast.Call(ast.Name(_NAMES[name], ast.Load()), node.args, node.keywords)
        case ast.If(test=test) | ast.IfExp(test=test) if _is_plain(test):
            yield _with_test(node, ast.UnaryOp(ast.Not(), test))
        case ast.Expr(value=ast.Call()):
            yield ast.Pass()
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield ast.Pass()
        case ast.Break():
            yield ast.Continue()
        case ast.Continue():
            yield ast.Break()


def _is_plain(test: ast.expr) -> bool:
    """Whether a condition has no mutants that turn it round already."""
    return not isinstance(test, ast.Compare | ast.BoolOp | ast.UnaryOp)


def _with_test(node: ast.AST, test: ast.expr) -> ast.AST:
    if isinstance(node, ast.IfExp):
        return ast.IfExp(test, node.body, node.orelse)
    assert isinstance(node, ast.If)
    return ast.If(test, node.body, node.orelse)


class _Replacement(ast.NodeTransformer):
    """One node for another."""

    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self._old, self._new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self._new if node is self._old else self.generic_visit(node)
