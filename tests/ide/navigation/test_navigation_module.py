"""Navigation from names, numbers, and table rows of module text."""

import pytest

import marked_program
from hlo_lsp.ide.cursor.find_target import cursor_target_at
from hlo_lsp.ide.navigation.definitions import definitions, implementations, type_definitions
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile

PROGRAM = marked_program.program()


def _definitions(start: str) -> list[str | None]:
    return [PROGRAM.mark_at(place) for place in definitions(PROGRAM.dump, PROGRAM.target(start))]


DEFINITIONS = {
    "names": "call-in-fusion:call start-before:start param-used:param product:product "
    "signed-param:param signed-v:v main:main",
    "names of a computation": "a-in-yes:yes-a a-in-no:no-a a-in-no-too:no-a signed-a:no-a",
    "called computations": "called-by-call:called fused-called:fused later-called:later "
    "cond-called:cond body-called:body yes-called:yes no-called:no sum-called:sum",
    "frames and rows": "frame-of-v:frame-1 frame-1:frame-1 location-2:location-2 file-2:file-2 "
    "function-1:function-1",
    "tuple indices": "index-of-first:product index-of-second:v index-of-turns:next "
    "index-of-grown:doubled index-0:n,next index-1:product,doubled",
    "parameter numbers": "number-0:call number-1:v called-number:n later-number:first-line "
    "no-number:second-line state-number:init,turned cond-number:init,turned v-number: alias:v",
}


@pytest.mark.parametrize("kind", DEFINITIONS)
def test_definitions_of_every_kind_of_target(kind: str) -> None:
    for pair in DEFINITIONS[kind].split():
        start, _, ends = pair.partition(":")
        assert _definitions(start) == list(filter(None, ends.split(","))), start


def test_definition_of_a_thunk_is_its_instruction() -> None:
    module = marked_program.file_of("HloModule m\n\nENTRY %e {\n  ROOT %add.1 = f32[] add()\n}\n")
    row = "001: kKernel [source | sink] , kernel = k, profile_annotation = add.1, launch"
    thunks = DumpFile.of_text(row, "thunks.txt")
    found = cursor_target_at(thunks, 0, 0)
    assert found is not None
    (place,) = definitions(Compile([thunks, module]), found)
    assert (place.file, place.line) == (module, 3)


@pytest.mark.parametrize(
    "attribute",
    ["calls={}", "to_apply={}", "condition={}, body=%b", "body={}, condition=%b",
     "select={}, scatter=%b", "scatter={}, select=%b", "true_computation={}",
     "false_computation={}", "branch_computations={{%b, {}}}", "called_computations={{{}}}"],
)  # fmt: skip
@pytest.mark.parametrize("name", ["%called", "called"])
def test_every_call_attribute_resolves_to_a_head(attribute: str, name: str) -> None:
    text = (
        "HloModule m\n\n%called (x: f32[]) -> f32[] {\n  ROOT %x = f32[] parameter(0)\n}\n\n"
        f"%b (y: f32[]) -> f32[] {{\n  ROOT %y = f32[] parameter(0)\n}}\n\n"
        f"ENTRY %main {{\n  %o = f32[] opcode(), {attribute.format(name)}\n}}\n"
    )
    file = marked_program.file_of(text)
    line = text.split("\n")[11]
    found = cursor_target_at(file, 11, line.rindex("called"))
    assert found is not None
    (place,) = definitions(Compile([file]), found)
    assert (place.line, place.start) == (2, 1)


@pytest.mark.parametrize(
    ("row", "word", "end"),
    [
        ("location-2", "file_name_id=2", "file-2"),
        ("location-1", "file_name_id=1", "file-1"),
        ("location-2", "function_name_id=2", "function-2"),
        ("frame-2", "file_location_id=2", "location-2"),
        ("frame-2", "parent_frame_id=2", "frame-1"),  # printed plus one
    ],
)
def test_row_ids_resolve_to_table_rows(row: str, word: str, end: str) -> None:
    file, mark = PROGRAM.marks[row]
    start = file.lines[mark.line].index(word)
    for column in (start, start + len(word) - 1):
        found = cursor_target_at(file, mark.line, column)
        assert found is not None
        assert [PROGRAM.mark_at(place) for place in definitions(PROGRAM.dump, found)] == [end]


