"""Sizes, offsets and sums."""

from collections.abc import Iterator

from hlo_lsp.analysis.sizes import padded_size_of
from hlo_lsp.checks.case import Case
from hlo_lsp.checks.finding import Finding, Related
from hlo_lsp.checks.places import field_place
from hlo_lsp.checks.rule import AnyRule, Pace, error
from hlo_lsp.model.bytesize import readable
from hlo_lsp.syntax.memory_records import AllocationLine, AssignedValue, TotalLine


def size_mismatch(case: Case[AssignedValue]) -> Iterator[Finding]:
    """The size of a value follows from its shape and layout.

    Tiled arrays (TPU) are padded dimension by dimension to their tiles; CPU and GPU do not pad.
    Tuples are tables of pointers: 8 bytes an element on CPU and GPU; on TPU 4 bytes, rounded up to
    a granule that is the same in all of a dump. Held on each of 35 000 values of real dumps.
    Example: `f32[16,64]{1,0:T(8,128)}` takes 16 x 128 x 4 = 8192 bytes.
    """
    value = case.record
    padded = padded_size_of(value.shape, case.context.target, value.color or 0)
    if padded is None or value.size == padded.bytes or value.size in padded.allowed:
        return
    if not padded.exact and not padded.allowed:
        return
    causes = "".join(f"; {cause}" for cause in padded.padding)
    yield case.finding(
        f"size is {value.size:,} B, but the shape takes {padded.bytes:,} B: {padded.rule}{causes}",
        "SIZE",
        Related(case.place("SHAPE"), f"this shape takes {readable(padded.bytes)}"),
    )


def out_of_bounds(case: Case[AssignedValue]) -> Iterator[Finding]:
    """A value lies inside its allocation: offset + size never exceeds the allocation's size."""
    value, file = case.record, case.file
    allocation = file.records.head_of(value)
    if not isinstance(allocation, AllocationLine):
        return
    end = value.offset + value.size
    if end > allocation.size:
        yield case.finding(
            f"the value ends at byte {end:,} (offset {value.offset:,} + size {value.size:,}), but "
            f"allocation {allocation.number} has only {allocation.size:,} B",
            "OFFSET",
            Related(
                field_place(file, allocation, "SIZE"),
                f"allocation {allocation.number} ends at {allocation.size:,}",
            ),
        )


def total_mismatch(case: Case[TotalLine]) -> Iterator[Finding]:
    """`Total bytes used` is the sum of the sizes of all allocations.

    All memory spaces and thread-local allocations count.
    """
    allocations = [located.record for located in case.context.dump.allocations()]
    if not allocations or case.context.misses_assigned:
        return
    total = sum(allocation.size for allocation in allocations)
    if total != case.record.total:
        difference = case.record.total - total
        first = next(case.context.dump.allocations())
        yield case.finding(
            f"the total is given as {case.record.total:,} B, but the {len(allocations):,} "
            f"allocations add up to {total:,} B ({difference:+,} B)",
            "TOTAL",
            Related(
                field_place(first.file, first.record), f"the allocations add up to {total:,} B"
            ),
        )


RULES: tuple[AnyRule, ...] = (
    error("size-mismatch", AssignedValue, size_mismatch, pace=Pace.LINE),
    error("out-of-bounds", AssignedValue, out_of_bounds),
    error("total-mismatch", TotalLine, total_mismatch),
)
