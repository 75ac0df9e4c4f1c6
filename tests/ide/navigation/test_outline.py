"""The outline of memory files."""

from textwrap import dedent

import marked_dump
from hlo_lsp.ide.navigation.outline import OutlineNode, outline, walk_nodes
from hlo_lsp.model.dump_file import DumpFile


def drawn(file: DumpFile) -> str:
    """Return a line for each node: name, detail, first and last line, indented by depth."""

    def lines(nodes: list[OutlineNode], margin: str) -> list[str]:
        found = []
        for node in nodes:
            last = node.line + node.line_count - 1
            detail = f" ({node.detail})" if node.detail else ""
            found.append(f"{margin}{node.name}{detail} {node.line}-{last}")
            found += lines(node.children, margin + "  ")
        return found

    return "\n".join(lines(outline(file), ""))


def _drawn(text: str) -> str:
    return drawn(DumpFile.of_text(text))


def test_allocations_contain_their_values() -> None:
    file = marked_dump.split().file(marked_dump.ASSIGNMENT)
    assert drawn(file) == dedent("""\
        BufferAssignment 0-12
          allocation 0 (512 B) 1-2
            0 add.9 (f32[]{:T(128)}) 2-2
          allocation 1 (8.0 KiB) 3-4
            3 x.1 (f32[16,64]{1,0:T(8,128)}) 4-4
          allocation 2 (8.0 KiB) 5-6
            8 fusion.2 (f32[16,64]{1,0:T(8,128)}) 6-6
          allocation 3 (32 B) 7-8
            4 fusion{} ((f32[16,64]{1,0:T(8,128)S(1)}, f32[64]{0:T(128)S(1)})) 8-8
          allocation 4 (8.5 KiB) 9-12
            5 fusion{0} (f32[16,64]{1,0:T(8,128)S(1)}) 10-10
            6 fusion{1} (f32[64]{0:T(128)S(1)}) 11-11
            7 negate.7 (f32[16,64]{1,0:T(8,128)S(1)}) 12-12""")


def test_entries_are_in_their_section() -> None:
    file = marked_dump.split(marked_dump.VALUES).file(marked_dump.VALUES)
    assert drawn(file) == dedent("""\
        Total bytes used (25.0 KiB) 1-1
        Used values 3-48
          0 add.9 4-9
          3 x.1 10-15
          4 fusion{} 16-22
          5 fusion{0} 23-29
          6 fusion{1} 30-36
          7 negate.7 37-42
          8 fusion.2 43-48""")


def test_live_range_section_contains_schedule_and_peak() -> None:
    file = marked_dump.split(marked_dump.LIVE).file(marked_dump.LIVE)
    assert drawn(file) == dedent("""\
        HloLiveRange (6 steps) 0-25
          InstructionSequence 1-7
            x.1 (0) 2-2
            fusion (1) 3-3
            get-tuple-element (2) 4-4
            get-tuple-element.1 (3) 5-5
            negate.7 (4) 6-6
            fusion.2 (5) 7-7
          BufferLiveRange 8-14
            x.1{} (0-6) 9-9
            fusion{} (1-3) 10-10
            fusion{0} (1-4) 11-11
            fusion{1} (1-5) 12-12
            negate.7{} (4-5) 13-13
            fusion.2{} (5-6) 14-14
          Peak (step 5) 15-19
            fusion.2{} (4.0 KiB) 16-16
            negate.7{} (4.0 KiB) 17-17
            x.1{} (4.0 KiB) 18-18
            fusion{1} (256 B) 19-19
          Stack trace breakdown 20-25""")


def test_one_file_dump_has_all_sections() -> None:
    file = marked_dump.one_file().file(marked_dump.ASSIGNMENT)
    tops = [(node.name, node.line) for node in outline(file)]
    assert tops == [
        ("BufferAssignment", 0),
        ("Total bytes used", 14),
        ("Used values", 16),
        ("HloLiveRange", 64),
    ]


def test_nodes_are_nested_and_ordered() -> None:
    def look(nodes: list[OutlineNode], first: int, last: int) -> None:
        for node in nodes:
            assert first <= node.line
            assert node.line + node.line_count - 1 <= last
            look(node.children, node.line, node.line + node.line_count - 1)
            first = node.line + node.line_count

    for file in (*marked_dump.split().dump.files, *marked_dump.one_file().dump.files):
        nodes = outline(file)
        assert len(list(walk_nodes(nodes))) > 7
        look(nodes, 0, len(file.lines) - 1)


def test_broken_line_is_in_no_node() -> None:
    text = marked_dump.ASSIGNMENT.text
    whole = _drawn(text).split("\n")
    broken = _drawn(text.replace("<6 fusion{1} @1> (size=", "<6 fusion{1} @1> (sie=")).split("\n")
    assert broken == [line for line in whole if "6 fusion{1}" not in line]


def test_broken_allocation_ends_the_previous_one() -> None:
    text = marked_dump.ASSIGNMENT.text.replace("allocation 4: size 8704", "allocation 4: sie 8704")
    nodes = {node.name: node for node in walk_nodes(outline(DumpFile.of_text(text)))}
    assert [child.name for child in nodes["allocation 3"].children] == ["4 fusion{}"]


def test_broken_section_head_affects_only_its_name() -> None:
    text = marked_dump.LIVE.text.replace("  BufferLiveRange:", "  BufferLiveRang:")
    names = [node.name for node in walk_nodes(outline(DumpFile.of_text(text)))]
    whole = [node.name for node in walk_nodes(outline(DumpFile.of_text(marked_dump.LIVE.text)))]
    assert names == [name for name in whole if name != "BufferLiveRange"]


def test_other_files_have_no_outline() -> None:
    assert _drawn("fn main() {\n}\n") == ""
    assert _drawn("") == ""
