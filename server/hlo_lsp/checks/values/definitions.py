"""The shapes of values against the instructions that define them.

XLA prints the sub-shape of the defining instruction at the value's index, layout and all
(``HloValue::shape`` in hlo_value.h).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from hlo_lsp.checks.case import CompileCheck, field_place, shape_place
from hlo_lsp.checks.finding import Finding, Related, Severity
from hlo_lsp.checks.rule import AnyRule, WholeRule
from hlo_lsp.model.dump_set import DumpSet, defining_text
from hlo_lsp.model.place import LocatedRecord, Place
from hlo_lsp.model.shape import arrays_of, subshape_text, try_shape
from hlo_lsp.program.passes import module_at_buffer_assignment
from hlo_lsp.syntax.memory_records import AssignedValue
from hlo_lsp.syntax.module_records import InstructionLine
from hlo_lsp.syntax.used_value import UsedValue, instruction_column
from hlo_lsp.text.checkpoint import checkpoint

_MAX_SHOWN = 80  # characters of a shape in a message
_MAX_RELATED = 8
_ALLOCATION = "in its allocation"


@dataclass(frozen=True, slots=True)
class _PrintedShape:
    """A shape where it is printed: of the instruction, and the part that is of the value."""

    place: Place
    whole: str | None
    part: str | None
    where: str


def shape_definition_mismatch(survey: CompileCheck) -> Iterator[Finding]:
    """Report values whose shape is not that of their instruction at their index."""
    found: dict[str, list[list[_PrintedShape]]] = {}
    for name, shapes in _disagreeing(survey.dump):
        if _differ(shapes):
            found.setdefault(name, []).append(shapes)
    for values in found.values():
        yield _mismatch(survey, values)


def _disagreeing(dump: DumpSet) -> Iterator[tuple[str, list[_PrintedShape]]]:
    module = module_at_buffer_assignment(dump)
    holder = next((file for file in dump.files if len(file.memory.assigned)), None)
    entries = next((file for file in dump.files if len(file.memory.entries)), None)
    headers: Iterator[Any] = iter(())
    if holder is not None:
        headers = holder.memory.assigned.records()
    elif entries is not None:
        headers = entries.memory.entries.records()
    for header in headers:
        checkpoint()
        value = header if isinstance(header, AssignedValue) else None
        entry = None if entries is None else entries.memory.entries.first(header.id)
        if entry is not None and not (entry.whole and entry.key == header.key):
            entry = None
        lines = [] if module is None else module.module.instructions.all(header.name)
        line = lines[0] if len(lines) == 1 and lines[0].shape else None
        if not _are_equal(value, entry, line):
            located = [
                LocatedRecord(file, record)
                for file, record in ((holder, value), (entries, entry), (module, line))
                if file is not None and record is not None
            ]
            shapes = [_printed(one, header.index) for one in located]
            yield header.name, [shape for shape in shapes if shape.part is not None]


def _are_equal(
    value: AssignedValue | None, entry: UsedValue | None, line: InstructionLine | None
) -> bool:
    """Return whether all shapes are the same, without reading those that are equal as text."""
    if line is None or (
        value is not None and subshape_text(line.shape, value.index) != value.shape
    ):
        return False
    text = "" if entry is None else entry.lines[-1]
    at = instruction_column(text)
    at += text.startswith("%", at)
    return not text or text.startswith(f"{line.name} = {line.shape} ", at)


def _printed(found: "LocatedRecord[Any]", index: str | None) -> _PrintedShape:
    """Return the shape in a line; a part is None that cannot be read."""
    file, record = found.file, found.record
    if isinstance(record, AssignedValue):
        shape = record.shape if try_shape(record.shape) is not None else None
        return _PrintedShape(field_place(file, record, "SHAPE"), shape, shape, _ALLOCATION)
    if isinstance(record, InstructionLine):
        place, part = shape_place(file, record), subshape_text(record.shape, index)
        return _PrintedShape(place, record.shape, part, "in the module text")
    text = defining_text(record)
    if text is None or text.name.text != record.name:
        return _PrintedShape(field_place(file, record), None, None, "")
    span, row = text.shape, record.line + len(record.lines) - 1
    place, part = Place(file, row, span.start, span.end), subshape_text(span.text, index)
    return _PrintedShape(place, span.text, part, "after `from instruction`")


def _differ(shapes: list[_PrintedShape]) -> bool:
    """Return whether shapes differ, of which all parts are known.

    Nothing is known of element types and of letters in layouts that later compilers may print, not
    even whether they are printed everywhere.
    """
    whole = {one.whole for one in shapes if one.where != _ALLOCATION}
    if len(whole) < 2 and len({one.part for one in shapes}) < 2:
        return False
    return len({tuple(_unknown(one.part or "")) for one in shapes}) == 1


def _unknown(shape: str) -> Iterator[str]:
    for array in arrays_of(try_shape(shape)):
        if array.bits is None:
            yield array.element_type
        if array.layout is not None:
            yield from array.layout.others


def _mismatch(survey: CompileCheck, values: list[list[_PrintedShape]]) -> Finding:
    """Report the one of three shapes that differs from the others, else the first one."""
    shapes = values[0]
    if len({one.part for one in shapes}) == 1:  # another element of the tuple differs
        shapes = [one for one in shapes if one.where != _ALLOCATION]
    parts = [one.part for one in shapes]
    here = next((one for one in shapes if parts.count(one.part) == 1), shapes[0])
    others = [one for one in reversed(shapes) if one is not here]
    other = next((one for one in others if one.part != here.part), others[0])
    is_part = _ALLOCATION in {here.where, other.where}
    shape, right = (here.part, other.part) if is_part else (here.whole, other.whole)
    pairs = enumerate(zip(shape or "", right or "", strict=False))
    at = next((at for at, (one, two) in pairs if one != two), 0)
    related = (
        Related(one.place, f"`{_shown(one.whole)}` {one.where}")
        for one in chain.from_iterable(values)
        if one.place != here.place
    )
    message = f"shape `{_shown(shape, at)}` does not match `{_shown(right, at)}` {other.where}"
    finding = survey.report(here.place, message, *islice(related, _MAX_RELATED))
    if len(shapes) != 3 or len(set(parts)) != 2:
        return finding
    if here.where == _ALLOCATION:
        return finding.put(others[0].part or "")
    return finding.put(next(one.whole for one in others if one.where != _ALLOCATION) or "")


def _shown(shape: str | None, at: int = 0) -> str:
    text = shape or ""
    start = max(0, at - _MAX_SHOWN // 2) if len(text) > _MAX_SHOWN else 0
    end = start + _MAX_SHOWN
    return f"{'...' if start else ''}{text[start:end]}{'...' if end < len(text) else ''}"


RULES: tuple[AnyRule, ...] = (
    WholeRule(
        "shape-definition-mismatch", Severity.ERROR, shape_definition_mismatch, ignores_sizes=True
    ),
)
