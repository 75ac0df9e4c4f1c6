"""The text of one instruction: its parts with their columns.

The same text stands in module files and, without ``ROOT``, behind ``from instruction:``.
"""

import re
from collections.abc import Iterator, Set
from dataclasses import dataclass
from functools import lru_cache

from hlo_lsp.syntax.grammar import load

_NESTING = re.compile(r'"(?:[^"\\]|\\.)*"|/\*.*?\*/|[(\[{]|[)\]}]|,|"')
_LAST_NAME = re.compile(r"(?<![\w.\-])%?([A-Za-z_][\w.\-]*)\s*$")
_PAIR = re.compile(r'(\w+)=(?:"((?:[^"\\]|\\.)*)"|(\{[^{}]*\}|[^ ,"{}]+))')
_ATTRIBUTE = re.compile(r"\s*([\w\-]+)=")
_CALLS = frozenset(
    {
        "branch_computations",
        "called_computations",
        "calls",
        "body",
        "condition",
        "false_computation",
        "scatter",
        "select",
        "to_apply",
        "true_computation",
    }
)
_NAME = re.compile(r"(?<![\w.\-])%?([A-Za-z_][\w.\-]*)\s*$")
_PAIR = re.compile(r'(\w+)=(?:"((?:[^"\\]|\\.)*)"|(\{[^{}]*\}|[^ ,"{}]+))')
_ATTRIBUTE = re.compile(r"\s*([\w\-]+)=")
_CALLS = frozenset(
    [
        "calls",
        "to_apply",
        "condition",
        "body",
        "select",
        "scatter",
        "true_computation",
        "false_computation",
        "branch_computations",
        "called_computations",
    ]
)
_NAME = re.compile(r"%?([A-Za-z_][\w.\-]*)")
_WITHOUT_OPERANDS = frozenset({"constant", "parameter"})  # a literal or a number stands there
_ESCAPE = re.compile(r"\\(.)")


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a line: columns in code points, the end exclusive, and its text."""

    start: int
    end: int
    text: str

    def __contains__(self, column: int) -> bool:
        return self.start <= column <= self.end


@dataclass(frozen=True, slots=True)
class Attribute:
    """``kind=kLoop``, ``metadata={...}``: a name and the text behind it."""

    name: str
    value: Span


@dataclass(frozen=True, slots=True)
class InstructionText:
    """The parts of an instruction. ``operands`` are names; constants and parameters have none."""

    name: Span
    shape: Span
    opcode: Span
    operands: tuple[Span, ...]
    attributes_at: int
    line: str

    @property
    def attributes(self) -> Iterator[Attribute]:
        """The attributes in order. A value ends at the comma outside of its brackets."""
        depth = 0
        start = self.attributes_at
        for match in _NESTING.finditer(self.line, start):
            sign = match[0]
            if sign == "," and depth == 0:
                yield from self._attribute(start, match.start())
                start = match.end()
            else:
                depth += 1 if sign in "([{" else -1 if sign in ")]}" else 0
        yield from self._attribute(start, len(self.line))

    @property
    def metadata(self) -> dict[str, str]:
        """``op_name``, ``source_file``, ``source_line``, ``stack_frame_id`` ... as printed."""
        for attribute in self.attributes:
            if attribute.name == "metadata":
                pairs = _PAIR.finditer(attribute.value.text)
                return {m[1]: m[3] if m[2] is None else _ESCAPE.sub(r"\1", m[2]) for m in pairs}
        return {}

    @property
    def called(self) -> list[Span]:
        """The computations that the instruction calls."""
        return self._names_of(_CALLS)

    @property
    def predecessors(self) -> list[Span]:
        """The instructions that must run before this one for reasons other than data."""
        return self._names_of({"control-predecessors"})

    @property
    def is_closed(self) -> bool:
        """Whether every bracket and string that opens is closed again."""
        depth = 0
        for match in _NESTING.finditer(self.line, self.name.end):
            sign = match[0]
            if sign == '"':  # a string that does not end
                return False
            depth += 1 if sign in "([{" else -1 if sign in ")]}" else 0
        return depth == 0

    def _attribute(self, start: int, end: int) -> Iterator[Attribute]:
        match = _ATTRIBUTE.match(self.line, start, end)
        if match is not None:
            value = Span(match.end(), end, self.line[match.end() : end])
            yield Attribute(match[1], value)

    def _names_of(self, attributes: Set[str]) -> list[Span]:
        return [
            _span(match.start(1), match[1])
            for attribute in self.attributes
            if attribute.name in attributes
            for match in _NAME.finditer(self.line, attribute.value.start, attribute.value.end)
        ]


@lru_cache(maxsize=256)
def instruction_text(line: str, at: int = 0) -> InstructionText | None:
    """The instruction that begins at column ``at`` of a line, or None if there is none."""
    match = load("module").expression("instruction_line").match(line, at)
    if match is None:
        return None
    operands, end = _operands(line, match.start("REST"))
    return InstructionText(
        _span(match.start("NAME"), match["NAME"]),
        _span(match.start("SHAPE"), match["SHAPE"]),
        _span(match.start("OPCODE"), match["OPCODE"]),
        () if match["OPCODE"] in _WITHOUT_OPERANDS else operands,
        end,
        line,
    )


def _operands(line: str, at: int) -> tuple[tuple[Span, ...], int]:
    """The operand names between the parentheses that opened in front of ``at``, and their end."""
    depth = 1
    start = at
    spans: list[Span] = []
    for match in _NESTING.finditer(line, at):
        sign = match[0]
        if sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
        if (sign == "," and depth == 1) or depth == 0:
            name = _LAST_NAME.search(line, start, match.start())
            if name is not None:
                spans.append(_span(name.start(1), name[1]))
            start = match.end()
        if depth == 0:
            return tuple(spans), match.end()
    return tuple(spans), len(line)


def _span(start: int, text: str) -> Span:
    return Span(start, start + len(text), text)
