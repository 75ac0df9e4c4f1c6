"""Formatting changes blanks and line ends of module text to those that XLA prints."""

import re
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import marked_dump
from dumps import module_files
from edits import WRITTEN, Texts
from hlo_lsp.ide.formatting.formatting import format_module
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine
from hlo_lsp.text import disk
from ide.formatting.whitespace import vary_module_whitespace
from lsp.opened import DUMP

PRINTED = """\
HloModule m, is_scheduled=true, entry_computation_layout={(f32[2]{0})->f32[2]{0}}

FileNames
1 "a  b.py"

StackFrames
1 {file_location_id=1 parent_frame_id=1}


%sum (a: f32[], b: (f32[], s32[2])) -> f32[] {
  %a = f32[] parameter(0)
  ROOT %r = f32[] negate(%a)
}

ENTRY main (x: f32[2]) -> f32[2] {
  %x = f32[2]{0:T(128)S(1)} parameter(0)
  %t = (f32[2]{0:T(128)}, /*index=1*/s32[]) custom-call(f32[2]{0:T(128)} %x, /*index=1*/%x), \
custom_call_target="a , b", control-predecessors={%x, %y}, metadata={op_name="a  (b" line=3}
  %e = s32[] add(%t#1, t#1#0), dimensions={0}
  %c = s32[2]{0} constant({1, 2}), dimensions={0,1}, branch_computations={%a, %b}
  ROOT %y = f32[2] reduce(%t, %x), slice={[0:1], [0:2]}, to_apply=%sum
}
"""


def edited(text: str, first: int = 0, end: int | None = None) -> str:
    """Return the text after its edits."""
    file = DumpFile.of_text(text)
    for edit in reversed(format_module(file, first, end)):
        file.changed(file.document.edit(edit.start, edit.end, edit.text))
    return file.document.text


def test_printed_text_is_unchanged() -> None:
    assert format_module(DumpFile.of_text(PRINTED)) == []
    assert format_module(DumpFile.of_text(marked_dump.MODULE.text)) == []


@pytest.mark.parametrize(
    ("printed", "written"),
    [
        ("  %a = f32[] parameter(0)", "%a=f32[]   parameter( 0 )  "),
        ("  %a = f32[] parameter(0)", "\t  %a =\n  f32[]\n parameter(0)"),
        ("  %a = f32[] parameter(0)\n", "\n  %a = f32[] parameter(0)\n\n\n"),
        ("(a: f32[], b: (f32[], s32[2])) -> f32[] {", "(a :f32[],b: (f32[],s32[ 2 ]))->f32[]  {"),
        ("ENTRY main (x: f32[2])", "  ENTRY   main (x: f32[2])"),
        ("}\n\nENTRY", "}\nENTRY"),
        ("}\n\nENTRY", "  }\n\n\n\nENTRY"),
        ("1}\n\n\n%sum", "1}\n%sum"),
        ('FileNames\n1 "a  b.py"\n\nStack', '  FileNames\n\n 1   "a  b.py"\nStack'),
        ("HloModule m, is_scheduled=true, entry", "HloModule  m,is_scheduled=true ,\n  entry"),
        ("custom-call(f32[2]{0:T(128)} %x, /*index=1*/%x)",
         "custom-call( f32[2]{0 : T(128)}   %x ,/*index=1*/ %x )"),
        ("(f32[2]{0:T(128)}, /*index=1*/s32[])", "( f32[2]{0:T(128)},/*index=1*/  s32[] )"),
        (", control-predecessors={%x, %y}, m", " ,control-predecessors={%x,%y},\n      m"),
        ("dimensions={0,1}, branch_computations={%a, %b}",
         "dimensions={0, 1},  branch_computations={%a , %b}"),
        ("constant({1, 2})", "constant( {1,2} )"),
        ("  ROOT %y = f32[2] reduce(%t, %x)", " ROOT   %y = f32[2] reduce(%t,%x)"),
    ],
)  # fmt: skip
def test_blanks_and_line_ends_are_normalized(printed: str, written: str) -> None:
    assert printed in PRINTED
    assert edited(PRINTED.replace(printed, written)) == PRINTED


