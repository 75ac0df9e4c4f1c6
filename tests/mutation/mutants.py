"""The mutants of a module, as cosmic-ray makes them."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import unified_diff

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
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
    """All that change what the module does.

    Those of annotations of types do not. Neither do those that compare identity instead of value,
    or the other way round: numbers and members that are equal are the same object.
    """
    nodes = list(ast_nodes(get_ast(source)))
    original, outside = _meaning(source), _meaning(source, bodies=False)
    for name in operator_names():
        kind = get_operator(name)
        if kind.arguments() or name.endswith(_IDENTITY):
            continue
        places = [start for node in nodes for start, _ in kind().mutation_positions(node)]
        for number, (line, _) in enumerate(places):
            text = mutate_code(source, kind(), number)
            if text is not None and _meaning(text) != original:
                is_inside = _meaning(text, bodies=False) == outside
                yield Mutant(name.partition("/")[2], line, text, is_inside)


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
