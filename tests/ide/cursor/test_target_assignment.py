"""Cursor targets in every field of allocations and their values."""

import pytest

from cursor_targets import CursorTargets
from hlo_lsp.ide.cursor.targets import (
    AllocationTarget,
    MemorySpaceTarget,
    ShapeTarget,
    TermTarget,
    ValueTarget,
)


def test_allocation_line_targets_allocation() -> None:
    targets = CursorTargets(
        """
        allocation 12: size 512, heap 3:
        ^^^^^^^^^^ word
                   ^^ number
                            ^^^ size
                                 ^^^^^^ unknown
        """
    )
    whole = (AllocationTarget(12), "allocation 12: size 512, heap 3:")
    for name in ("word", "number", "size", "unknown"):
        assert targets[name] == whole


def test_color_targets_memory_space_and_page_targets_term() -> None:
    targets = CursorTargets(
        """
        allocation 12: size 512, color 10, page 7, preallocated-temp:
                                       ^^ color
                                                ^ page
        """
    )
    assert targets["color"] == (MemorySpaceTarget(10), "10")
    assert targets["page"] == (TermTarget("page"), "7")


@pytest.mark.parametrize(
    "flag", ["constant", "thread-local", "maybe-live-out", "preallocated-temp"]
)
def test_allocation_flag_targets_term(flag: str) -> None:
    line = f"allocation 1: size 512, page 0, {flag}:"
    targets = CursorTargets(line)
    columns = range(line.index(flag), line.index(flag) + len(flag))
    assert {targets.at(0, column) for column in columns} == {(TermTarget(flag), flag)}


def test_allocation_shapes_have_no_layout() -> None:
    targets = CursorTargets(
        """
        allocation 1: size 8, parameter 0, shape |f32[2]| at ShapeIndex {0}, output shape is |(f32[2], s8[])|:
                                                  ^^^^^^ parameter
                                                            ^^^^^^^^^^^^^^ index
                                                                                              ^ tuple
                                                                                               ^^^^^^ leaf
        """  # noqa: E501
    )
    assert targets["parameter"] == (ShapeTarget("f32[2]", has_layout=False), "f32[2]")
    assert targets["tuple"] == (ShapeTarget("(f32[2], s8[])", has_layout=False), "(f32[2], s8[])")
    assert targets["leaf"] == (ShapeTarget("f32[2]", has_layout=False), "f32[2]")
    assert targets.entity("index") == AllocationTarget(1)


def test_value_line_targets_value_up_to_shape() -> None:
    targets = CursorTargets(
        """
         value: <39 arg_tuple.3{0,1} (phi) @1> (size=512,offset=49152): u32[1]{0:T(128)}
        ^^^^^^^^ margin
                 ^^ id
                    ^^^^^^^^^^^ name
                               ^^^^^ index
                                                     ^^^ size
                                                                ^^^^^ offset
        """
    )
    whole = (ValueTarget("arg_tuple.3{0,1}", 39), "<39 arg_tuple.3{0,1} (phi) @1>")
    for name in ("margin", "id", "name", "index", "size", "offset"):
        assert targets[name] == whole


def test_value_line_parts_have_their_own_targets() -> None:
    targets = CursorTargets(
        """
         value: <39 arg_tuple.3{1} (phi) @11> (size=512,offset=49152): u32[1]{0:T(128)S(1)}
                                    ^^^ phi
                                          ^^ color
                                                                       ^^^^^^^^^^^^^^^ shape
                                                                                      ^^^^ space
        """
    )
    assert targets.entity("phi") == TermTarget("phi")
    assert targets["color"] == (MemorySpaceTarget(11), "11")
    shape = "u32[1]{0:T(128)S(1)}"
    assert targets["shape"] == (ShapeTarget(shape, has_layout=True), shape)
    assert targets["space"] == (MemorySpaceTarget(1), "S(1)")


def test_tuple_shape_targets_leaf_at_cursor() -> None:
    targets = CursorTargets(
        """
         value: <4 f{} @0> (size=32,offset=0): (u32[1]{0:T(128)S(2)}, /*index=5*/bf16[2,<=3]{1,0})
                                               ^ open
                                                ^^^^^^^^^^^^^^^ first
                                                                ^^^^ space
                                                                        ^^^^^^ comment
                                                                                 ^^^^^^^^^^^^^^^^ second
        """  # noqa: E501
    )
    whole = "(u32[1]{0:T(128)S(2)}, /*index=5*/bf16[2,<=3]{1,0})"
    assert targets["open"] == targets["comment"] == (ShapeTarget(whole, has_layout=True), whole)
    first, second = "u32[1]{0:T(128)S(2)}", "bf16[2,<=3]{1,0}"
    assert targets["first"] == (ShapeTarget(first, has_layout=True), first)
    assert targets["space"] == (MemorySpaceTarget(2), "S(2)")
    assert targets["second"] == (ShapeTarget(second, has_layout=True), second)


def test_section_label_targets_term() -> None:
    targets = CursorTargets("BufferAssignment:")
    assert targets.at(0, 3) == (TermTarget("assignment_label"), "BufferAssignment:")


def test_position_after_last_character_has_target() -> None:
    line = " value: <2 add @0> (size=4,offset=0): f32[]{:T(128)}"
    assert CursorTargets(line).at(0, len(line)) == CursorTargets(line).at(0, len(line) - 1)


def test_broken_and_empty_lines_have_no_target() -> None:
    targets = CursorTargets("BufferAssignment:\nallocation 1 size 512:\n\n")
    assert [targets.at(line, 3 * (line == 1)) for line in (1, 2, 3)] == [None, None, None]


def test_unknown_file_has_no_target() -> None:
    assert CursorTargets("fn main() {").at(0, 3) is None
