"""The records of module text."""

from textwrap import dedent

import pytest

from hlo_lsp.syntax.module_records import Comment, ComputationEnd, ComputationLine, InstructionLine
from hlo_lsp.syntax.records import BlankLine, BrokenRecord, Record
from hlo_lsp.syntax.scanners import module_scanner
from syntax.record_fields import read_all, record_fields


@pytest.mark.parametrize(
    ("line", "kind", "fields"),
    [
        ("HloModule jit_f, is_scheduled=true, entry_computation_layout={(f32[2]{0})->f32[2]{0}}",
         "ModuleHeader", {"name": "jit_f"}),
        ("HloModule jit__lambda.3", "ModuleHeader", {"name": "jit__lambda.3"}),
        ("FileNames", "TableLabel", {"table": "FileNames"}),
        ("StackFrames", "TableLabel", {"table": "StackFrames"}),
        ('1 "/home/user/models/a b.py"', "NameRow",
         {"number": 1, "text": "/home/user/models/a b.py"}),
        ('5 "f.<locals>.<lambda>"', "NameRow", {"number": 5, "text": "f.<locals>.<lambda>"}),
        ("3 {file_name_id=1 function_name_id=2 line=55 end_line=56 column=4 end_column=47}",
         "LocationRow", {"number": 3, "file": 1, "function": 2, "source_line": 55,
                         "extent": "end_line=56 column=4 end_column=47"}),
        ("3 {file_name_id=1 function_name_id=2 line=55}",
         "LocationRow", {"number": 3, "file": 1, "function": 2, "source_line": 55, "extent": ""}),
        ("1 {file_location_id=4 parent_frame_id=1}", "FrameRow",
         {"number": 1, "location": 4, "parent": None}),
        ("3 {file_location_id=5 parent_frame_id=3}", "FrameRow",
         {"number": 3, "location": 5, "parent": 2}),
        ("3 {file_location_id=5}", "FrameRow", {"number": 3, "location": 5, "parent": None}),
        ("%body.2 (p: (s32[], f32[2]{0})) -> (s32[], f32[2]{0}) {", "ComputationLine",
         {"name": "body.2", "is_entry": False}),
        ("ENTRY %main (a: f32[2]) -> f32[2] {", "ComputationLine",
         {"name": "main", "is_entry": True}),
        ("ENTRY %main () -> f32[2] {", "ComputationLine", {"name": "main", "is_entry": True}),
        ("ENTRY main.16 {", "ComputationLine", {"name": "main.16", "is_entry": True}),
        ("region_0.10 {", "ComputationLine", {"name": "region_0.10", "is_entry": False}),
        ("}", "ComputationEnd", {}),
        ('}, execution_thread="sparsecore"', "ComputationEnd", {}),
        ("} // main", "ComputationEnd", {}),
    ],
)  # fmt: skip
def test_lines_of_a_module(line: str, kind: str, fields: dict[str, object]) -> None:
    found, said_fields = record_fields(module_scanner().read([line], 0))
    assert (found, {name: said_fields[name] for name in fields}) == (kind, fields)


@pytest.mark.parametrize(
    ("line", "name", "is_root", "shape", "opcode"),
    [
        ("  %add.5 = f32[2]{0:T(128)} add(%a, %b), metadata={op_name=\"x\"}",
         "add.5", False, "f32[2]{0:T(128)}", "add"),
        ("  ROOT %tuple = (f32[2]{0}, /*index=1*/s32[]) tuple(%a, %b)",
         "tuple", True, "(f32[2]{0}, /*index=1*/s32[])", "tuple"),
        ("  add.5 = f32[] add(a, b)", "add.5", False, "f32[]", "add"),
        ("  ROOT x = f32[2,3]{1,0} dot(f32[2]{0} a, f32[3]{0} b), lhs_contracting_dims={}",
         "x", True, "f32[2,3]{1,0}", "dot"),
        ("  %t = () tuple()", "t", False, "()", "tuple"),
        ("  %s = ((f32[2]{0}), f32[2]{0:S(1)}, u32[]{:S(2)}) async-start(%a), calls=%c",
         "s", False, "((f32[2]{0}), f32[2]{0:S(1)}, u32[]{:S(2)})", "async-start"),
        ("  %k = token[] after-all()", "k", False, "token[]", "after-all"),
        ("  %c = f32[2,2]{1,0} constant({ {1, 2}, {3, 4} })",
         "c", False, "f32[2,2]{1,0}", "constant"),
        ("  %d = f32[<=7]{0:T(128)M(1024)} set-dimension-size(%a, %b), dimensions={0}",
         "d", False, "f32[<=7]{0:T(128)M(1024)}", "set-dimension-size"),
        ("%a = pred[] parameter(0)", "a", False, "pred[]", "parameter"),
    ],
)  # fmt: skip
def test_instruction(line: str, name: str, is_root: bool, shape: str, opcode: str) -> None:
    record = module_scanner().read([line], 0)
    assert isinstance(record, InstructionLine)
    found = record.name, record.is_root, record.shape, record.opcode, record.text
    assert found == (name, is_root, shape, opcode, line)


