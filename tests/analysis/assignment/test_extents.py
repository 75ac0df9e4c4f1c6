"""Of the sizes of values, allocations and the total: whose number is wrong."""

import pytest

from hlo_lsp.analysis.assignment.extents import (
    Extents,
    Fault,
    extents_of,
    proven_size,
    total_line,
)
from hlo_lsp.analysis.assignment.placements import assignment_of
from hlo_lsp.model.backend import Backend
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.sizes import Target
from hlo_lsp.syntax.memory_records import AssignedValue
from jobs import count_checkpoints

PATH = "module_0001.f.cpu_after_optimizations-buffer-assignment.txt"  # tells the backend
TEMP, OUTPUT = "preallocated-temp", "maybe-live-out"
Values = list[tuple[int, int]]  # size and offset


class Dump:
    """A buffer assignment in the making; values get ids in their order."""

    def __init__(self) -> None:
        self.lines = ["BufferAssignment:"]
        self.numbers = 0
        self.ids = 0

    def add(self, size: int, flag: str, *values: tuple[int, int], shape: str = "u8") -> "Dump":
        self.lines.append(f"allocation {self.numbers}: size {size}, {flag}:")
        self.numbers += 1
        for bytes_, offset in values:
            self.line(f" value: <{self.ids} v.{self.ids} @0> (size={bytes_},offset={offset}): "
                      f"{shape}[{bytes_}]{{0}}")  # fmt: skip
            self.ids += 1
        return self

    def line(self, text: str) -> "Dump":
        self.lines.append(text)
        return self

    def total(self, total: int | None) -> "Dump":
        return self if total is None else self.line(f"\nTotal bytes used: {total} ({total}B)")

    def read(self) -> DumpSet:
        return DumpSet([DumpFile.of_text("\n".join(self.lines) + "\n", PATH)])

    def extents(self) -> Extents:
        return extents_of(self.read())

    def told(self) -> list[tuple[int, Fault, int]]:
        """The number of each faulty allocation, its fault, and the bytes it needs."""
        return [
            (one.placement.allocation.number, one.fault, one.needed)
            for one in self.extents().faulty
        ]


@pytest.mark.parametrize("total", [None, 8, 24, 99])
def test_what_fits_is_no_fault(total: int | None) -> None:
    dump = Dump().add(8, OUTPUT, (8, 0)).add(16, TEMP, (4, 0), (8, 8), (12, 2))
    assert dump.total(total).told() == []


@pytest.mark.parametrize(
    ("size", "total", "fault"),
    [
        (7, None, Fault.TOO_SMALL),
        (7, 8, Fault.TOO_SMALL),
        (7, 9, Fault.TOO_SMALL),
        (7, 7, Fault.OUTSIDE),  # the total knows the allocation as it is
        (7, 6, Fault.OUTSIDE),
        (9, None, Fault.SLACK),
        (9, 8, Fault.SLACK),
        (9, 9, Fault.SLACK),
        (0, None, Fault.TOO_SMALL),
    ],
)
def test_an_allocation_for_one_value(size: int, total: int | None, fault: Fault) -> None:
    assert Dump().add(size, OUTPUT, (8, 0)).total(total).told() == [(0, fault, 8)]


@pytest.mark.parametrize(
    ("size", "total", "told"),
    [
        (15, None, [(0, Fault.OUTSIDE, 16)]),
        (15, 15, [(0, Fault.OUTSIDE, 16)]),
        (15, 14, [(0, Fault.OUTSIDE, 16)]),
        (15, 16, [(0, Fault.TOO_SMALL, 16)]),
        (9, 9, [(0, Fault.OUTSIDE, 16)]),
        (7, 7, [(0, Fault.TOO_SMALL, 16)]),  # two values reach behind it
        (20, None, []),  # a temporary one may be larger
        (20, 20, []),
        (20, 21, []),
        (20, 17, []),
        (20, 15, []),
        (20, 16, [(0, Fault.SLACK, 16)]),
    ],
)
def test_an_allocation_with_offsets(
    size: int, total: int | None, told: list[tuple[int, Fault, int]]
) -> None:
    assert Dump().add(size, TEMP, (8, 0), (8, 8)).total(total).told() == told


