"""The parts of instructions of all compilers."""

import pytest

from hlo_lsp.hlo.vocabulary import CALL_ATTRIBUTES
from hlo_lsp.syntax.instruction_text import (
    Attributes,
    InstructionText,
    TextSpan,
    attributes_of,
    operand_names,
    parse_instruction,
    split_element,
    tuples_of_element,
)
from marks import mark


def _read(line: str, at: int = 0) -> InstructionText:
    text = parse_instruction(line, at)
    assert text is not None
    return text


def _operands(text: str) -> list[str]:
    return [span.text for span in _read(text).operands]


def _named(text: InstructionText) -> list[TextSpan]:
    """Return the callees and predecessors in attributes."""
    return sorted([*text.called, *text.predecessors], key=lambda span: span.start)


def _mentions(text: str) -> list[str]:
    return [span.text for span in _named(_read(text))]


def test_parts_have_columns() -> None:
    marked = mark(
        """
          ROOT %add.5 = f32[2]{0:T(128)} add(%a.1, f32[2]{0} %b), calls=%c, metadata={op_name="x"}
                ^^^^^ name                    ^^^ a           ^ b        ^ callee
                        ^^^^^^^^^^^^^^^^ shape                  ^ attributes
                                         ^^^ opcode
        """
    )
    text = _read(marked.lines[0])
    spans = {
        "name": text.name,
        "shape": text.shape,
        "opcode": text.opcode,
        "a": text.operands[0],
        "b": text.operands[1],
        "callee": _named(text)[0],
    }
    for name, span in spans.items():
        assert (span.start, span.end) == (marked[name].start, marked[name].end), name
        assert marked.lines[0][span.start : span.end] == span.text
    assert text.attributes_at == marked["attributes"].start


def test_span_contains_its_columns_and_the_next() -> None:
    name = _read("  %ab = f32[] add(%c)").name
    assert [column for column in range(10) if column in name] == [3, 4, 5]


@pytest.mark.parametrize(
    ("operands", "names"),
    [
        ("", []),
        ("%a", ["a"]),
        ("a, b.1, c-start", ["a", "b.1", "c-start"]),
        ("%a, %constant.5..sunk", ["a", "constant.5..sunk"]),
        ("f32[2,3]{1,0:T(8,128)(2,1)} %a, s32[] b", ["a", "b"]),
        ("(f32[2]{0}, (s32[], pred[3]{0})) %t, %b", ["t", "b"]),
        ("%a, %b, %c, %d, %e, /*index=5*/%f", ["a", "b", "c", "d", "e", "f"]),
        ("f32[] %a, /*index=5*/(f32[2]{0}, /*index=5*/s8[]) %t", ["a", "t"]),
        ("f32[<=7,?]{1,0} %a, b(f32[2]) %b", ["a", "b"]),
    ],
)
def test_operands_are_names(operands: str, names: list[str]) -> None:
    assert _operands(f'  %x = f32[] custom-call({operands}), custom_call_target="a(b, %c"') == names


@pytest.mark.parametrize(
    "text",
    [
        "%x = f32[] constant(1.5)",
        "%x = pred[] constant(false)",
        "%x = f32[] constant(-inf), metadata={op_name=\"x\"}",
        "%x = f32[2,2]{1,0} constant({ {1, nan}, {3, 4} })",
        "%x = s32[9]{0} constant({...})",
        "%x = (f32[], s32[]) constant(( 1, 2 ))",
        "%x = f32[] parameter(0), sharding={replicated}",
        "%x = f32[2]{0} iota(), iota_dimension=0",
    ],
)  # fmt: skip
def test_literals_and_numbers_are_not_operands(text: str) -> None:
    assert _operands(text) == []
    assert _mentions(text) == []


