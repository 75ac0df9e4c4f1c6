"""Cursor targets in both formats of memory usage reports."""

from cursor_targets import CursorTargets
from hlo_lsp.ide.cursor.targets import AllocationTarget, MemorySpaceTarget, ShapeTarget, TermTarget


def test_report_section_targets_memory_space() -> None:
    targets = CursorTargets(
        """
        Memory Space: color_10 (color=10)
        ^^^^^^^^^^^^ words
                      ^^^^^^^^ name
                                      ^^ color
        """
    )
    whole = (MemorySpaceTarget(10), "Memory Space: color_10 (color=10)")
    assert targets["words"] == targets["name"] == whole
    assert targets["color"] == (MemorySpaceTarget(10), "10")


def test_report_row_shapes_have_no_layout() -> None:
    targets = CursorTargets(
        """
        Memory Space: default (color=0)
          cumulative_size;       size;       offset; used_by_n_values; shapes_list
          ^^^^^^^^^^^^^^^ header
            1.00MiB(100%);    1.00MiB;            0;                2; 2×f32[512,512], s8[]
                                                                         ^^^^^^^^^^^^ first
                                                                                       ^^^ second
        """
    )
    assert targets.entity("header") == TermTarget("table_header")
    assert targets["first"] == (ShapeTarget("f32[512,512]", has_layout=False), "f32[512,512]")
    assert targets["second"] == (ShapeTarget("s8[]", has_layout=False), "s8[]")


def test_count_before_shape_is_excluded() -> None:
    line = "    1.00MiB(100%);    1.00MiB;            0;                2; 2×f32[512,512], s8[]"
    targets = CursorTargets(f"Memory Space: default (color=0)\n{line}")
    subjects = {found[0] for column in range(len(line)) if (found := targets.at(1, column))}
    shapes = {subject.text for subject in subjects if isinstance(subject, ShapeTarget)}
    assert shapes == {"f32[512,512]", "s8[]"}


def test_tuple_brackets_target_whole_tuple() -> None:
    targets = CursorTargets(
        """
        Memory Space: default (color=0)
               512B(100%);       512B;            0;                1; (f32[2], s8[]), f32[4]
                                                                       ^ open
                                                                        ^^^^^ leaf
        """
    )
    assert targets["leaf"] == (ShapeTarget("f32[2]", has_layout=False), "f32[2]")
    assert targets["open"] == (ShapeTarget("(f32[2], s8[])", has_layout=False), "(f32[2], s8[])")


def test_old_report_targets_allocations() -> None:
    targets = CursorTargets(
        """
        Total bytes used: 1024 (1.0KiB)

        Allocations sorted by size:

        cumulative_size; total_size - cumulative_size; allocation
        ------------------------------------------------------------------------------
              512B(100%);         0B; allocation 12: size 512B, preallocated-temp:
                                      ^^^^^^^^^^ in-list


        Allocations sorted by size with their values:
        ^^^^^^^^^^^^^^^^^^^^^^^^^^ label
        allocation 12: size 512B, preallocated-temp:
        ^^^^^^^^^^^^^ head
        """
    )
    for name in ("in-list", "head"):
        found = targets[name]
        assert found is not None
        assert found[0] == AllocationTarget(12)
    label = "Allocations sorted by size with their values:"
    assert targets["label"] == (TermTarget("with_values_label"), label)
