"""Hand-written module text: line breaks, comments, inline computations."""

from textwrap import dedent

import pytest

from hlo_lsp.syntax.module_records import Comment, ComputationEnd, ComputationLine, InstructionLine
from hlo_lsp.syntax.records import BrokenRecord, Record
from hlo_lsp.syntax.scanners import module_scanner
from syntax.record_fields import read_all


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
def test_an_instruction_may_be_written_in_many_ways(text: str) -> None:
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


def test_the_brace_at_the_edge_ends_the_computation() -> None:
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


def test_a_head_may_be_broken() -> None:
    (head,) = records_of("ENTRY %main (a: f32[2],\n    b: f32[2])\n    -> f32[2] {")
    assert isinstance(head, ComputationLine)
    assert (head.name, head.line_count) == ("main", 3)
    assert head.signature.endswith("-> f32[2]")


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


def test_a_computation_on_one_line() -> None:
    head, entry = records_of(
        """
        add (a: f32[], b: f32[]) -> f32[] { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
        ENTRY main {
        """  # noqa: E501
    )
    assert isinstance(head, ComputationLine)
    assert [member.name for member in head.members] == ["a", "b", "c"]
    assert isinstance(entry, ComputationLine)


def test_the_marks_that_xla_prints_stay() -> None:
    (found,) = instructions("t = (f32[],\n /*index=1*/f32[]) tuple(a, /*index=1*/b)")
    assert found.shape == "(f32[],\n /*index=1*/f32[])"
    assert found.operands == ("a", "b")
