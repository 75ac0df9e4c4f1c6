"""Sizes that one line states twice: as a number and as a shape, or in another unit."""

from collections.abc import Iterator

from hlo_lsp.checks.allocations.memory_spaces import layout_space
from hlo_lsp.checks.case import RecordCheck
from hlo_lsp.checks.finding import Finding, Related
from hlo_lsp.checks.rule import AnyRule, Pace, error
from hlo_lsp.model.bytesize import format_bytes, format_bytes_as_xla
from hlo_lsp.model.sizes import PaddedSize, Target, padded_size_of_text
from hlo_lsp.syntax.line_fields import fields_of_line
from hlo_lsp.syntax.memory_records import AssignedValue, TotalLine
from hlo_lsp.syntax.records import Label


def size_mismatch(case: RecordCheck[AssignedValue]) -> Iterator[Finding]:
    """Report values whose size does not follow from shape and layout (``shape_util.cc``).

    Tiled arrays (TPU) are padded dimension by dimension to their tiles; CPU and GPU do not pad.
    Tuples are tables of pointers: 8 bytes an element on CPU and GPU; on TPU 4 bytes, rounded up to
    a granule that is the same in all of a dump. Held on each of 35 000 values of real dumps.
    Example: `f32[16,64]{1,0:T(8,128)}` takes 16 x 128 x 4 = 8192 bytes.
    """
    value = case.record
    padded = contradicting_size(value, case.context.target)
    if padded is None:
        return
    causes = "".join(f"; {cause}" for cause in padded.padding)
    finding = case.finding(
        f"size is {value.size:,} B, but the shape takes {padded.bytes:,} B: {padded.rule}{causes}",
        "SIZE",
        Related(case.place("SHAPE"), f"this shape takes {format_bytes(padded.bytes)}"),
    )
    yield finding.put(str(padded.bytes)) if padded.exact else finding


def contradicting_size(value: AssignedValue, target: Target) -> PaddedSize | None:
    """Return the size that the shape requires if the value has another one."""
    if value.color is not None and layout_space(value) not in {None, value.color}:
        return None  # the rule depends on the memory space
    padded = padded_size_of_text(value.shape, target, value.color or 0)
    if padded is None or value.size == padded.bytes or value.size in padded.allowed:
        return None
    return padded if padded.exact or padded.allowed else None


def human_total(case: RecordCheck[TotalLine]) -> Iterator[Finding]:
    """Report a rounded total that is not the exact one before it (tsl ``numbers.cc``).

    Where it is the sum of all allocations, the exact one is wrong: see ``total-mismatch``.
    """
    sizes = sum(found.record.size for found in case.context.dump.allocations())
    if case.record.human != format_bytes_as_xla(sizes):
        yield from _human(case, case.record.total, case.record.human)


def human_space(case: RecordCheck[Label]) -> Iterator[Finding]:
    """Report the same for a memory space in a memory usage report."""
    if case.record.name != "space_total_line":
        return
    line = case.file.lines[case.record.line]
    texts = {field.role: field.text for field in fields_of_line("space_total_line", line)}
    if "TOTAL" in texts and "HUMAN" in texts:
        yield from _human(case, int(texts["TOTAL"]), texts["HUMAN"])


def _human(
    case: RecordCheck[TotalLine] | RecordCheck[Label], total: int, human: str
) -> Iterator[Finding]:
    expected = format_bytes_as_xla(total)
    if human != expected:
        yield case.finding(f"{total:,} B are `{expected}`, not `{human}`", "HUMAN").put(expected)


RULES: tuple[AnyRule, ...] = (
    error("size-mismatch", AssignedValue, size_mismatch, pace=Pace.LINE),
    error("human-size", TotalLine, human_total),
    error("human-size", Label, human_space),
)
