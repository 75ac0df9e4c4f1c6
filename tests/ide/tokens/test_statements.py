"""The tokens of module text."""

import pytest

from ide.tokens.helpers import tokens_by_line

HEAD = "HloModule m\n\n%f (a: f32[2], b: (s32[], f32[8])) -> f32[2] {\n"


def body(line: str) -> str:
    """Return the tokens of a line in a computation."""
    return tokens_by_line(f"{HEAD}{line}\n}}\n")[3]


def test_head_declares_name_and_parameters() -> None:
    assert tokens_by_line(HEAD)[2] == (
        "%f/computation+declaration a/instruction+declaration f32/element_type 2/number "
        "b/instruction+declaration s32/element_type f32/element_type 8/number "
        "f32/element_type 2/number"
    )


@pytest.mark.parametrize("head", ["ENTRY %e {", "ENTRY e {", "e {", "e (p: f32[]) -> f32[] {"])
def test_forms_of_heads(head: str) -> None:
    first = tokens_by_line(f"HloModule m\n\n{head}\n")[2].split()[0]
    assert first in {"%e/computation+declaration", "e/computation+declaration"}


def test_shape_tokens() -> None:
    line = "  %x = (bf16[16,<=64]{1,0:T(8,128)(2,1)S(1)}, /*index=1*/pred[]) infeed(%t)"
    assert body(line) == (
        "%x/instruction+declaration bf16/element_type 16/number 64/number 1/number 0/number "
        "T(8,128)(2,1)/tile S(1)/memory_space /*index=1*//comment pred/element_type infeed/opcode "
        "%t/instruction"
    )


def test_attribute_tokens() -> None:
    line = (
        '  %x = f32[] custom-call(%a), kind=k, calls=%c.1, branch_computations={%d, %e}, t="q=%r"'
    )
    assert body(line) == (
        "%x/instruction+declaration f32/element_type custom-call/opcode %a/instruction "
        "kind/attribute calls/attribute %c.1/computation branch_computations/attribute "
        '%d/computation %e/computation t/attribute "q=%r"/string'
    )


def test_control_predecessors_are_instructions() -> None:
    line = "  ROOT %x = f32[] add(%a, %b), to_apply=%c, control-predecessors={%a, b}"
    assert body(line).endswith(
        "to_apply/attribute %c/computation control-predecessors/attribute "
        "%a/instruction b/instruction"
    )


def test_element_of_tuple_is_a_number() -> None:
    assert body("  %x = f32[] add(%t.1#0, t#1#2)") == (
        "%x/instruction+declaration f32/element_type add/opcode %t.1/instruction 0/number "
        "t/instruction 1/number 2/number"
    )


def test_names_without_percent_sign() -> None:
    line = "  ROOT x = f32[] add(a, f32[] negate(b.1)), calls=c, direction=LT, k={d}"
    assert body(line) == (
        "x/instruction+declaration f32/element_type add/opcode a/instruction f32/element_type "
        "negate/opcode b.1/instruction calls/attribute c/computation direction/attribute "
        "k/attribute"
    )


def test_literals_have_no_names() -> None:
    assert body("  ROOT %c = s32[2]{0} constant({1, -2})") == (
        "%c/instruction+declaration s32/element_type 2/number 0/number constant/opcode "
        "1/number -2/number"
    )
    assert body("  ROOT %c = f32[] constant(-1.5e-05)").endswith("constant/opcode -1.5e-05/number")
    assert body("  ROOT %c = f32[] constant(inf)").endswith("constant/opcode")


def test_inline_computation() -> None:
    text = f"{HEAD}  ROOT r = f32[] reduce(a, b), to_apply={{\n    p = f32[] parameter(0)\n"
    text += "    ROOT s = f32[] add(p, p)\n  }, dimensions={0}\n}\n"
    assert tokens_by_line(text)[4:7] == [
        "p/instruction+declaration f32/element_type parameter/opcode 0/number",
        "s/instruction+declaration f32/element_type add/opcode p/instruction p/instruction",
        "dimensions/attribute 0/number",
    ]


def test_multiline_comments() -> None:
    text = f"{HEAD}  %x = f32[] /* one\n   two */ negate(%a) // three\n}}\n"
    assert tokens_by_line(text)[3:5] == [
        "%x/instruction+declaration f32/element_type /* one/comment",
        "two *//comment negate/opcode %a/instruction // three/comment",
    ]
    assert tokens_by_line("HloModule m\n\n  // one\n/* two\n\n three")[2:] == [
        "// one/comment", "/* two/comment", "", "three/comment"
    ]  # fmt: skip


def test_header_and_tables() -> None:
    text = 'HloModule m, is_scheduled=true, l={(f32[2]{0})->f32[]}\n\nFileNames\n1 "a.py"\n'
    assert tokens_by_line(text) == [
        "is_scheduled/attribute l/attribute f32/element_type 2/number 0/number f32/element_type",
        "", "", '1/number "a.py"/string', "",
    ]  # fmt: skip
    row = "HloModule m\n\nStackFrames\n2 {file_location_id=1 parent_frame_id=2}\n"
    assert tokens_by_line(row)[3] == (
        "2/number file_location_id/attribute 1/number parent_frame_id/attribute 2/number"
    )


def test_sharding_is_not_a_shape() -> None:
    line = "  ROOT %x = f32[] copy(%a), sharding={devices=[2,1]<=[2]T(1,0)}, m={mesh['x'=2]}"
    assert body(line).endswith(
        "sharding/attribute devices/attribute 2/number 1/number 2/number 1/number 0/number "
        "m/attribute 2/number"
    )


@pytest.mark.parametrize("line", ["  %x = f32[2 add(%a", '  %x = f32[2] add(%a), k="unfinished'])
def test_broken_statement_has_tokens(line: str) -> None:
    found = body(line).split()
    assert found[0] == "%x/instruction+declaration"
    assert {"add/opcode", "%a/instruction"} <= set(found)
