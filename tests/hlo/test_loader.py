"""Specifications from TOML tables."""

import pytest

from hlo_lsp.hlo import loader as reading
from hlo_lsp.hlo.specs import AttributeKind, AttributeSpec, OperandSpec

KNOWN = reading.attribute_specs(
    {
        "dimensions": {"kind": "integers", "example": "{0}", "text": "Dimensions."},
        "to_apply": {"kind": "computation", "example": "%f", "text": "A computation."},
        "body": {"kind": "computation", "example": "%f", "text": "A computation."},
        "branches": {"kind": "computations", "example": "{%f}", "text": "Computations."},
        "is_stable": {"kind": "flag", "example": "true", "text": "Stable."},
    },
    {"dimensions": {"first": "The first."}},
)


def test_operands_fix_the_arity() -> None:
    found = reading.opcode_spec(
        "pad", {"operands": "operand padding_value", "text": "Pads."}, KNOWN
    )
    assert found.operands == (OperandSpec("operand"), OperandSpec("padding_value"))
    assert found.arity == 2


def test_no_operands_are_an_arity_too() -> None:
    assert reading.opcode_spec("iota", {"operands": "", "text": "Counts."}, KNOWN).arity == 0


@pytest.mark.parametrize(
    ("text", "operand"),
    [("xs*", OperandSpec("xs", repeated=True)), ("x?", OperandSpec("x", optional=True))],
)
def test_an_open_operand_leaves_the_arity_open(text: str, operand: OperandSpec) -> None:
    found = reading.opcode_spec("f", {"operands": f"lhs {text}", "text": "F."}, KNOWN)
    assert found.operands == (OperandSpec("lhs"), operand)
    assert found.arity is None


def test_required_attributes_are_groups_of_alternatives() -> None:
    entry = {
        "operands": "",
        "text": "F.",
        "required": ["dimensions", ["branches", "body"]],
        "optional": ["is_stable"],
    }
    found = reading.opcode_spec("f", entry, KNOWN)
    assert found.required == (("dimensions",), ("branches", "body"))
    assert found.attributes == ("dimensions", "branches", "body", "is_stable")


def test_an_attribute_in_two_groups_is_named_once() -> None:
    entry = {"operands": "", "text": "F.", "required": [["branches", "body"], ["branches"]]}
    assert reading.opcode_spec("f", entry, KNOWN).attributes == ("branches", "body")


def test_calls_follow_from_the_kinds() -> None:
    entry = {"operands": "", "text": "F.", "required": [["branches", "body"], "dimensions"],
             "optional": ["to_apply", "is_stable"]}  # fmt: skip
    assert reading.opcode_spec("f", entry, KNOWN).calls == ("branches", "body", "to_apply")


def test_opcode_with_undescribed_attribute_is_rejected() -> None:
    with pytest.raises(KeyError, match="nothing"):
        reading.opcode_spec("f", {"operands": "", "text": "F.", "optional": ["nothing"]}, KNOWN)


def test_a_flag_is_true_or_false() -> None:
    assert KNOWN["is_stable"].values == ("true", "false")


def test_keys_go_to_the_attribute_they_belong_to() -> None:
    assert KNOWN["dimensions"].keys == {"first": "The first."}
    assert KNOWN["body"].keys == {}


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="colour"):
        reading.attribute_spec("f", {"kind": "colour", "example": "", "text": ""})


def test_variant_overrides_its_base() -> None:
    entry = {"kind": "integers", "example": "{0}", "text": "Dimensions."}
    other = {"kind": "enum", "values": ["a", "b"]}
    entries = {"dimensions": {**entry, "on": {"sort": other}}}
    [(names, found)] = reading.attribute_variants(
        entries, {"dimensions": {"first": "The first."}}
    ).items()
    assert names == ("dimensions", "sort")
    assert found == AttributeSpec(
        "dimensions", "Dimensions.", AttributeKind.ENUM, ("a", "b"), "{0}", {"first": "The first."}
    )
