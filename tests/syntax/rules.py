"""All line rules, and real lines for them."""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path

from lark import Token

from dumps import files_of, lines_of, memory_files
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.grammar import Grammar, ParseFailure, load_grammar
from hlo_lsp.syntax.scanners import (
    MemoryScanner,
    ModuleScanner,
    ThunkScanner,
    memory_scanner,
    module_scanner,
    thunk_scanner,
)

SCANNERS: dict[str, Callable[[], MemoryScanner | ModuleScanner | ThunkScanner]] = {
    "memory": memory_scanner,
    "module": module_scanner,
    "thunks": thunk_scanner,
}
GROUPS = tuple(SCANNERS)
_ENTRY_RULES = (
    "used_value_line",
    "positions_label",
    "position_row",
    "uses_label",
    "use_row",
    "no_uses_row",
    "instruction_line",
)
_DIGITS = re.compile(r"\d+")


def rules_of(group: str) -> list[tuple[Grammar, str]]:
    """Return the rules of a scanner."""
    rules = [(rule.grammar, rule.name) for rule in SCANNERS[group]().lines._rules]
    if group == "memory":
        rules += [(load_grammar("values"), name) for name in _ENTRY_RULES]
    return rules


def distinct_lines(root: Path, group: str, every: int = 1) -> list[str]:
    """Return the lines of every ``every``-th file that differ in more than numbers."""
    kind = {"module": FileKind.MODULE, "thunks": FileKind.THUNKS}.get(group)
    files = memory_files(root) if kind is None else files_of(root, kind)
    return list({_DIGITS.sub("0", line): line for line in lines_of(files[::every])}.values())


def by_expression(grammar: Grammar, rule: str, line: str) -> dict[str, str] | None:
    """Return the matches of the regular expression by terminal, or None."""
    match = grammar.expression(rule).fullmatch(line)
    if match is None:
        return None
    return {name: text for name, text in match.groupdict().items() if text is not None}


def by_lark(grammar: Grammar, rule: str, line: str) -> dict[str, str] | None:
    """Return the first token of each terminal by Lark, or None if it rejects the line."""
    tree = grammar.parse(rule, line)
    if isinstance(tree, ParseFailure):
        return None
    found: dict[str, str] = {}
    for token in tree.scan_values(lambda part: isinstance(part, Token)):
        found.setdefault(token.type, str(token))
    return found


def disagreements(lines: Iterable[str], group: str, each: int | None) -> Iterator[str]:
    """Yield lines that the two readers parse differently, at most ``each`` per rule."""
    lines = list(lines)
    for grammar, rule in rules_of(group):
        expression = grammar.expression(rule)
        for line in islice(filter(expression.fullmatch, lines), each):
            fast, slow = by_expression(grammar, rule, line), by_lark(grammar, rule, line)
            if fast != slow:
                yield f"{rule} of {line[:200]!r}: {fast}, by Lark {slow}"