@pytest.mark.parametrize(
    ("size", "total", "told"),
    [
        (7, None, [(0, Fault.OUTSIDE, 8)]),
        (7, 7, [(0, Fault.OUTSIDE, 8)]),
        (7, 8, [(0, Fault.TOO_SMALL, 8)]),
        (10, None, []),
        (10, 10, []),
        (10, 9, []),
        (10, 7, []),
        (10, 8, [(0, Fault.SLACK, 8)]),
    ],
)
def test_an_allocation_for_a_value_whose_size_nobody_can_prove(
    size: int, total: int | None, told: list[tuple[int, Fault, int]]
) -> None:
    assert Dump().add(size, OUTPUT, (8, 0), shape="new").total(total).told() == told


def test_a_doubt_about_a_value_inside_is_none_about_one_that_reaches_behind() -> None:
    inside = " value: <9 x @0> (size=4,offset=0): new[4]{0}"
    assert Dump().add(7, OUTPUT, (8, 0)).line(inside).told() == [(0, Fault.TOO_SMALL, 8)]
    just_inside = " value: <9 x @0> (size=7,offset=0): new[7]{0}"
    assert Dump().add(7, OUTPUT, (8, 0)).line(just_inside).told() == [(0, Fault.TOO_SMALL, 8)]


def test_the_values_that_reach_behind_the_end() -> None:
    (extent,) = Dump().add(8, TEMP, (8, 0), (8, 4), (9, 0), (4, 0)).extents().faulty
    assert [(value.size, value.offset) for value in extent.outside] == [(8, 4), (9, 0)]
    assert (extent.needed, extent.excess) == (12, -4)


def test_a_wrong_size_of_a_value_or_offset_is_none_of_the_allocation() -> None:
    damaged = Dump().add(8, OUTPUT).line(" value: <1 v.1 @0> (size=9,offset=0): u8[8]{0}")
    assert damaged.told() == []
    damaged = Dump().add(12, TEMP, (4, 0)).line(" value: <1 v.1 @0> (size=8,offset=4): u8[6]{0}")
    assert damaged.told() == []
    assert Dump().add(8, OUTPUT, (8, 4)).told() == []
    # Two offsets, and it is laid out by them.
    assert Dump().add(8, OUTPUT, (8, 4), (8, 4)).told() == [(0, Fault.TOO_SMALL, 12)]


def test_an_allocation_without_values() -> None:
    assert Dump().add(0, OUTPUT).told() == []
    assert Dump().add(1, OUTPUT).told() == [(0, Fault.SLACK, 0)]
    assert Dump().add(8, TEMP).told() == []
    assert Dump().add(8, TEMP).add(8, OUTPUT, (8, 0)).total(8).told() == [(0, Fault.SLACK, 0)]


ENTRY = "<7 lost @0>\n positions:\n  lost\n uses:\n  v.0, operand 0"


def test_where_a_value_is_lost_slack_may_be_its_place() -> None:
    def dump(entry: str) -> Dump:
        return Dump().add(9, OUTPUT, (8, 0)).add(7, OUTPUT, (8, 0)).line(f"\nUsed values:\n{entry}")

    # What is too small is too small whatever is lost.
    assert dump(ENTRY).told() == [(1, Fault.TOO_SMALL, 8)]
    slack, small = (0, Fault.SLACK, 8), (1, Fault.TOO_SMALL, 8)
    assert dump(ENTRY.replace("<7 lost @0>", "<1 v.1 @0>")).told() == [slack, small]
    lost = Dump().add(9, OUTPUT, (8, 0))
    assert lost.total(8).line(f"\nUsed values:\n{ENTRY}").told() == [slack]
    lost = Dump().add(9, OUTPUT, (8, 0)).add(8, OUTPUT, (8, 0))
    assert lost.total(18).line(f"\nUsed values:\n{ENTRY}").told() == []
    assert lost.total(15).told() == []


def test_an_allocation_with_a_line_that_nobody_can_read_is_not_judged() -> None:
    dump = Dump().add(9, OUTPUT, (8, 0)).line(" value: ?").add(9, OUTPUT, (8, 0))
    assert dump.told() == [(1, Fault.SLACK, 8)]


@pytest.mark.parametrize(("total", "excess"), [(None, None), (24, 0), (20, 4), (30, -6)])
def test_the_sum_and_its_excess(total: int | None, excess: int | None) -> None:
    extents = Dump().add(8, OUTPUT, (8, 0)).add(16, TEMP, (16, 0)).total(total).extents()
    assert (extents.sum, extents.excess) == (24, excess)


