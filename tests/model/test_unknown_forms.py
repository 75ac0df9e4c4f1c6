"""Tests for parts of dumps that have no form that this version knows."""

import pytest

from hlo_lsp.background_jobs import Job, Outdated
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.unknown_forms import is_complete, unknown_forms

MODULE = """\
HloModule m, is_scheduled=true

FileNames
1 "m.py"

FileLocations
1 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=1 end_column=4}

%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %sum = f32[] add(%a, %b)
}

ENTRY %main (p: (f32[8], f32[8])) -> f32[] {
  %p = (f32[8]{0}, f32[8]{0}) parameter(0)
  %c = f32[] constant({1, 2})
  %n = f32[8]{0:T(128)S(1)} negate(%p#0), metadata={op_name="jit(f)/n, x=1"}
  %g = f32[8]{0} all-reduce(%n), channel_id=1, \
replica_groups=mesh['x'=2,'y'=2], device_ids=([2,2]T(1,0)) {'y'}, to_apply=%add
  ROOT %r = f32[] reduce(%n, %c), dimensions={0}, to_apply=%add, sharding={replicated}
}
"""
MEMORY = """\
BufferAssignment:
allocation 0: size 32, parameter 0, shape |f32[8]| at ShapeIndex {0}:
 value: <0 p{0} @0> (size=32,offset=0): f32[8]{0}

Total bytes used: 32 (32B)

Used values:
<0 p{0} @0>
 positions:
  p {0}
 uses:
  n, operand 0
 from instruction: %p = (f32[8]{0}, f32[8]{0}) parameter(0)


HloLiveRange (max 2):
  InstructionSequence:
    0:p
    1:n
  BufferLiveRange:
    p{0}:0-2
  Live ranges at 1 (peak):
    p{0}: 32 bytes (cumulative: 32 bytes)
"""


def _found(text: str, old: str, new: str) -> list[tuple[str, str]]:
    assert old in text
    return _forms(DumpFile.of_text(text.replace(old, new, 1), "m.txt"))


def _forms(file: DumpFile) -> list[tuple[str, str]]:
    found = []
    for form in unknown_forms(file).forms:
        place = form.place(file)
        found.append((form.first.what, file.lines[place.line][place.start : place.end]))
    return found


@pytest.mark.parametrize("text", [MODULE, MEMORY])
def test_known_forms_are_complete(text: str) -> None:
    file = DumpFile.of_text(text, "m.txt")
    assert _forms(file) == []
    assert is_complete(file)


@pytest.mark.parametrize(
    ("old", "new", "what", "shown"),
    [
        ("%p#0)", "%p!0)", "operand", "%p!0"),
        ("(%n, %c)", "(%n, f32[]@1 %c)", "operand", "f32[]@1 %c"),
        ("f32[8]{0:T(128)S(1)}", "f32[8]{0:T(128)S(1)}@2", "shape", "f32[8]{0:T(128)S(1)}@2"),
        ("S(1)}", "S(vmem)}", "shape", "f32[8]{0:T(128)S(vmem)}"),
        ("{0:T(128)", "{0:T(128)Q(3)", "layout property", "f32[8]{0:T(128)Q(3)S(1)}"),
        ("%n = f32", "%n = f32x", "element type", "f32x[8]{0:T(128)S(1)}"),
        ("negate(", "negate-v2(", "opcode", "negate-v2"),
        ("dimensions={0}", "dimensions=[0]", "form of the attribute", "dimensions"),
        ("dimensions={0}", "axes={0}", "attribute", "axes"),
        ("dimensions={0}", "dimensions:{0}", "attribute", "dimensions:{0}"),
        (", dimensions", "@2, dimensions", "attribute", "@2"),
        ("dimensions={0}", "branch_computations={default: %add}", "value of `branch_computations`,",
         "{default: %add}"),
        ("{replicated}", "{everywhere}", "value of `sharding`,", "{everywhere}"),
        ("is_scheduled=true", "stage=2", "attribute of the module", "stage"),
        ("is_scheduled=true", "fast", "attribute of the module", "fast"),
        ("=true", "=true, input_output_alias={ {}: (0, {0}, donated) }",
         "value of `input_output_alias`,", "{ {}: (0, {0}, donated) }"),
        ("FileNames", "ThreadNames", "line", "ThreadNames"),
        ('1 "m.py"', "1 {path=m.py}", "line", "1 {path=m.py}"),
        (" column=1", " thread=2 column=1", "field of a location", "thread"),
        ("op_name=", "thread=2 op_name=", "field of metadata", "thread"),
        ("%add (a: f32[]", "%add @inline (a: f32[]", "line",
         "%add @inline (a: f32[], b: f32[]) -> f32[] {"),
        ("%add (a: f32[]", "%add (context", "parameter or result", "context"),
        ("  %c =", "  %c ::", "line", "%c :: f32[] constant({1, 2})"),
        ("  %c = f32[] constant({1, 2})", "  fence", "line", "fence"),
        ("  %c", "  #region 2\n  %c", "line", "#region 2"),
        ("  %c", "  ...\n  %c", "text left out", "..."),
        ("(f32[8]{0}, f32[8]{0}) parameter(0)", "(f32[8]{0}, ..., sharding={replicated}",
         "text left out", "%p = (f32[8]{0}, ..., sharding={replicated}"),
        ("}\n\nENTRY", "}, priority=2\n\nENTRY", "attribute of a computation", "priority"),
    ],
)  # fmt: skip
def test_new_form_in_a_module_is_unknown(old: str, new: str, what: str, shown: str) -> None:
    assert _found(MODULE, old, new) == [(what, shown)]


