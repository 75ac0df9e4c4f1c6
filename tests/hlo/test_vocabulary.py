"""Look-ups in the vocabulary."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlo_lsp.hlo.vocabulary import AttributeKind, OpcodeSpec, OperandSpec, vocabulary

WORDS = vocabulary()


def opcode(name: str) -> OpcodeSpec:
    found = WORDS.opcode(name)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("name", "arity"),
    [("add", 2), ("iota", 0), ("batch-norm-grad", 5), ("ragged-all-to-all", 6), ("reduce", None),
     ("async-start", None), ("async-update", None), ("async-done", 1), ("convolution", None)],
)  # fmt: skip
def test_arity(name: str, arity: int | None) -> None:
    assert opcode(name).arity == arity


def test_conditional_needs_one_list_or_two_branches() -> None:
    found = opcode("conditional")
    assert found.required == (
        ("branch_computations", "true_computation"), ("branch_computations", "false_computation")
    )  # fmt: skip
    assert set(found.calls) == {"branch_computations", "true_computation", "false_computation"}


def test_operand_dependent_attributes_are_optional() -> None:
    assert opcode("broadcast").required == ()
    assert opcode("broadcast").optional == ("dimensions",)


@pytest.mark.parametrize(
    ("name", "calls"),
    [("while", {"condition", "body"}), ("fusion", {"calls"}), ("async-start", {"calls"}),
     ("select-and-scatter", {"select", "scatter"}), ("sort", {"to_apply"}), ("add", set()),
     ("custom-call", {"to_apply", "called_computations"})],
)  # fmt: skip
def test_opcode_calls(name: str, calls: set[str]) -> None:
    assert set(opcode(name).calls) == calls


@pytest.mark.parametrize("name", ["add", "convert", "select", "compare", "tanh", "real", "map"])
def test_elementwise_opcodes(name: str) -> None:
    assert opcode(name).elementwise


def test_start_form_has_the_operands_of_its_opcode() -> None:
    found, wrapped = opcode("slice-start"), opcode("slice")
    assert found.name == "slice-start"
    assert (found.operands, found.arity, found.required) == (wrapped.operands, 1, (("slice",),))
    assert "async_execution_thread" in found.optional
    assert "`slice-done`" in found.text
    assert wrapped.text in found.text


def test_start_form_is_not_elementwise() -> None:
    assert opcode("add").elementwise
    assert not opcode("add-start").elementwise


def test_start_names_no_attribute_twice() -> None:
    found = opcode("custom-call-start").optional
    assert len(set(found)) == len(found)


@pytest.mark.parametrize("name", ["custom-call-done", "reduce-scatter-update"])
def test_update_and_done_take_the_start(name: str) -> None:
    found = opcode(name)
    assert found.operands == (OperandSpec(f"{name.rpartition('-')[0].replace('-', '_')}_start"),)
    assert found.arity == 1
    assert found.required == ()
    assert f"`{name.rpartition('-')[0]}`" in found.text


def test_defined_opcodes_are_not_wrapped_forms() -> None:
    assert opcode("copy-start") is WORDS.opcodes["copy-start"]
    assert opcode("all-gather-done") is WORDS.opcodes["all-gather-done"]


@pytest.mark.parametrize(
    "name", ["", "start", "-start", "nothing", "nothing-start", "async-start-start", "add-end"]
)
def test_words_that_are_not_opcodes(name: str) -> None:
    assert WORDS.opcode(name) is None


@given(st.sampled_from(sorted(WORDS.opcodes)), st.sampled_from(["start", "update", "done"]))
def test_every_opcode_can_be_wrapped_or_is_asynchronous(name: str, step: str) -> None:
    found = WORDS.opcode(f"{name}-{step}")
    assert (found is None) == name.startswith("async-")
    if found is not None:
        assert found.name == f"{name}-{step}"
        assert set(found.calls) <= set(found.attributes) <= set(WORDS.attributes)


def test_attribute_meaning_depends_on_opcode() -> None:
    plain, random = WORDS.attribute("algorithm"), WORDS.attribute("algorithm", "rng-bit-generator")
    assert plain is not None
    assert random is not None
    assert "dot_f32_f32_f32" in plain.values
    assert random.values == ("rng_default", "rng_three_fry", "rng_philox")
    assert WORDS.attribute("algorithm", "dot") is plain


def test_unknown_attributes() -> None:
    assert WORDS.attribute("nothing") is None
    assert WORDS.attribute("nothing", "add") is None


def test_header_has_attributes_of_its_own() -> None:
    assert WORDS.header["is_scheduled"].kind is AttributeKind.FLAG
    assert "is_scheduled" not in WORDS.attributes
