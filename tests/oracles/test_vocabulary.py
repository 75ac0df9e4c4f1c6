"""Tests for the vocabulary, compared with XLA's own parser.

For an unknown attribute, the error message of the parser lists the accepted attributes. For an
instruction without attributes, it names the first missing one.
"""

import re

import pytest

from hlo_lsp.hlo.vocabulary import AttributeKind, OpcodeSpec, vocabulary
from oracles.xla_parser import XlaParseError, parse_with_xla

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
# The shape and operands of opcodes for which the parser checks them before the attributes.
_SHAPES_AND_OPERANDS = {
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
# Some jaxlibs from 0.10.2 on do not have these opcodes.
_NEWER_OPCODES = {"atan", "collective-reduce", "shuffle"}
# Attributes of newer and older versions and of libtpu, by opcode.
_OTHER_VERSIONS = {
    ("async-update", "output_to_operand_aliasing"),
    ("call", "output_to_operand_aliasing"),
    ("collective-broadcast", "has_dynamic_root"),
    ("compare", "order"),
    ("conditional", "false_computation"),  # for a pred index
    ("conditional", "true_computation"),
    ("convolution", "algorithm"),
    ("convolution", "block_scaling_config"),
    ("convolution", "conv_kind"),
    ("copy-start", "is_cross_program_prefetch"),
    ("dot", "block_scaling_config"),
    ("dot", "sparsity_config"),
    ("topk", "is_stable"),
}
_MISSING_ATTRIBUTE = re.compile(r"attribute (\S+) is expected but not seen")
_OPCODES = sorted(WORDS.opcodes.keys() - _NEWER_OPCODES)


def parser_error(opcode: OpcodeSpec, attributes: str) -> str:
    """Return XLA's error message for the instruction, or an empty string."""
    count = 2 if opcode.arity is None else opcode.arity
    shape, operands = _SHAPES_AND_OPERANDS.get(opcode.name, ("f32[2,3]", ", ".join(["x"] * count)))
    instruction = f"{shape} {opcode.name}({operands}){attributes}"
    try:
        parse_with_xla(_MODULE.format(instruction=instruction))
    except XlaParseError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("name", _OPCODES)
def test_attributes_match_xla_parser(name: str) -> None:
    opcode = WORDS.opcodes[name]
    listed = re.search(r"Allowed attributes: ([^\n]+)", parser_error(opcode, ", unknown_name=1"))
    assert listed is not None
    of_other_versions = {attribute for other, attribute in _OTHER_VERSIONS if other == name}
    ours = set(opcode.attributes) | set(WORDS.common)
    theirs = set(listed[1].split(", "))
    assert theirs <= ours
    assert ours - of_other_versions <= theirs


@pytest.mark.parametrize("name", _OPCODES)
def test_xla_parser_requires_each_required_attribute(name: str) -> None:
    opcode = WORDS.opcodes[name]
    required = {group[0] for group in opcode.required}  # without the attributes for a pred index
    for omitted in required:
        given = [f", {other}={_value(other, opcode)}" for other in required - {omitted}]
        missing = _MISSING_ATTRIBUTE.search(parser_error(opcode, "".join(given)))
        assert missing is not None
        assert missing[1] == omitted


def test_broadcast_dimensions_are_optional_for_scalars() -> None:
    missing = _MISSING_ATTRIBUTE.search(parser_error(WORDS.opcodes["broadcast"], ""))
    assert missing is not None
    assert missing[1] == "dimensions"
    assert parse_with_xla(_MODULE.format(instruction="f32[2,3] broadcast(i)"))


@pytest.mark.parametrize("name", _OPCODES)
def test_xla_parser_accepts_every_example_and_word(name: str) -> None:
    opcode = WORDS.opcodes[name]
    for attribute in (*opcode.attributes, *WORDS.common):
        meaning = WORDS.attribute(attribute, name)
        assert meaning is not None
        if (name, attribute) in _OTHER_VERSIONS:
            continue
        for word in meaning.values or [_value(attribute, opcode)]:
            value = f"{{{word}}}" if meaning.kind is AttributeKind.ENUMS else word
            error = parser_error(opcode, f", {attribute}={value}, unknown_name=1")
            assert 'unexpected attribute "unknown_name"' in error, (attribute, value)


@pytest.mark.parametrize(
    "name", sorted(WORDS.header.keys() - {"backend_config", "debug_attributes"})
)
def test_xla_parser_accepts_every_header_example(name: str) -> None:
    with pytest.raises(XlaParseError, match='unexpected attribute "unknown_name"'):
        parse_with_xla(f"HloModule m, {name}={WORDS.header[name].example}, unknown_name=1\n\n")


def test_header_attributes_match_xla_parser() -> None:
    with pytest.raises(XlaParseError) as error:
        parse_with_xla("HloModule m, unknown_name=1\n\n")
    listed = re.search(r"Allowed attributes: ([^\n]+)", str(error.value))
    assert listed is not None
    # The parser of jaxlib 0.10.2 does not accept these two.
    assert WORDS.header.keys() - set(listed[1].split(", ")) <= {
        "backend_config",
        "debug_attributes",
    }
    assert set(listed[1].split(", ")) <= WORDS.header.keys()


def test_metadata_keys_match_xla_parser() -> None:
    error = parser_error(WORDS.opcodes["abs"], ", metadata={unknown_name=1}")
    listed = re.search(r"Allowed attributes: ([^\n]+)", error)
    assert listed is not None
    assert set(listed[1].split(", ")) == WORDS.attributes["metadata"].keys.keys()


@pytest.mark.parametrize("name", sorted(WORDS.element_types))
def test_xla_parser_accepts_every_element_type(name: str) -> None:
    with pytest.raises(XlaParseError, match='unexpected attribute "unknown_name"'):
        parse_with_xla(_MODULE.format(instruction=f"{name}[] parameter(6), unknown_name=1"))


def _value(name: str, opcode: OpcodeSpec) -> str:
    attribute = WORDS.attribute(name, opcode.name)
    assert attribute is not None
    if attribute.kind is AttributeKind.COMPUTATION:
        return "c"
    if attribute.kind is AttributeKind.COMPUTATIONS:
        return "{c}"
    return "{x}" if attribute.kind is AttributeKind.INSTRUCTIONS else attribute.example