@pytest.mark.parametrize(
    ("printed", "written"),
    [
        ('1 "a  b.py"', '1   "a  b.py"  '),
        (
            "1 {file_location_id=1 parent_frame_id=1}",
            "1{ file_location_id=1   parent_frame_id=1 } ",
        ),
        ("StackFrames", "StackFrames   "),
    ],
)
def test_table_rows_are_normalized(printed: str, written: str) -> None:
    assert edited(PRINTED.replace(printed, written, 1)) == PRINTED


def test_one_line_computation_is_split() -> None:
    text = "HloModule m\n%f (p: f32[]) -> f32[] { %p = f32[] parameter(0) ROOT %r = f32[] add(%p,%p) }\n"  # noqa: E501
    assert edited(text) == (
        "HloModule m\n\n%f (p: f32[]) -> f32[] {\n  %p = f32[] parameter(0)\n"
        "  ROOT %r = f32[] add(%p, %p)\n}\n"
    )


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        ("%x = f32[] copy( %a )  %z = f32[] add(%x,%x),  dimensions={ 0 }", None),
        ("%x = f32[] copy( %a )  %z = f32[] copy(%x), kind=k  %w = f32[] copy( %z )", None),
        ("%x =  f32[] copy(%a), dimensions={ 0 } ROOT %z = f32[]  copy(%x)",
         "%x = f32[] copy(%a), dimensions={ 0 } ROOT %z = f32[]  copy(%x)"),
    ],
)  # fmt: skip
def test_second_statement_on_line_is_unchanged(written: str, printed: str | None) -> None:
    """XLA reads the second statement; our reader takes it as part of the first."""
    text = PRINTED.replace("  ROOT %r", f"  {written}\n ROOT  %r")
    assert edited(text) == PRINTED.replace("  ROOT %r", f"  {printed or written}\n  ROOT %r")


def test_strings_are_unchanged() -> None:
    config = '{"kernel": "k",\n "cost":  {"flops": 1},\n "needs_layout_passes": true}'
    text = PRINTED.replace("%sum\n}", f"%sum, backend_config={config}\n}}")
    assert edited(text) == text


def test_unclosed_computation_keeps_empty_lines() -> None:
    """Without the empty line, the reader would read the brace as the end of the first line."""
    text = "HloModule m\n\n%f (p: f32[]) -> f32[] { %p = f32[] parameter(0), x={a}\n\n}\n"
    assert edited(text) == text


@pytest.mark.parametrize(
    "replacements",
    [
        {"custom-call(": "custom-call({", "  %c =": "  %c{ ="},
        {"decessors={": "decessors={{", "  %c =": " \t %c =", "{1,": "{%1,", "s={%a": "s={%{a"},
    ],
)
def test_gap_that_decides_what_is_read_is_unchanged(replacements: dict[str, str]) -> None:
    """After an open brace, the indentation decides whether the reader begins a new record."""
    text = PRINTED
    for old, new in replacements.items():
        assert text.count(old) == 1
        text = text.replace(old, new)
    assert edited(text) == text


def test_comments_are_kept() -> None:
    text = """\
HloModule m
// of f
%f (p: f32[]) -> f32[] {
      // the parameter
  %p = f32[]   parameter(0)    // here
 /* two
      lines */
  ROOT %r = f32[] add(%p, /* inner  comment */ %p, /*index=1  */  %p)
}
"""
    assert (
        edited(text)
        == """\
HloModule m
// of f
%f (p: f32[]) -> f32[] {
  // the parameter
  %p = f32[] parameter(0)    // here
 /* two
      lines */
  ROOT %r = f32[] add(%p, /* inner  comment */ %p, /*index=1  */  %p)
}
"""
    )


@pytest.mark.parametrize(
    "line",
    [
        "  %x   = f32[2 add(%a", "  %x = f32[] add(%a,%b", "  %x = f32[] add(%a,%b) dimensions={0}",
        "  %x  = f32[] call( %a ),  to_apply={ %p = f32[] parameter(0)  ROOT %q = f32[] copy(%p) }",
        "  what  is  this", "  % x = f32[] add(%a,%b)",
        '  %x = f32[] add(%a,%b), metadata={op_name="unfinished}',
    ],
)  # fmt: skip
def test_broken_or_unknown_text_is_unchanged(line: str) -> None:
    text = PRINTED.replace("  ROOT %r", f"{line}\n  ROOT %r")
    assert edited(text) == text


