"""Opcodes, their attributes and the words of enums against XLA's own parser.

An instruction with an attribute that nobody knows makes the parser list those that it knows; one
without attributes makes it name the first that is missing.
"""

import re

import pytest

from hlo_lsp.hlo.specs import AttributeKind, OpcodeSpec
from hlo_lsp.hlo.vocabulary import vocabulary
from oracles.xla import RefusedError, read_by_xla

WORDS = vocabulary()
_MODULE = """HloModule m
c {{
  a = f32[2,3] parameter(0)
  ROOT b = f32[2,3] negate(a)
}}
ENTRY e {{
  x = f32[2,3] parameter(0)
  v = f32[3] parameter(1)
  tok = token[] parameter(2)
  i = s32[] parameter(3)
  p = pred[] parameter(4)
  t = (f32[2,3]) parameter(5)
  g = (f32[2,3], u32[], token[]) recv(tok)
  s = ((f32[2,3]), f32[2,3], u32[]) async-start(x), calls=c
  ROOT r = {instruction}
}}
"""
# Shape and operands where the parser looks at them before it looks at the attributes.
_SPECIAL = {
    "add-dependency": ("f32[2,3]", "x, tok"),
    "after-all": ("token[]", ""),
    "async-done": ("f32[2,3]", "s"),
    "async-start": ("((f32[2,3]), f32[2,3], u32[])", "x"),
    "async-update": ("((f32[2,3]), f32[2,3], u32[])", "s"),
    "conditional": ("f32[2,3]", "i, x"),
    "constant": ("f32[]", "1"),
    "dynamic-reshape": ("f32[2,3]", "x, i, i"),
    "dynamic-slice": ("f32[2,3]", "x, i, i"),
    "dynamic-update-slice": ("f32[2,3]", "x, x, i, i"),
    "get-tuple-element": ("f32[2,3]", "t"),
    "infeed": ("(f32[2,3], token[])", "tok"),
    "outfeed": ("token[]", "x, tok"),
    "parameter": ("f32[2,3]", "6"),
    "partition-id": ("u32[]", ""),
    "recv": ("(f32[2,3], u32[], token[])", "tok"),
    "recv-done": ("(f32[2,3], token[])", "g"),
    "replica-id": ("u32[]", ""),
    "rng": ("f32[2,3]", "i, i"),
    "send": ("(f32[2,3], u32[], token[])", "x, tok"),
    "tuple": ("(f32[2,3])", "x"),
}
# jaxlib 0.10.2 does not know them yet.
_NEWER_OPCODES = {"atan", "collective-reduce", "shuffle"}
# What other versions print: newer ones, older ones, libtpu.
_OTHERS = {
    ("async-update", "output_to_operand_aliasing"),
    ("call", "output_to_operand_aliasing"),
    ("collective-broadcast", "has_dynamic_root"),
    ("compare", "order"),
    ("conditional", "false_computation"),  # for an index that is a pred, which ours is not
    ("conditional", "true_computation"),
    ("convolution", "block_scaling_config"),
    ("convolution", "conv_kind"),
    ("copy-start", "is_cross_program_prefetch"),
    ("topk", "is_stable"),
}
_MISSED = re.compile(r"attribute (\S+) is expected but not seen")
_OPCODES = sorted(WORDS.opcodes.keys() - _NEWER_OPCODES)


def parse_failure(opcode: OpcodeSpec, attributes: str) -> str:
    """What XLA says against the instruction; nothing if it takes it."""
    count = 2 if opcode.arity is None else opcode.arity
    shape, operands = _SPECIAL.get(opcode.name, ("f32[2,3]", ", ".join(["x"] * count)))
    instruction = f"{shape} {opcode.name}({operands}){attributes}"
    try:
        read_by_xla(_MODULE.format(instruction=instruction))
    except RefusedError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("name", _OPCODES)
def test_attributes_are_those_that_xla_reads(name: str) -> None:
    opcode = WORDS.opcodes[name]
    listed = re.search(r"Allowed attributes: ([^\n]+)", refusal(opcode, ", nobody_knows=1"))
    assert listed is not None
    of_others = {attribute for other, attribute in _OTHERS if other == name}
    ours = (set(opcode.attributes) | set(WORDS.common)) - of_others
    assert set(listed[1].split(", ")) == ours