@pytest.mark.parametrize(
    "line",
    [
        "  %a = f32[] add(%b, %c",
        "  %a = f32[]",
        "  %a f32[] add(%b)",
        "  = f32[] add(%b)",
        "%c (p: f32[]) -> f32[]",
        "1 {file_name_id=1}",
        '1 "open',
        "HloModule",
        "Tables",
        "Lorem ipsum",
    ],
)
def test_broken_line_is_kept_as_it_is(line: str) -> None:
    record = module_scanner().read([line], 0)
    assert isinstance(record, BrokenRecord)
    assert record.text == line


def test_empty_line_separates() -> None:
    assert type(module_scanner().read([""], 0)) is BlankLine


def test_equal_shapes_and_opcodes_are_kept_once() -> None:
    def shape_and_opcode(name: str) -> tuple[object, object]:
        line = f"  %{name} = f32[123,456]{{1,0:T(8,128)}} custom-op-1(%a)"
        record = module_scanner().read([line], 0)
        return getattr(record, "shape", name), getattr(record, "opcode", name)

    (shape, opcode), (other_shape, other_opcode) = shape_and_opcode("x"), shape_and_opcode("y")
    assert shape is other_shape
    assert opcode is other_opcode


def records_of(text: str) -> list[Record]:
    return read_all(module_scanner(), dedent(text).strip("\n").split("\n"))


def instructions(text: str) -> list[InstructionLine]:
    return [record for record in records_of(text) if isinstance(record, InstructionLine)]


@pytest.mark.parametrize(
    "text",
    [
        "  %r = f32[2]{0} add(%a, %b), metadata={op_name=\"x\"}",
        "  r = add(a, b)",
        "  %r=f32[2] add( %a , %b )",
        "  r  =  f32[2]{0}   add (a, b)",
        "  r = f32[2] add(a,\n    b)",
        "  r = f32[2] add(\n%a,\n%b\n)",
        "  r =\n  f32[2]\n  add(a, b)",
        "  r = f32[2] add(a, b),\n    metadata={op_name=\"}\"}",
        "  r = f32[2] add(a, b)\n    , metadata={op_name=\"x\"}",
        "  r = f32[2] add(a /* one */, b) // two",
        "  r = f32[2] add(a, // ( one\n    b)",
        "  r = f32[2] add(a, /* ( one\n two */ b)",
        "  r = f32[2] add(f32[2]{0} a, f32[2]{0} %b)",
        "  r = f32[2] add(a, b), metadata={\n    op_name=\"x\"\n  }",
    ],
)  # fmt: skip
def test_instruction_may_be_written_in_many_ways(text: str) -> None:
    for following in ("", "\n  %next = f32[] constant(0)", "\n}", "\n\n"):
        found = instructions(text + following)[0]
        assert (found.name, found.opcode, found.operands) == ("r", "add", ("a", "b"))
        assert found.line_count == text.count("\n") + 1
        assert found.shape.replace("{0}", "") in {"f32[2]", ""}
        assert found.parsed.metadata.get("op_name") in {None, "x", "}"}


def test_inline_operands_count() -> None:
    (found,) = instructions("r = f32[] add(f32[] constant(1), f32[] negate(a))")
    assert found.operands == ("", "")


