"""The mutants of a module, as cosmic-ray makes them."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import unified_diff
from random import Random
from typing import Any

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.operator import Operator
from cosmic_ray.plugins import get_operator, operator_names

_IDENTITY = ("_Is", "_IsNot", "_Is_Eq", "_IsNot_NotEq")


@dataclass(frozen=True, slots=True)
class Mutant:
    """A module with one change; ``is_inside`` says that it is only in the bodies of functions."""

    operator: str
    line: int  # counts from 1
    source: str
    is_inside: bool

    def told(self, original: str) -> str:
        """The lines that changed."""
        diff = unified_diff(original.splitlines(), self.source.splitlines(), lineterm="", n=0)
        changed = [line for line in diff if line[:1] in "+-" and line[:3] not in {"+++", "---"}]
        return "\n".join([f"line {self.line}, {self.operator}", *changed])


def mutants_of(source: str) -> Iterator[Mutant]:
    """All that change what the module does, in a random order that is the same each time.

    Those of annotations of types do not. Neither do those that compare identity instead of value,
    or the other way round: numbers and members that are equal are the same object.
    """
    nodes = list(ast_nodes(get_ast(source)))
    places = [
        (name, number, line)
        for name in operator_names()
        if not name.endswith(_IDENTITY) and not get_operator(name).arguments()
        for number, (line, _) in enumerate(_places(get_operator(name)(), nodes))
    ]
    Random(0).shuffle(places)
    original, outside = _meaning(source), _meaning(source, bodies=False)
    for name, number, line in places:
        text = mutate_code(source, get_operator(name)(), number)
        if text is not None and _meaning(text) != original:
            is_inside = _meaning(text, bodies=False) == outside
            yield Mutant(name.partition("/")[2], line, text, is_inside)


def _places(operator: Operator, nodes: list[Any]) -> Iterator[tuple[int, int]]:
    """Where an operator has something to change: (line, column)."""
    return (start for node in nodes for start, _ in operator.mutation_positions(node))


class _WithoutTypes(ast.NodeTransformer):
    def __init__(self, bodies: bool) -> None:
        self.bodies = bodies

    def visit_arg(self, node: ast.arg) -> ast.arg:
        return ast.arg(node.arg)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AnnAssign:
        self.generic_visit(node)
        node.annotation = ast.Constant(None)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.generic_visit(node)
        node.returns = None
        if not self.bodies:
            node.body = []
        return node


def _meaning(source: str, *, bodies: bool = True) -> str | None:
    """The syntax tree without annotations; None of what is no Python."""
    try:
        return ast.dump(_WithoutTypes(bodies).visit(ast.parse(source)))
    except SyntaxError:
        return None
