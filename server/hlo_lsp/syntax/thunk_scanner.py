"""Reads the thunk sequence of a GPU executable: a tree by indentation, a line a thunk."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from re import Match

from hlo_lsp.syntax.grammar import Refusal, load
from hlo_lsp.syntax.line_rules import LineRule, LineRules
from hlo_lsp.syntax.records import Blank, Broken, Record

_ANNOTATION = re.compile(r"profile_annotation = ([\w.\-]+)")
_KERNEL = re.compile(r"kernel = ([\w.\-]+)")
_KERNEL_FIRST = re.compile(r"([\w.\-]+) grid: ")


@dataclass(slots=True, eq=False)
class ThunkRow(Record):
    """A thunk. ``depth`` counts levels of four blanks; ``id`` is None in jaxlib up to 0.7.

    ``kernel`` is the name of a kernel as printed: dots of the instruction's name have become
    ``_`` and equal kernels are shared. ``annotation`` is the instruction, where the line says it.
    """

    rule = "thunk_row"
    depth: int
    id: int | None
    kind: str
    kernel: str | None
    annotation: str | None

    @classmethod
    def of(cls, match: Match[str]) -> "ThunkRow":
        """Read from a match of the rule."""
        detail = (match["DETAIL"] or "").lstrip()
        annotation = _ANNOTATION.search(detail)
        kernel = _KERNEL.search(detail) or _KERNEL_FIRST.match(detail)
        return cls(
            len(match["INDENT"] or "") // 4,
            None if match["THUNK"] is None else int(match["THUNK"]),
            match["KIND"],
            None if kernel is None else kernel[1],
            None if annotation is None else annotation[1],
        )


@dataclass(slots=True, eq=False)
class BranchLabel(Record):
    """``condition:``, ``body:``, ``branch_0:``: what of a loop or conditional follows.

    ``depth`` is that of the loop or conditional, or None for ``condition:``, which stands at the
    left edge whatever the depth is.
    """

    rule = "branch_label"
    name: str
    depth: int | None

    @classmethod
    def of(cls, match: Match[str]) -> "BranchLabel":
        """Read from a match of the rule."""
        indent = match["INDENT"]
        return cls(match["BRANCH"], None if indent is None else len(indent) // 4)


class ThunkScanner:
    """Reads one line of a thunk sequence at a time."""

    def __init__(self) -> None:
        grammar = load("thunks")
        self.lines = LineRules(
            [
                LineRule.of(grammar, "thunk_row", ThunkRow.of),
                LineRule.of(grammar, "branch_label", BranchLabel.of),
            ]
        )

    def read(self, lines: Sequence[str], at: int) -> Record:
        """The record on line ``at``."""
        line = lines[at]
        if not line or line.isspace():
            return Blank()
        found = self.lines.read(line)
        return Broken(line) if found is None else found[0].make(found[1])

    def explain(self, line: str) -> Refusal:
        """Why a line is no record."""
        return self.lines.explain(line)


@lru_cache(maxsize=1)
def thunk_scanner() -> ThunkScanner:
    """The scanner, made at the first call."""
    return ThunkScanner()
