"""The TOML files are complete and consistent."""

import re
from collections.abc import Iterator

from hlo_lsp.hlo.vocabulary import (
    AttributeKind,
    AttributeSpec,
    OperandPassing,
    ResultKind,
    read_toml,
    vocabulary,
)
from hlo_lsp.model.shape import ArrayShape, parse_shape

WORDS = vocabulary()
FIELDS = {
    "opcodes": {
        "cost",
        "sends",
        "operands",
        "required",
        "optional",
        "elementwise",
        "passes",
        "reads",
        "result",
        "runs_callees",
        "text",
    },
    "attributes": {"kind", "values", "example", "text", "on"},
    "element_types": {"bits", "narrower", "text"},
}
# hlo_opcode.h: names consist of words of letters and digits.
OPCODE = re.compile(r"[a-z]+[a-z0-9]*(-[a-z0-9]+)*")


def everything() -> Iterator[AttributeSpec]:
    yield from WORDS.attributes.values()
    yield from WORDS.variants.values()
    yield from WORDS.header.values()


def texts() -> Iterator[tuple[str, str]]:
    for attribute in everything():
        yield attribute.name, attribute.text
        yield from attribute.keys.items()
    for opcode in WORDS.opcodes.values():
        yield opcode.name, opcode.text
    yield from WORDS.tables.items()
    for element_type in WORDS.element_types.values():
        yield element_type.name, element_type.text
    yield from WORDS.keywords.items()


def test_every_text_is_made_of_whole_sentences() -> None:
    bad = {
        name: text
        for name, text in texts()
        if not text.endswith(".") or not (text[0].isupper() or text[0] in "`e-") or "  " in text
        or text.count("`") % 2
    }  # fmt: skip
    assert bad == {}


def test_texts_are_short() -> None:
    assert {name: len(text) for name, text in texts() if len(text) > 330} == {}


def test_data_files_have_no_unused_fields() -> None:
    for name, fields in FIELDS.items():
        tree = dict(read_toml(name))
        tree.pop("common", None)
        assert {key for entry in tree.values() for key in entry} <= fields


def test_opcodes_are_spelled_as_xla_spells_them() -> None:
    assert [name for name in WORDS.opcodes if not OPCODE.fullmatch(name)] == []


def test_no_file_is_empty() -> None:
    assert len(WORDS.opcodes) > 130
    assert len(WORDS.attributes) > 100
    assert len(WORDS.element_types) > 30


def test_every_attribute_belongs_to_an_opcode() -> None:
    used = {name for opcode in WORDS.opcodes.values() for name in opcode.attributes}
    assert set(WORDS.attributes) - used - set(WORDS.common) == set()
    assert used & set(WORDS.common) == {"parameter_replication"}


def test_variants_belong_to_opcodes_with_the_attribute() -> None:
    for name, opcode in WORDS.variants:
        assert name in WORDS.opcodes[opcode].attributes, (name, opcode)


def test_only_enums_list_allowed_values() -> None:
    several = {AttributeKind.ENUM, AttributeKind.ENUMS, AttributeKind.FLAG}
    assert [a.name for a in everything() if bool(a.values) != (a.kind in several)] == []


def test_examples_are_of_their_kind() -> None:
    shapes = {
        AttributeKind.INTEGER: r"\d+",
        AttributeKind.NUMBER: r"\d+\.\d+",
        AttributeKind.INTEGERS: r"\{(\d+(,\d+)*)?\}",
        AttributeKind.COMPUTATION: r"%[\w.]+",
        AttributeKind.COMPUTATIONS: r"\{%[\w.]+(, %[\w.]+)*\}",
        AttributeKind.INSTRUCTIONS: r"\{%[\w.\-]+(, %[\w.\-]+)*\}",
        AttributeKind.STRING: r'"[^"]+"',
        AttributeKind.BRACES: r"\{.*\}",
        AttributeKind.TEXT: r".+",
    }
    for attribute in everything():
        if attribute.kind in shapes:
            assert re.fullmatch(shapes[attribute.kind], attribute.example), attribute
        elif attribute.kind is AttributeKind.ENUMS:
            assert set(attribute.example.strip("{}").split(",")) <= set(attribute.values)
        else:
            assert attribute.example in attribute.values, attribute


def test_keys_belong_to_attributes() -> None:
    assert set(read_toml("keys")) <= set(WORDS.attributes) | set(WORDS.header)


def test_no_operand_of_an_opcode_is_named_twice() -> None:
    for opcode in WORDS.opcodes.values():
        names = [operand.name for operand in opcode.operands]
        assert len(set(names)) == len(names), opcode


def test_elementwise_opcodes_have_equal_operands() -> None:
    for opcode in WORDS.opcodes.values():
        assert opcode.operands or not opcode.elementwise, opcode


def test_element_type_bits_match_shape_sizes() -> None:
    for element_type in WORDS.element_types.values():
        shape = parse_shape(f"{element_type.name}[]")
        assert isinstance(shape, ArrayShape)
        whole = max(8, element_type.bits) if element_type.bits else 0
        assert shape.bits == whole


def test_opcodes_that_pass_operands_have_called_computations() -> None:
    for opcode in WORDS.opcodes.values():
        calls = opcode.passes is not OperandPassing.NONE or opcode.runs_callees
        assert (
            not (calls or any(part.kind is ResultKind.ROOT for part in opcode.result))
            or opcode.calls
        ), opcode.name


def test_results_that_are_operands_have_operands() -> None:
    for opcode in WORDS.opcodes.values():
        for part in opcode.result:
            if part.kind not in {ResultKind.ROOT, ResultKind.ARGUMENT}:
                assert opcode.operands[part.operand].repeated or not part.is_repeated, opcode.name


def test_narrower_types_have_half_of_the_bits() -> None:
    for element_type in WORDS.element_types.values():
        if element_type.narrower is not None:
            assert 2 * WORDS.element_types[element_type.narrower].bits == element_type.bits