def test_outermost_frame_resolves_to_itself() -> None:
    file, mark = PROGRAM.marks["frame-1"]
    found = cursor_target_at(file, mark.line, file.lines[mark.line].index("parent"))
    assert found is not None
    assert [PROGRAM.mark_at(place) for place in definitions(PROGRAM.dump, found)] == ["frame-1"]


@pytest.mark.parametrize(
    "pairs",
    [
        "call-in-fusion:param v-in-fusion:param.1 n-in-call:c.1 first-in-start:l "
        "first-in-choice:yes-a second-in-choice:no-a flag-in-choice: init-in-loop:cond.state,state "
        "fusion-in-first:",
        "fusion:pair call:copied loop:turned choice:yes-r,no-r start:later-root fused-called:pair "
        "body:turned result: v:",
    ],
    ids=["operands", "calls"],
)
def test_implementations_are_parameters_and_roots(pairs: str) -> None:
    for pair in pairs.split():
        start, _, ends = pair.partition(":")
        places = implementations(PROGRAM.dump, PROGRAM.target(start))
        found = [PROGRAM.mark_at(place) for place in places]
        assert found == list(filter(None, ends.split(","))), start


@pytest.mark.parametrize(
    ("start", "ends"),
    [
        ("fusion", ["fused"]), ("fusion-in-first", ["fused"]), ("loop", ["cond", "body"]),
        ("choice", ["yes", "no"]), ("start", ["later"]), ("start-before", ["later"]), ("v", []),
    ],
)  # fmt: skip
def test_type_definition_is_the_callee(start: str, ends: list[str]) -> None:
    places = type_definitions(PROGRAM.dump, PROGRAM.target(start))
    assert [PROGRAM.mark_at(place) for place in places] == ends


def test_type_definition_of_inline_callee_is_its_attribute() -> None:
    text = (
        "HloModule m\n\nENTRY e {\n  p = f32[8] parameter(0)\n  z = f32[] constant(0)\n"
        "  r = f32[] reduce(p, z), dimensions={0}, to_apply={\n    a = f32[] parameter(0)\n"
        "    b = f32[] parameter(1)\n    ROOT s = f32[] add(a, b)\n  }\n}\n"
    )
    file = marked_program.file_of(text)
    found = cursor_target_at(file, 5, 2)
    assert found is not None
    (place,) = type_definitions(Compile([file]), found)
    assert (place.line, text.split("\n")[5][place.start : place.end]) == (5, "to_apply")


def test_missing_names_have_no_definition() -> None:
    text = (
        "HloModule m\n\nENTRY %main {\n"
        "  %a = f32[] add(%x, %y), control-predecessors={%z}, metadata={stack_frame_id=7}\n"
        "  %g = f32[] get-tuple-element(%x), index=0\n"
        "  %f = f32[] fusion(%a), calls=%nobody\n}\n"
    )
    file = marked_program.file_of(text)
    dump = Compile([file])
    lines = text.split("\n")
    for line, word in (
        (3, "%x"),
        (3, "%y"),
        (3, "%z"),
        (3, "stack_frame"),
        (4, "0"),
        (5, "nobody"),
    ):
        found = cursor_target_at(file, line, lines[line].rindex(word) + 1 * word.startswith("%"))
        assert found is not None
        assert definitions(dump, found) == []


def test_type_definition_of_a_collective_is_what_asks_for_it() -> None:
    gather = 'metadata={op_name="jit(f)/gather"}'
    before = DumpFile.of_text(
        "HloModule m\n\nENTRY %e {\n  %x = f32[8] parameter(0)\n"
        f"  ROOT %asked = f32[8] all-gather(%x), dimensions={{0}}, {gather}\n}}\n",
        "m.before_optimizations.txt",
    )
    text = before.document.text.replace("asked", "here").replace("m\n", "m, is_scheduled=true\n", 1)
    after = DumpFile.of_text(text, "m.cpu_after_optimizations.txt")
    found = cursor_target_at(after, 4, 9)
    assert found is not None
    (place,) = type_definitions(Compile([after], others=[before]), found)
    assert (place.file, place.line) == (before, 4)
