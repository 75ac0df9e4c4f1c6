"""Statements of module text that cannot be read to their end."""

import re
from collections.abc import Iterator

from hlo_lsp.checks.finding import Finding
from hlo_lsp.checks.rule import Case, head_place, name_place, part_place, span_place
from hlo_lsp.model.shape import ShapeError, parse_shape
from hlo_lsp.syntax.module_records import (
    ComputationEnd,
    ComputationLine,
    InstructionLine,
    ModuleHeader,
)
from hlo_lsp.syntax.nesting import is_balanced, nested
from hlo_lsp.syntax.records import Broken


def unclosed(case: Case[InstructionLine]) -> Iterator[Finding]:
    """Every bracket and every string of an instruction is closed again.

    A file that was cut off often ends in the middle of one. What stands behind is not looked at.
    """
    yield from _unbalanced(case, case.record.text, case.record.column)


def unclosed_header(case: Case[ModuleHeader]) -> Iterator[Finding]:
    """Every bracket and every string of the module's first line is closed again."""
    yield from _unbalanced(case, case.record.text, 0)


def unreadable_shape(case: Case[InstructionLine]) -> Iterator[Finding]:
    """What stands between the `=` and the opcode is a shape."""
    if not case.record.shape:
        return
    try:
        parse_shape(case.record.shape)
    except ShapeError as error:
        yield case.accuse(part_place(case.file, case.record, case.record.parsed.shape), str(error))


def open_computation(case: Case[ComputationLine]) -> Iterator[Finding]:
    """The body of a computation ends with a brace."""
    scope = case.scopes.scope(case.record)
    if not scope.is_closed and not scope.is_cut:
        yield case.accuse(
            head_place(case.file, case.record),
            f"`{case.record.name}` is not closed: expected `}}` behind its instructions",
        )


def orphan(case: Case[InstructionLine]) -> Iterator[Finding]:
    """An instruction stands between the braces of a computation. Of several the first is named."""
    record, file = case.record, case.file
    if case.scopes.resolved(record) is not None or isinstance(file.records.head_of(record), Broken):
        return
    above = file.records.at(record.line - 1) if record.line > 0 else None
    if not isinstance(above, InstructionLine) or case.scopes.of(above) is not None:
        message = f"`{record.name}` is in no computation: no head stands above it"
        yield case.accuse(name_place(file, record), message)


def lone_brace(case: Case[ComputationEnd]) -> Iterator[Finding]:
    """A brace at the left edge closes the computation above it."""
    head = case.file.records.head_of(case.record)
    if isinstance(head, Broken):
        return
    scope = case.scopes.scope(head) if isinstance(head, ComputationLine) else None
    if scope is None or scope.is_inside or scope.end != case.record.line:
        yield case.finding("this brace closes nothing")


def _unbalanced(
    case: "Case[InstructionLine] | Case[ModuleHeader]", text: str, at: int
) -> Iterator[Finding]:
    if _is_closed(text) or is_balanced(text, at):
        return
    opened: list[int] = []
    for match, _ in nested(text, at):
        start, sign = match.start(), match[0]
        if sign == '"':
            opened.append(start)
            break
        if sign in _PAIRS:
            opened.append(start)
        elif sign in _PAIRS.values():
            if not opened:
                place = span_place(case.file, case.record, text, start, start + 1)
                yield case.accuse(place, f"this `{sign}` closes nothing")
                return
            opened.pop()
    for start in opened[-1:]:
        what = "string" if text[start] == '"' else f"`{text[start]}`"
        place = span_place(case.file, case.record, text, start, start + 1)
        yield case.accuse(place, f"this {what} is not closed")


def _is_closed(text: str) -> bool:
    """Whether as many brackets close as open: quickly, as nearly all texts are well."""
    bare = _STRING.sub("", text)
    return '"' not in bare and all(
        bare.count(opening) == bare.count(closing) for opening, closing in _PAIRS.items()
    )


_PAIRS = {"(": ")", "[": "]", "{": "}"}
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
