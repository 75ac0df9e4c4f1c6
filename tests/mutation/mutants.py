"""The mutants of a module, from the operators of cosmic-ray."""

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
    """A module with one change, at a line from 1."""

    operator: str
    line: int
    source: str

    def describe(self, original: str) -> str:
        """Return the changed lines."""
        diff = unified_diff(original.splitlines(), self.source.splitlines(), lineterm="", n=0)
        changed = [line for line in diff if line[:1] in "+-" and line[:3] not in {"+++", "---"}]
        return "\n".join([f"line {self.line}, {self.operator}", *changed])


def mutants_of(source: str) -> Iterator[Mutant]:
    """Yield the mutants that change the behavior, in a random order that is always the same.

    Mutants of type annotations do not, and neither do those that replace a comparison of values by
    one of identities, since equal small numbers and enum members are identical.
    """
    nodes = list(ast_nodes(get_ast(source)))
    places = [
        (name, number, line)
        for name in operator_names()
        if not name.endswith(_IDENTITY) and not get_operator(name).arguments()
        for number, (line, _) in enumerate(_places(get_operator(name)(), nodes))
    ]
    Random(0).shuffle(places)
    original = _meaning(source)
    for name, number, line in places:
        text = mutate_code(source, get_operator(name)(), number)
        if text is not None and _meaning(text) != original:
            yield Mutant(name.partition("/")[2], line, text)


def _places(operator: Operator, nodes: list[Any]) -> Iterator[tuple[int, int]]:
    """Yield the lines and columns that an operator can change."""
    return (start for node in nodes for start, _ in operator.mutation_positions(node))


class _WithoutTypes(ast.NodeTransformer):
    def visit_arg(self, node: ast.arg) -> ast.arg:
        return ast.arg(node.arg)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AnnAssign:
        self.generic_visit(node)
        node.annotation = ast.Constant(None)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.generic_visit(node)
        node.returns = None
        return node


def _meaning(source: str) -> str | None:
    """Return the syntax tree without annotations, or None if the source is invalid."""
    try:
        return ast.dump(_WithoutTypes().visit(ast.parse(source)))
    except SyntaxError:
        return None