@pytest.mark.parametrize(
    ("attributes", "names"),
    [
        ("kind=kLoop, calls=%fused.1", ["fused.1"]),
        ("kind=kLoop, calls=fused.1", ["fused.1"]),
        ("condition=%cond, body=%body", ["cond", "body"]),
        ("condition=cond, body=body", ["cond", "body"]),
        ("dimensions={0}, to_apply=%add", ["add"]),
        ("select=%ge, scatter=%add", ["ge", "add"]),
        ("true_computation=%t, false_computation=%f", ["t", "f"]),
        ("branch_computations={%b0, %b1, %b2}", ["b0", "b1", "b2"]),
        ("branch_computations={b0, region_1.26}", ["b0", "region_1.26"]),
        ('custom_call_target="x", called_computations={%a, %b}', ["a", "b"]),
        ('calls=%c, control-predecessors={%p, %q}, metadata={op_name="m"}', ["c", "p", "q"]),
        ('to_apply=%add, metadata={op_name="jit(f)/while/body"}', ["add"]),
    ],
)
def test_attributes_name_callees_and_predecessors(attributes: str, names: list[str]) -> None:
    assert _mentions(f"  %x = f32[] fusion(%a), {attributes}") == names


@pytest.mark.parametrize(
    ("operands", "names"),
    [
        ("%a, %b", ["a", "b"]),
        ("%a, negate(%b)", ["a", "b"]),
        ("f32[] add(%a, f32[] negate(f32[] %b)), %c", ["a", "b", "c"]),
        ("(f32[], f32[]) tuple(a, b), constant({c, d}), f32[] parameter(0)", ["a", "b"]),
        ("negate(%b", ["b"]),
        ("f32[2]{0} constant({1, 2})", []),
    ],
)
def test_names_inside_of_operands_in_place_are_read(operands: str, names: list[str]) -> None:
    text = parse_instruction(f"  %x = f32[] add({operands})")
    assert text is not None
    assert [span.text for span in text.reads] == names
    assert [text.line[span.start : span.end] for span in text.reads] == names


@pytest.mark.parametrize(
    ("attributes", "metadata"),
    [
        ("", {}),
        (
            ', metadata={op_name="jit(f)/jit(main)/add" stack_frame_id=12}',
            {"op_name": "jit(f)/jit(main)/add", "stack_frame_id": "12"},
        ),
        (
            ', metadata={op_type="add" op_name="a}b" source_file="/home/a b.py" source_line=7}',
            {"op_type": "add", "op_name": "a}b", "source_file": "/home/a b.py",
             "source_line": "7"},
        ),
        (r', metadata={op_name="params[\'w\'] \"q\" \\" source_line=7}',
         {"op_name": "params['w'] \"q\" \\", "source_line": "7"}),
        (', metadata={op_name="x", source_line=7}', {"op_name": "x", "source_line": "7"}),
        (', metadata={}, backend_config={"a":"b"}', {}),
        (', sharding={replicated metadata={op_name="other"}}, metadata={op_name="x"}',
         {"op_name": "x"}),
        (', frontend_attributes={a=", metadata={op_name=1}"}, metadata={op_name="x"}',
         {"op_name": "x"}),
        (', metadata={op_name="x" scheduling_name="y.1"}, backend_config={" metadata={a=1}":0}',
         {"op_name": "x", "scheduling_name": "y.1"}),
    ],
)  # fmt: skip
def test_metadata(attributes: str, metadata: dict[str, str]) -> None:
    assert _read(f"  %x = f32[] add(%a, %b){attributes}").metadata == metadata


@pytest.mark.parametrize("text", ["", "x", "  %x = f32[]", "  %x f32[] add(%a)", "}"])
def test_other_text_is_not_an_instruction(text: str) -> None:
    assert parse_instruction(text) is None


def test_unfinished_instruction_ends_with_the_line() -> None:
    text = parse_instruction("%x = f32[] add(%a), calls=%b, metadata={op")
    assert text is not None
    assert [span.text for span in _named(text)] == ["b"]


@pytest.mark.parametrize(
    ("rest", "closed"),
    [
        ('(%a), calls=%c, metadata={op_name="a(b"}', True),
        ('({1, 2}), backend_config={"a":["}"]}', True),
        ('(%a), metadata={op_name="a"', False),
        ('(%a), metadata={op_name="a}', False),
        ("(%a), calls=%c}", False),
    ],
)
def test_closed_instruction_has_balanced_brackets_and_strings(rest: str, closed: bool) -> None:
    assert _read(f"%x = (f32[2]{{0}}, s8[]) custom-call{rest}").is_closed is closed