def test_where_an_allocation_is_missing_no_sum_is_wrong() -> None:
    dump = Dump().add(8, OUTPUT, (8, 0))
    dump.numbers = 2
    extents = dump.add(8, OUTPUT, (8, 0)).total(24).extents()
    assert (extents.sum, extents.excess) == (16, None)


@pytest.mark.parametrize(
    ("total", "excess"), [(24, 0), (40, 0), (25, -1), (39, 1), (41, -1), (33, 7), (31, -7)]
)
def test_an_allocation_that_stands_there_twice_counts_once_or_twice(
    total: int, excess: int
) -> None:
    """Whichever fits the total better."""
    dump = Dump().add(8, OUTPUT, (8, 0)).line(f"allocation 1: size 16, {OUTPUT}:")
    dump.numbers = 1
    extents = dump.add(16, OUTPUT, (16, 0)).total(total).extents()
    assert (extents.sum, extents.excess) == (total + excess, excess)


@pytest.mark.parametrize(
    ("sizes", "total", "explain"),
    [
        ([9], 8, True),
        ([9], None, False),
        ([9], 10, False),  # too large itself, and yet the total is larger
        ([7], 9, True),
        ([7], 8, True),
        ([7, 9], 17, True),
        ([8, 9], 12, True),  # the sign has to do
        ([8, 8], 12, False),
        ([7], 7, False),  # the value is outside: the allocation is right
    ],
)
def test_whether_wrong_sizes_explain_the_sum(
    sizes: list[int], total: int | None, explain: bool
) -> None:
    dump = Dump()
    for size in sizes:
        dump.add(size, OUTPUT, (8, 0))
    assert dump.total(total).extents().explain_excess is explain


def test_the_total_is_that_of_the_assignment() -> None:
    report = "Memory Space: HBM, used 1B, 1 values\nTotal bytes used: 3 (3B)\n"
    files = [DumpFile.of_text(report), *Dump().add(8, OUTPUT, (8, 0)).total(8).read().files]
    found = total_line(DumpSet(files))
    assert found is not None
    assert (found.file, found.record.total) == (files[1], 8)
    assert total_line(DumpSet(files[:1])) is None


@pytest.mark.parametrize(
    ("shape", "size", "target", "proven"),
    [
        ("u8[8]{0}", 9, Target(Backend.CPU), 8),
        ("u8[8]{0}", 8, Target(Backend.UNKNOWN), None),
        ("new[8]{0}", 8, Target(Backend.CPU), None),
        # On a chip that is not known a table of pointers may have several sizes.
        ("(u8[8])", 512, Target(Backend.TPU), 512),
        ("(u8[8])", 513, Target(Backend.TPU), None),
        ("(u8[8])", 32, Target(Backend.TPU, 512), 512),
    ],
)
def test_the_size_that_a_shape_proves(
    shape: str, size: int, target: Target, proven: int | None
) -> None:
    value = AssignedValue(1, "v", None, False, None, size, 0, shape)
    assert proven_size(value, target) == proven


def test_in_the_memory_of_the_sparse_core_a_tuple_takes_no_bytes() -> None:
    value = AssignedValue(1, "v", None, False, 7, 512, 0, "(u8[8])")
    assert proven_size(value, Target(Backend.TPU, 512)) == 0


def test_it_is_told_again_after_an_edit() -> None:
    dump = Dump().add(8, OUTPUT, (8, 0)).total(8).read()
    assert extents_of(dump).faulty == ()
    (file,) = dump.files
    line = next(line for line, text in enumerate(file.lines) if text.startswith("Total"))
    file.changed(file.document.edit((line, 18), (line, 19), "9"))
    file.refresh()
    assert extents_of(dump).excess == -1
    line = file.lines.index(f"allocation 0: size 8, {OUTPUT}:")
    file.changed(file.document.edit((line, 19), (line, 20), "7"))
    file.refresh()
    assert [one.fault for one in extents_of(dump).faulty] == [Fault.TOO_SMALL]


def test_long_work_passes_checkpoints() -> None:
    made = Dump()
    for _ in range(1500):
        made.add(8, OUTPUT, (8, 0), (8, 0))
    dump = made.read()
    assignment_of(dump)
    assert 4 <= count_checkpoints(lambda: extents_of(dump)) <= 40
