"""Signature help for opcodes."""

import pytest

from completion_cursor import in_entry, split_at_cursor
from hlo_lsp.hlo.vocabulary import operand_description, vocabulary
from hlo_lsp.ide.completion.signatures import operand_position, signature_at


def shown(line: str) -> tuple[str, str, str] | None:
    """Return the label, its active part, and the description of that part."""
    found = signature_at(*in_entry(line))
    if found is None:
        return None
    active = found.parameters[found.active]
    return found.label, found.label[active.start : active.end], active.text


@pytest.mark.parametrize(
    ("line", "label", "active"),
    [
        ("add(|", "add(lhs, rhs)", "lhs"),
        ("add(%p, |)", "add(lhs, rhs)", "rhs"),
        ("add(f32[8,4]{1,0} %p|", "add(lhs, rhs)", "lhs"),
        ("tuple(%p, %n, |", "tuple(operands...)", "operands..."),
        ("add(%p, multiply(%n, |", "multiply(lhs, rhs)", "rhs"),
        ("dynamic-slice(%p, %n, |", "dynamic-slice(operand, start_indices...)", "start_indices..."),
        ("reduce(%p, |", "reduce(inputs..., init_values...)", "init_values..."),
        ("parameter(|", "parameter(number)", "number"),
        ("slice-done(|", "slice-done(slice_start)", "slice_start"),
        ("compare(%p, %p), |", "compare(lhs, rhs), direction=, type=, order=", "direction="),
        ("compare(%p, %p), direction=EQ, type=|", "compare(lhs, rhs), direction=, type=, order=",
         "type="),
        ("transpose(%p), dimensions={0|", "transpose(operand), dimensions=", "dimensions="),
        ("add(%p, %p), metadata={|", "add(lhs, rhs), metadata=", "metadata="),
        ("parameter(2), sharding={|", "parameter(number), parameter_replication=, sharding=",
         "sharding="),
    ],
)  # fmt: skip
def test_operands_and_attributes(line: str, label: str, active: str) -> None:
    found = shown(f"  %r = f32[8] {line}")
    assert found is not None
    assert found[:2] == (label, active)
    assert found[2]


@pytest.mark.parametrize(
    ("line", "label", "text"),
    [
        ("fusion(|), kind=kLoop, calls=%twice", "fusion(z: f32[8,4]{1,0})", ""),
        ("call(%zero, %zero|), to_apply=%sum", "call(x: f32[], y: f32[])",
         "Current operand: `zero: f32[]`."),
        ("reduce(|%p, %zero), to_apply=%sum", "reduce(inputs..., init_values...)",
         "The input arrays, all with the same dimensions. "
         "Current operand: `p: f32[8,4]{1,0}`."),
    ],
)  # fmt: skip
def test_operands_are_explained_by_callee_parameters(line: str, label: str, text: str) -> None:
    found = shown(f"  %r = f32[8] {line}")
    assert found is not None
    assert (found[0], found[2]) == (label, text)


@pytest.mark.parametrize(
    "line",
    ["  %r = f32[|", "  %r = f32[8] zorg(|", "  %r = f32[8] add(%p, %p)|",
     "  %r = f32[8] add(%p), |",
     '  %r = f32[8] add(%p, %p), metadata={op_name="|', "  %r = u32[] partition-id(|"],
)  # fmt: skip
def test_unknown_context_has_no_signature(line: str) -> None:
    assert shown(line) is None


def test_memory_files_have_no_signatures() -> None:
    assert (
        signature_at(*split_at_cursor("BufferAssignment:\nallocation 0: size 8, const|ant:"))
        is None
    )


@pytest.mark.parametrize(
    ("opcode", "places"),
    [
        ("reduce", [0, 1]), ("reduce", [0, 0, 1, 1]), ("scatter", [0, 1, 2]),
        ("scatter", [0, 0, 1, 2, 2]), ("dynamic-update-slice", [0, 1, 2, 2]), ("tuple", [0, 0, 0]),
    ],
)  # fmt: skip
def test_repeated_operands_are_distributed_evenly(opcode: str, places: list[int]) -> None:
    operands = vocabulary().opcodes[opcode].operands
    assert [
        operand_position(operands, number, len(places)) for number in range(len(places))
    ] == places


def test_every_operand_has_a_description() -> None:
    for opcode in vocabulary().opcodes.values():
        for operand in opcode.operands:
            assert operand_description(operand.name, opcode.name), (
                f"{operand.name} of {opcode.name}"
            )
    assert operand_description("slice_start", "slice-done") == "The `slice-start` to wait for."
    assert operand_description("zorg", "add") == ""