@pytest.mark.parametrize(
    ("operands", "names"),
    [
        ("%t#0, %u", ("t#0", "u")),
        ("t#0, u#12#3", ("t#0", "u#12#3")),
        ("f32[8]{0:T(8)#(s32)} %t#1", ("t#1",)),
        ("/*index=0*/%t#4", ("t#4",)),
        ("f32[] add(%t#0, %u#1)", ("",)),
    ],
)
def test_operand_can_be_an_element(operands: str, names: tuple[str, ...]) -> None:
    line = f"  %x = f32[] call({operands}), to_apply=%f"
    parsed = parse_instruction(line)
    assert parsed is not None
    assert tuple(span.text for span in parsed.operands) == names
    assert operand_names(parsed.line, parsed.literal.start, "call") == names


@pytest.mark.parametrize(
    "operand", ["%s#", "%s##0", "%s#x", "%s #0", "%s#-1", "%s#0000000000", "%s#0?", "%s#0#", "%s@2"]
)
def test_both_readers_know_no_other_suffix(operand: str) -> None:
    parsed = parse_instruction(f"  %x = f32[] call(%t#0, {operand})")
    assert parsed is not None
    assert [span.text for span in parsed.operands] == ["t#0", ""]
    assert operand_names(parsed.line, parsed.literal.start, "call") == ("t#0", "")


def test_inline_operand_reads_elements() -> None:
    parsed = parse_instruction("  %x = f32[] negate(f32[] add(%t#0, %u#1))")
    assert parsed is not None
    assert [span.text for span in parsed.reads] == ["t#0", "u#1"]


def test_tuples_of_element() -> None:
    assert split_element("t#1#0") == ("t#1", 0)
    for name in ("t", "t#", "#1", "#", "t#x", "t#0000000000", "t#٠"):
        assert split_element(name) is None
    assert tuples_of_element("t#1#0") == ("t#1", "t")
    assert tuples_of_element("t") == ()


def test_equal_attributes_are_read_once() -> None:
    for length in (1, 2_000):  # short and long texts
        text = f', calls=%f, backend_config="{"x" * length}"'
        assert attributes_of(text) is attributes_of(f" {text}"[1:])


@pytest.mark.parametrize(
    "text",
    [
        ", calls=%f",
        ", kind=kLoop, calls=%f, metadata={}",
        ", dimensions={0,1}, to_apply=%f",
        ", condition=%f, body=%g",
        ", condition=f, body=%g",
        ", calls=%f %g",
        ", kind=kLoop calls=%f",
        ', custom_call_target="a, calls=%f"',
        ", called_computations={%f, %g}",
    ],
)
def test_single_call_is_that_of_the_attributes(text: str) -> None:
    found = Attributes(text)
    listed = {each.name: each.value.text for each in found.items if each.name in CALL_ATTRIBUTES}
    for attribute, span in found.calls:
        assert span.text in listed[attribute]
        assert text[span.start : span.end] == span.text
    assert {attribute for attribute, _ in found.calls} == listed.keys()


def test_metadata_in_sharding_is_not_of_instruction() -> None:
    attributes = attributes_of(
        ', sharding={devices=[2]0,1, metadata={op_name="a"}}, metadata={op_name="b"}'
    )
    assert attributes.metadata == {"op_name": "b"}


def test_value_ends_at_comma_outside_brackets() -> None:
    value = attributes_of(", dimensions={0,1}, to_apply=%add").value("dimensions")
    assert value == TextSpan(13, 18, "{0,1}")


@pytest.mark.parametrize(
    "before",
    [
        "",
        ", dimensions={0,1}",
        ', frontend_attributes={a="[{x"}',
        ', a="b\\"[", dimensions={0}',
        ', a={b="c}"',
        ', a="b',
        ", a={b",
        ", /*index=5*/ a=1",
        ', a=/* " */ "b"',
        ', a=\\"b, c="d"',
        ', a="metadata={", b={',
    ],
)
def test_value_is_that_of_the_listed_attributes(before: str) -> None:
    found = Attributes(f'{before}, metadata={{op_name="x"}}')
    listed = (one.value for one in found.items if one.name == "metadata")
    assert found.value("metadata") == next(listed, None)
