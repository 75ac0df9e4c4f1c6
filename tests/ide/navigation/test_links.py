"""Links to Python lines."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from dumps import files_of
from hlo_lsp.ide.navigation.source_links import SourceLink, source_line_at, source_links
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.source import SourceLine
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.instruction_text import parse_instruction
from hlo_lsp.syntax.module_records import InstructionLine
from marks import Mark, Marked, mark

MODULE = mark(
    """
    HloModule jit_f, is_scheduled=true

    FileNames
    1 "/home/user/my model.py"
      ^^^^^^^^^^^^^^^^^^^^^^^^ name.1
    2 "train.py"
      ^^^^^^^^^^ name-2.1

    FunctionNames
    1 "f"
    2 "main"

    FileLocations
    1 {file_name_id=1 function_name_id=1 line=7 end_line=8 column=4 end_column=9}
                                         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ location-1.7
    2 {file_name_id=2 function_name_id=2 line=90}
                                         ^^^^^^^ location-2.90
    3 {file_name_id=9 function_name_id=2 line=91}

    StackFrames
    1 {file_location_id=2 parent_frame_id=1}
       ^^^^^^^^^^^^^^^^^^ frame-1.90
    2 {file_location_id=1 parent_frame_id=2}
       ^^^^^^^^^^^^^^^^^^ frame-2.7
    3 {file_location_id=3 parent_frame_id=2}
    4 {file_location_id=9 parent_frame_id=2}

    ENTRY %main.3 (x.1: f32[4]) -> f32[4] {
      %x.1 = f32[4]{0} parameter(0), metadata={op_name="stack_frame_id=1"}
      %neg = f32[4]{0} negate(%x.1), metadata={op_name="jit(f)/neg" stack_frame_id=2}, backend_config={"stack_frame_id=1"}
                                                                    ^^^^^^^^^^^^^^^^ neg.7
      %abs = f32[4]{0} abs(%neg), metadata={stack_frame_id=1 op_name="jit(f)/abs"}
                                            ^^^^^^^^^^^^^^^^ abs.90
      %old = f32[4]{0} abs(%neg), metadata={op_name="é" source_file="/m.py" source_line=3 source_end_line=4}
                                                        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ old.3
      %no = f32[4]{0} abs(%neg), metadata={source_line=5 op_name="a" source_file="/m.py"}
                                           ^^^^^^^^^^^^^ apart.5     ^^^^^^^^^^^^^^^^^^^ apart-2.5
      %one = f32[4]{0} abs(%neg), metadata={source_file="/m.py"}
                                            ^^^^^^^^^^^^^^^^^^^ alone.1
      %bad = f32[4]{0} abs(%neg), metadata={stack_frame_id=3}
      %far = f32[4]{0} abs(%neg), metadata={stack_frame_id=77}
      ROOT %odd = f32[4]{0} abs(%neg), metadata={stack_frame_id=x}
    }
    """  # noqa: E501
)
VALUES = mark(
    """
    Used values:
    <0 x.1 @0>
     positions:
      x.1
     uses:
      neg, operand 0
     from instruction: %x.1 = f32[4]{0} parameter(0), metadata={op_name="x"}
    <1 neg @0>
     positions:
      neg
     uses:
      (none)
     from instruction: %neg = f32[4]{0} negate(%x.1), metadata={op_name="jit(f)/neg" stack_frame_id=2}
                                                                                     ^^^^^^^^^^^^^^^^ neg.7
    """  # noqa: E501
)
LIVE = mark(
    """
    HloLiveRange (max 4):
      InstructionSequence:
        0:x.1
      Live ranges at 2 (peak):
        neg{}: 16 bytes (cumulative: 16 bytes)
        abs{}: 16 bytes (cumulative: 32 bytes)
        twice.1{0}: 16 bytes (cumulative: 48 bytes)
        twice.2{}: 16 bytes (cumulative: 64 bytes)
        call.5{}: 16 bytes (cumulative: 80 bytes)
        x.1{}: 16 bytes (cumulative: 80 bytes)
      Stack trace breakdown for peak usage: 80 bytes
        main.3 (100.0%, total: 80 bytes, current: 0 bytes, remaining: 80 bytes)
          ├── jit(f)/while (40.0%, total: 32 bytes, current: 0 bytes, remaining: 80 bytes)
              ^^^^^^^^^^^^ while.90
          │   └── jit(f)/neg (20.0%, total: 16 bytes, current: 16 bytes, remaining: 64 bytes)
                  ^^^^^^^^^^ neg.7
          ├── jit(f)/abs{0,1} (20.0%, total: 16 bytes, current: 16 bytes, remaining: 48 bytes)
              ^^^^^^^^^^^^^^^ abs.90
          ├── call.5 (20.0%, total: 16 bytes, current: 16 bytes, remaining: 48 bytes)
              ^^^^^^ call.7
          ├── jit(f)/twice (40.0%, total: 32 bytes, current: 32 bytes, remaining: 16 bytes)
          └── x (20.0%, total: 16 bytes, current: 16 bytes, remaining: 0 bytes)
    """
)
SCHEDULED = MODULE.text.replace(
    "  %bad =",
    '  %while.1 = f32[4]{0} while(%neg), metadata={op_name="jit(f)/while" stack_frame_id=1}\n'
    '  %twice.1 = f32[4]{0} abs(%neg), metadata={op_name="jit(f)/twice" stack_frame_id=1}\n'
    '  %twice.2 = f32[4]{0} abs(%neg), metadata={op_name="jit(f)/twice" stack_frame_id=2}\n'
    "  %call.5 = f32[4]{0} call(%neg), metadata={stack_frame_id=2}\n"
    "  %bad =",
)


def opened(text: str, *others: str) -> tuple[Compile, DumpFile]:
    files = [DumpFile.of_text(text, f"{n}.txt") for n, text in enumerate((text, *others))]
    return Compile(files), files[0]


def places(marked: Marked, links: Sequence[SourceLink]) -> dict[str, Mark]:
    """Return the places of the links by the name of the mark there (or the text) and their line."""
    names = {place: name.rpartition(".")[0] for name, place in marked.marks.items()}
    found = {}
    for link in links:
        place = Mark(link.line, link.start, link.end)
        text = marked.lines[link.line][link.start : link.end]
        found[f"{names.get(place, text)}.{link.source.line}"] = place
    return found


@pytest.mark.parametrize(
    ("marked", "others"),
    [(MODULE, ()), (VALUES, (MODULE.text,)), (LIVE, (SCHEDULED,))],
    ids=["module", "values", "live ranges"],
)
def test_all_source_links_are_found(marked: Marked, others: tuple[str, ...]) -> None:
    dump, file = opened(marked.text, *others)
    links = source_links(dump, file)
    assert places(marked, links) == marked.marks
    assert [(link.line, link.start) for link in links] == sorted(
        (place.line, place.start) for place in marked.marks.values()
    )


@pytest.mark.parametrize(
    ("marked", "others"), [(MODULE, ()), (VALUES, (MODULE.text,)), (LIVE, (SCHEDULED,))]
)
def test_source_line_at_cursor(marked: Marked, others: tuple[str, ...]) -> None:
    dump, file = opened(marked.text, *others)
    links = source_links(dump, file)
    for number, line in enumerate(marked.lines):
        for column in range(len(line) + 1):
            here = [x for x in links if x.line == number and x.start <= column <= x.end]
            expected = here[0].source if here else None
            assert source_line_at(dump, file, number, column) == expected
    assert source_line_at(dump, file, 10**6, 0) is None


def test_links_have_file_and_function() -> None:
    dump, file = opened(MODULE.text)
    inner = SourceLine("/home/user/my model.py", 7, "f")
    for name in ("neg.7", "location-1.7", "frame-2.7"):
        assert source_line_at(dump, file, *MODULE[name].position) == inner
    outer = SourceLine("train.py", 90, "main")
    assert source_line_at(dump, file, *MODULE["frame-1.90"].position) == outer
    assert source_line_at(dump, file, *MODULE["old.3"].position) == SourceLine("/m.py", 3)


def test_frames_without_tables_have_no_link() -> None:
    dump, file = opened(VALUES.text)
    assert source_links(dump, file) == []


@pytest.mark.parametrize("text", ["", "no dump", "BufferAssignment:", "HloModule m"])
def test_files_without_locations_have_no_links(text: str) -> None:
    dump, file = opened(text)
    assert source_links(dump, file) == []
    assert source_line_at(dump, file, 0, 0) is None


@pytest.mark.corpus
def test_real_instructions_link_to_innermost_line(corpus_small: Path) -> None:
    """Links read metadata themselves; the stack of a card comes from the parsed instruction."""
    count = 0
    library = DumpWorkspace()
    for path in files_of(corpus_small, FileKind.MODULE)[::20]:
        file = library.file(path)
        dump = library.compile_of(file)
        found: dict[int, set[SourceLine]] = {}
        for link in source_links(dump, file):
            found.setdefault(link.line, set()).add(link.source)
        for record in file.records:
            if isinstance(record, InstructionLine):
                text = parse_instruction(record.text)
                assert text is not None
                assert found.get(record.line, set()) == set(dump.stack_of(text.metadata)[:1])
                count += record.line in found
    assert count > 2_000