@pytest.mark.parametrize("name", _OPCODES)
def test_xla_misses_each_required_attribute(name: str) -> None:
    opcode = WORDS.opcodes[name]
    required = {group[0] for group in opcode.required}  # for an index that is no pred
    for left_out in required:
        given = [f", {other}={_value(other, opcode)}" for other in required - {left_out}]
        missed = _MISSED.search(refusal(opcode, "".join(given)))
        assert missed is not None
        assert missed[1] == left_out


# Not the others: with all that they need, some crash the parser where the shapes make no sense.
@pytest.mark.parametrize(
    "name", [name for name in _OPCODES if not WORDS.opcodes[name].required and name != "broadcast"]
)
def test_xla_misses_nothing_else(name: str) -> None:
    assert _MISSED.search(refusal(WORDS.opcodes[name], "")) is None


def test_xla_misses_the_dimensions_of_a_broadcast_unless_of_a_scalar() -> None:
    missed = _MISSED.search(refusal(WORDS.opcodes["broadcast"], ""))
    assert missed is not None
    assert missed[1] == "dimensions"
    assert read_by_xla(_MODULE.format(instruction="f32[2,3] broadcast(i)"))


@pytest.mark.parametrize("name", _OPCODES)
def test_xla_reads_every_example_and_every_word(name: str) -> None:
    opcode = WORDS.opcodes[name]
    for attribute in (*opcode.attributes, *WORDS.common):
        meaning = WORDS.attribute(attribute, name)
        assert meaning is not None
        if (name, attribute) in _OTHERS:
            continue
        for word in meaning.values or [_value(attribute, opcode)]:
            value = f"{{{word}}}" if meaning.kind is AttributeKind.ENUMS else word
            said = refusal(opcode, f", {attribute}={value}, nobody_knows=1")
            assert 'unexpected attribute "nobody_knows"' in said, (attribute, value)


@pytest.mark.parametrize(
    "name", sorted(WORDS.header.keys() - {"backend_config", "debug_attributes"})
)
def test_xla_reads_every_example_of_the_header(name: str) -> None:
    with pytest.raises(RefusedError, match='unexpected attribute "nobody_knows"'):
        read_by_xla(f"HloModule m, {name}={WORDS.header[name].example}, nobody_knows=1\n\n")


def test_attributes_of_the_header_are_those_that_xla_reads() -> None:
    with pytest.raises(RefusedError) as refused:
        read_by_xla("HloModule m, nobody_knows=1\n\n")
    listed = re.search(r"Allowed attributes: ([^\n]+)", str(refused.value))
    assert listed is not None
    assert WORDS.header.keys() - set(listed[1].split(", ")) == {
        "backend_config",
        "debug_attributes",
    }
    assert set(listed[1].split(", ")) <= WORDS.header.keys()


def test_keys_of_metadata_are_those_that_xla_reads() -> None:
    said = refusal(WORDS.opcodes["abs"], ", metadata={nobody_knows=1}")
    listed = re.search(r"Allowed attributes: ([^\n]+)", said)
    assert listed is not None
    assert set(listed[1].split(", ")) == WORDS.attributes["metadata"].keys.keys()


@pytest.mark.parametrize("name", sorted(WORDS.element_types))
def test_xla_reads_every_element_type(name: str) -> None:
    with pytest.raises(RefusedError, match='unexpected attribute "nobody_knows"'):
        read_by_xla(_MODULE.format(instruction=f"{name}[] parameter(6), nobody_knows=1"))


def _value(name: str, opcode: OpcodeSpec) -> str:
    attribute = WORDS.attribute(name, opcode.name)
    assert attribute is not None
    if attribute.kind is AttributeKind.COMPUTATION:
        return "c"
    if attribute.kind is AttributeKind.COMPUTATIONS:
        return "{c}"
    return "{x}" if attribute.kind is AttributeKind.INSTRUCTIONS else attribute.example


@pytest.mark.parametrize("name", sorted(_NEWER_OPCODES))
def test_newer_opcodes_are_still_unknown_to_this_version(name: str) -> None:
    assert f"Unknown opcode: {name}" in refusal(WORDS.opcodes[name], "")
