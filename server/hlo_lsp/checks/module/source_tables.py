"""Rules on the source location tables of a module and on references to their rows."""

from collections.abc import Iterator
from typing import Any

from hlo_lsp.checks.framework.finding import Finding, Related
from hlo_lsp.checks.framework.rule import AnyRule, Reads, RecordContext, error, warning
from hlo_lsp.model.place import field_place, part_place
from hlo_lsp.syntax.instruction_text import FRAME, TextSpan
from hlo_lsp.syntax.module_records import FrameRow, InstructionLine, LocationRow, NameRow


def known_frame(context: RecordContext[InstructionLine]) -> Iterator[Finding]:
    """Check that a `stack_frame_id` is the 1-based number of a row of `StackFrames`.

    Modules without tables, which were extracted from others, are skipped.
    """
    record = context.record
    if "stack_frame_id=" not in record.text:
        return
    frames = record.attributes.frames
    table = context.tables.table("StackFrames") if frames else None
    if table is None or all(map(table.may_hold, frames)):
        return
    seen = [match for match in FRAME.finditer(record.text) if not table.may_hold(int(match[1]))]
    metadata = record.attribute("metadata")
    number = record.metadata.get("stack_frame_id", "")
    if metadata is None or not number.strip("0"):
        return
    for match in seen:
        if metadata.start <= match.start() < metadata.end and match[1] == number:
            place = part_place(
                context.file, record, TextSpan(match.start(1), match.end(1), match[1])
            )
            yield context.report(place, f"unknown frame {number}: {_rows(len(table.rows))}")
            return


def frame_row(context: RecordContext[FrameRow]) -> Iterator[Finding]:
    """Check that the location and the parent of a frame exist."""
    row, tables = context.record, context.tables
    locations, frames = tables.table("FileLocations"), tables.table("StackFrames")
    if locations is not None and not locations.may_hold(row.location):
        yield context.report(
            context.place("FILE_LOCATION_ID"),
            f"unknown location {row.location}: {_rows(len(locations.rows), 'FileLocations')}",
        )
    if frames is not None and row.parent is not None and not frames.may_hold(row.parent):
        yield context.report(
            context.place("PARENT_FRAME_ID"),
            f"unknown frame {row.parent}, printed as {row.parent + 1}: {_rows(len(frames.rows))}",
        )


def location_row(context: RecordContext[LocationRow]) -> Iterator[Finding]:
    """Check that the file and the function of a location exist. Their numbers start at 1."""
    row, tables = context.record, context.tables
    for label, what, number, role in (
        ("FileNames", "file", row.file, "FILE_NAME_ID"),
        ("FunctionNames", "function", row.function, "FUNCTION_NAME_ID"),
    ):
        table = tables.table(label)
        if table is not None and not table.may_hold(number):
            yield context.report(
                context.place(role), f"unknown {what} {number}: {_rows(len(table.rows), label)}"
            )


_TABLES = {
    NameRow: ("FileNames", "FunctionNames"),
    LocationRow: ("FileLocations",),
    FrameRow: ("StackFrames",),
}


def numbered_row(context: "RecordContext[Any]") -> Iterator[Finding]:
    """Check that the rows of each table are numbered 1, 2, 3 ..."""
    row: NameRow | LocationRow | FrameRow = context.record
    for label in _TABLES[type(row)]:
        table = context.tables.table(label)
        if table is not None and table.misnumbered is row:
            place = table.rows.index(row) + 1
            yield context.report(
                context.place("NUMBER"),
                f"this is row {place} of `{label}`, but it is numbered {row.number}: XLA counts "
                "rows, so later ids refer to other rows than their numbers",
            )


def frame_cycle(context: RecordContext[FrameRow]) -> Iterator[Finding]:
    """Check that no frame is among its own callers, so that every stack ends."""
    cycle = context.tables.cycles.get(context.record)
    if cycle is None:
        return
    numbers = [context.tables.frames.index(row) + 1 for row in cycle]
    if len(cycle) == 1:
        message = f"frame {numbers[0]} is its own caller: it is printed as {numbers[0] + 1}"
    else:
        way = ", ".join(map(str, [*numbers[1:], numbers[0]]))
        message = f"frame {numbers[0]} is among its own callers: {way}"
    yield context.report(
        context.place("PARENT_FRAME_ID"),
        message,
        *(
            Related(
                field_place(context.file, row, "PARENT_FRAME_ID"), f"the caller of frame {number}"
            )
            for row, number in zip(cycle[1:], numbers[1:], strict=True)
        ),
    )


def _rows(count: int, label: str = "StackFrames") -> str:
    return f"`{label}` has {count} row{'' if count == 1 else 's'}"


RULES: tuple[AnyRule, ...] = (
    error("bad-stack-frame", InstructionLine, known_frame, reads=Reads.FORM),
    error("bad-stack-frame", FrameRow, frame_row),
    error("bad-stack-frame", LocationRow, location_row),
    warning("bad-stack-frame", NameRow, numbered_row),
    warning("bad-stack-frame", LocationRow, numbered_row),
    warning("bad-stack-frame", FrameRow, numbered_row),
    error("frame-cycle", FrameRow, frame_cycle),
)