def test_many_operands_on_separate_lines() -> None:
    operands = [f"p.{number}" for number in range(30_000)]
    (found,) = instructions("  %r = (f32[]) tuple({})".format(",\n    ".join(operands)))
    assert [span.text for span in found.parsed.operands] == operands


def test_missing_bracket_breaks_one_instruction() -> None:
    broken, fine, end = records_of(
        """
        %r = f32[2] add(%a, %b
        %s = f32[2] negate(%a)
        }
        """
    )
    assert isinstance(broken, BrokenRecord)
    assert isinstance(fine, InstructionLine)
    assert fine.name == "s"
    assert end.rule == "computation_end"


def test_brace_at_the_edge_ends_the_computation() -> None:
    records = records_of('  %r = f32[] negate(%a), metadata={op_name="x"\n}\n')
    assert [record.line_count for record in records[:2]] == [1, 1]
    assert records[1].rule == "computation_end"


def test_kernel_cost_estimate_on_separate_lines() -> None:
    """Check the format of jaxlib 0.8; the last brace ends the computation."""
    kernel, *_, end = records_of(
        """
          ROOT %k = f32[2]{0} custom-call(%a), backend_config={"a": {"cost_estimate": {
        "bytes_accessed":1048576,
        "flops":270008320
        }, "serialization_format": 1, "needs_layout_passes": true}}
        }
        """
    )
    assert isinstance(kernel, InstructionLine)
    assert kernel.line_count == 4
    (config,) = kernel.parsed.attributes
    assert config.value.text.endswith('"needs_layout_passes": true}}')
    assert isinstance(end, ComputationEnd)


def test_comments_take_their_lines() -> None:
    comment, head, *_ = records_of(
        """
        /* nothing
           %x = f32[] constant(0)
        */
        ENTRY %main { // begins
        """
    )
    assert isinstance(comment, Comment)
    assert comment.line_count == 3
    assert isinstance(head, ComputationLine)
    assert head.is_entry


def test_head_may_be_broken() -> None:
    (head,) = records_of("ENTRY %main (a: f32[2],\n    b: f32[2])\n    -> f32[2] {")
    assert isinstance(head, ComputationLine)
    assert (head.name, head.line_count) == ("main", 3)
    assert head.signature.endswith("-> f32[2]")


def test_truncated_head_takes_linear_time() -> None:
    shapes = ", ".join(["f32[2]{1,0}"] * 1000)
    (record,) = records_of(f"%f (a: f32[2]) -> ({shapes})")
    assert isinstance(record, BrokenRecord)


@pytest.mark.parametrize("space", [" ", "\n      "])
def test_inline_computation(space: str) -> None:
    text = "r = f32[] reduce(a, z), dimensions={0}, to_apply={ x = f32[] parameter(0) " \
           "y = f32[] parameter(1) ROOT s = f32[] add(x, y) }, metadata={op_name=\"q\"}".replace(
               " x =", f"{space}x =").replace(" y =", f"{space}y =").replace(
               " ROOT", f"{space}ROOT")  # fmt: skip
    outer, after = instructions(f"{text}\nn = f32[] negate(r)")
    assert (outer.operands, outer.called) == (("a", "z"), ())
    assert outer.parsed.metadata == {"op_name": "q"}
    (body,) = outer.bodies
    assert body.name == "r.to_apply"
    members = body.members
    assert [member.name for member in members] == ["x", "y", "s"]
    assert [member.is_root for member in members] == [False, False, True]
    assert members[2].operands == ("x", "y")
    for member in members:
        span = member.parsed.name
        assert member.text[span.start : span.end] == member.name
        assert text.split("\n")[member.row][span.start : span.end] == member.name
    assert after.name == "n"


def test_computation_on_one_line() -> None:
    head, entry = records_of(
        """
        add (a: f32[], b: f32[]) -> f32[] { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
        ENTRY main {
        """  # noqa: E501
    )
    assert isinstance(head, ComputationLine)
    assert [member.name for member in head.members] == ["a", "b", "c"]
    assert isinstance(entry, ComputationLine)


def test_marks_that_xla_prints_stay() -> None:
    (found,) = instructions("t = (f32[],\n /*index=1*/f32[]) tuple(a, /*index=1*/b)")
    assert found.shape == "(f32[],\n /*index=1*/f32[])"
    assert found.operands == ("a", "b")