@pytest.mark.parametrize(
    ("old", "new", "what", "shown"),
    [
        ("size 32, ", "size 32, tier 1, ", "field", "tier 1"),
        ("allocation 0:", "allocation 0 (hbm):", "line",
         "allocation 0 (hbm): size 32, parameter 0, shape |f32[8]| at ShapeIndex {0}:"),
        ("(size=32,", "(size=32,align=8,", "line",
         "value: <0 p{0} @0> (size=32,align=8,offset=0): f32[8]{0}"),
        (" @0> (", " @hbm> (", "line", "value: <0 p{0} @hbm> (size=32,offset=0): f32[8]{0}"),
        ("): f32[8]{0}", "): f32[8]{0} pinned", "shape", "f32[8]{0} pinned"),
        ("n, operand 0", "n, operand 0 (must-alias)", "row", "n, operand 0 (must-alias)"),
        (" uses:\n", " readers:\n", "row", "readers:"),
        (" uses:\n", " aliases:\n  p\n uses:\n", "row", "aliases:"),
        (" uses:\n", "  # one\n  # two\n uses:\n", "row", "# one"),
        ("<0 p{0} @0>\n", "<0 p{0} @0> on hbm\n", "row", "<0 p{0} @0> on hbm"),
        ("instruction: %p = ", "instruction: %p := ", "line",
         "%p := (f32[8]{0}, f32[8]{0}) parameter(0)"),
        ("    1:n", "    1:n on core 0", "line", "1:n on core 0"),
        (":0-2", ":0..2", "line", "p{0}:0..2"),
        (": 32 bytes (", ": 32 bytes @hbm (", "line",
         "p{0}: 32 bytes @hbm (cumulative: 32 bytes)"),
        ("  BufferLiveRange", "  Lanes: 2\n  BufferLiveRange", "line", "Lanes: 2"),
        ("  InstructionSequence:", "  Schedule:", "line", "Schedule:"),
    ],
)  # fmt: skip
def test_new_form_in_a_memory_file_is_unknown(old: str, new: str, what: str, shown: str) -> None:
    assert _found(MEMORY, old, new)[0] == (what, shown)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("negate(%p#0)", "negate(%p#0"),
        ("dimensions={0}", "dimensions{0}"),
        ("dimensions={0}", "dimensions="),
        (", sharding={replicated}", ", shard"),
        ("(%n, %c), ", "(%n, %c) "),
        ("{0:T(128)", "{0T(128)"),
        ("  %c =", "  %c"),
        ('1 "m.py"', '1 "m.py'),
    ],
)
def test_damaged_text_is_no_new_form(old: str, new: str) -> None:
    assert _found(MODULE, old, new) == []


def test_each_form_is_counted_once_for_a_file() -> None:
    text = MODULE.replace("parameter(", "argument(").replace("%p#0", "%p!0").replace("%n,", "%n!,")
    counts = {
        form.first.what: form.count for form in unknown_forms(DumpFile.of_text(text, "m.txt")).forms
    }
    assert counts == {"opcode": 3, "operand": 2}


def test_form_concerns_its_computation_and_the_callers() -> None:
    file = DumpFile.of_text(MODULE.replace("add(%a", "add(~%a"), "m.txt")
    found = unknown_forms(file)
    concerned = {
        name: found.concern(file, record)
        for name in ("sum", "n", "r")
        if (record := file.module.instructions.first(name)) is not None
    }
    assert concerned == {"sum": True, "n": False, "r": True}
    assert not is_complete(file)


@pytest.mark.parametrize("change", [("FileNames", "Names"), ("%add (", "%add! (")])
def test_form_between_computations_concerns_no_other(change: tuple[str, str]) -> None:
    file = DumpFile.of_text(MODULE.replace(*change, 1), "m.txt")
    record = file.module.instructions.first("n")
    assert record is not None
    assert not unknown_forms(file).concern(file, record)
    assert not is_complete(file)