def test_instructions_outside_computations_keep_indentation() -> None:
    text = "    %x = f32[2]{0}   add(%a,%b)\n%y = f32[] copy(%x)\n"
    assert edited(text) == "    %x = f32[2]{0} add(%a, %b)\n%y = f32[] copy(%x)\n"


def test_edits_are_minimal() -> None:
    text = PRINTED.replace("negate(%a)", "negate( %a)").replace("  %c =", "   %c =")
    file = DumpFile.of_text(text)
    found = format_module(file)
    assert [(edit.end[1] - edit.start[1], edit.text) for edit in found] == [(1, ""), (1, "")]
    assert [edit.start[0] for edit in found] == [11, 18]


def test_range_formatting_changes_only_its_lines() -> None:
    text = (
        PRINTED.replace("  %a = ", "%a = ")
        .replace("  ROOT %r", " ROOT  %r")
        .replace("  %x = ", "%x = ")
    )
    first = text.split("\n").index(" ROOT  %r = f32[] negate(%a)")
    assert edited(text, first, first + 1) == text.replace(" ROOT  %r", "  ROOT %r")


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_range_edits_are_a_subset(data: st.DataObject) -> None:
    text = PRINTED
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(text)))
        text = (
            text[:at] + data.draw(st.sampled_from([" ", "\n", "\n\n", "}", "/*", "x"])) + text[at:]
        )
    file = DumpFile.of_text(text)
    first = data.draw(st.integers(0, len(file.lines)))
    end = data.draw(st.integers(first, len(file.lines) + 2))
    found = format_module(file)
    inside = [edit for edit in found if first <= edit.start[0] and edit.end[0] < end]
    assert format_module(file, first, end) == inside


def test_only_module_text_is_formatted() -> None:
    text = DUMP.replace(" value: <", "  value:  <")
    assert format_module(DumpFile.of_text(text)) == []


def meaning(text: str) -> list[object]:
    """Return the computations of a module text with their instructions."""
    file = DumpFile.of_text(text)
    found: list[object] = []
    for record in file.records:
        if isinstance(record, ComputationLine):
            found.append((record.name, "".join(record.signature.split())))
            found += [_instruction(member) for member in record.members]
        elif isinstance(record, InstructionLine):
            found.append(_instruction(record))
    return found


def _instruction(record: InstructionLine) -> object:
    shape = "".join(record.shape.split())
    names = [(each.name, re.sub(r"\s", "", each.value.text)) for each in record.parsed.attributes]
    return record.name, record.is_root, shape, record.opcode, record.operands, names


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_formatting_is_idempotent_and_keeps_meaning(data: st.DataObject) -> None:
    text = PRINTED
    for _ in range(data.draw(st.integers(1, 8))):
        at = data.draw(st.integers(0, len(text)))
        text = (
            text[:at]
            + data.draw(st.sampled_from([" ", "  ", "\n", "\t", ",", "{", ")", "//", "/*", '"']))
            + text[at:]
        )
    once = edited(text)
    assert "".join(once.split()) == "".join(text.split())
    assert meaning(once) == meaning(text)
    assert re.findall(r'"[^"\n]*"', once) == re.findall(r'"[^"\n]*"', text)
    assert edited(once) == once


def test_handwritten_text(corpus_small: Path) -> None:
    text = Texts(corpus_small)[WRITTEN]
    once = edited(text)
    assert once != text
    assert meaning(once) == meaning(text)
    assert edited(once) == once


@pytest.mark.corpus
def test_real_modules_are_already_formatted(corpus_small: Path) -> None:
    paths = module_files(corpus_small)[::60]
    assert len(paths) > 8
    for path in paths:
        file = DumpFile(path.as_uri(), path, disk.read_document(path))
        file.refresh()
        assert format_module(file) == [], path


@pytest.mark.corpus
def test_changed_blanks_in_real_modules_are_restored(corpus_small: Path) -> None:
    paths = module_files(corpus_small)[::20]
    assert len(paths) > 25
    for path in paths:
        text = path.read_bytes().decode()
        assert edited(vary_module_whitespace(text, Random(path.name))) == text, path