def test_section_after_a_computation_is_outside() -> None:
    file = DumpFile.of_text(f"{MODULE}settings {{\n  a: 1\n}}\n", "m.txt")
    found = unknown_forms(file)
    assert (found.has_outside, found.heads) == (True, frozenset())


@pytest.mark.parametrize(
    "change", [("op_name=", "thread=2 op_name="), (" column=", " token=2 column=")]
)
def test_facts_do_not_depend_on_metadata(change: tuple[str, str]) -> None:
    file = DumpFile.of_text(MODULE.replace(*change, 1), "m.txt")
    assert len(unknown_forms(file).forms) == 1
    assert is_complete(file)


def test_form_in_an_inline_computation_has_a_place() -> None:
    body = "{ x = f32[] parameter(0)\n     ROOT y = f32[] invert(x) }"
    text = MODULE.replace("to_apply=%add", f"to_apply={body}")
    assert _found(text, "HloModule", "HloModule") == [("opcode", "invert")]


def test_last_line_that_is_cut_off_is_not_unknown() -> None:
    text = MEMORY[: MEMORY.index(":0-2") - 4]
    assert text.endswith("\n    ")
    assert _forms(DumpFile.of_text(f"{text}p", "m.txt")) == []


@pytest.mark.parametrize(
    "instruction",
    [
        "%p = f32[]/* negate(%a)*/",
        "%p = f32[8]{0/*} negate(%a), b*/",
        "%p = f32[8]/*{0} negate(%a)",
    ],
)
def test_comment_over_the_opcode_of_an_entry_leaves_no_instruction(instruction: str) -> None:
    text = MEMORY.replace("%p = (f32[8]{0}, f32[8]{0}) parameter(0)", instruction)
    assert _forms(DumpFile.of_text(text, "m.txt")) == [("line", instruction)]


def test_edit_changes_the_forms() -> None:
    file = DumpFile.of_text(MODULE, "m.txt")
    assert is_complete(file)
    line = MODULE[: MODULE.index("%n =")].count("\n")
    file.changed(file.document.edit((line, 0), (line, 0), "  %z = f32[8]{0} sharpen(%p#1)\n"))
    file.refresh()
    assert _forms(file) == [("opcode", "sharpen")]
    file.changed(file.document.edit((line, 0), (line + 1, 0), ""))
    file.refresh()
    assert is_complete(file)


def test_forms_found_during_an_edit_are_not_kept() -> None:
    lines = [f"allocation {number}: size 32, tier 1, thread-local:" for number in range(1, 900)]
    text = "\n".join(["BufferAssignment:", "allocation 0: size 32, constant:", *lines, ""])
    fresh = DumpFile.of_text(text, "m.txt")
    file = DumpFile.of_text(text, "m.txt")

    def find() -> None:
        file.refresh()
        unknown_forms(file)

    job = Job(find)
    assert not job.step(0)
    file.changed(file.document.edit((100, 0), (100, 0), "\n" * 500))
    with pytest.raises(Outdated):
        job.step(0)
    file.refresh()
    file.changed(file.document.edit((100, 0), (600, 0), ""))
    file.refresh()
    assert _forms(file) == _forms(fresh)
    (form,) = unknown_forms(file).forms
    assert form.count == 899


def _block(count: int) -> list[str]:
    """Return the lines of a block with open brackets in most of them."""
    lists = [line for number in range(count) for line in (f"  list {number}: [", "    1,", "  ]")]
    return ["settings: [", *lists, "]"]


def _with_block(count: int) -> str:
    return MODULE.replace("\n\n", "\n".join(["\n", *_block(count), "", ""]), 1)


@pytest.mark.parametrize("count", [2, 30, 300])
def test_block_of_lines_is_one_form(count: int) -> None:
    file = DumpFile.of_text(_with_block(count), "m.txt")
    (form,) = unknown_forms(file).forms
    assert (form.first.what, form.count) == ("line", 1)


def test_end_of_a_block_can_be_edited() -> None:
    text = _with_block(300)
    file = DumpFile.of_text(text, "m.txt")
    assert unknown_forms(file).forms
    line = text[: text.index("\n]\n")].count("\n") + 1
    for old, new in (("]", ""), ("", "]")):  # lines of other blocks of records depend on it
        file.changed(file.document.edit((line, 0), (line, len(old)), new))
        file.refresh()
        fresh = DumpFile.of_text(file.document.text, "m.txt")
        counts = [[form.count for form in unknown_forms(one).forms] for one in (file, fresh)]
        assert counts[0] == counts[1]
