"""Instructions are printed as XLA prints them."""

import pytest

from hlo_lsp.protos.instructions import InstructionPrinter
from protos.messages import message

_CALLEES = 'computations { id: 7 name: "a" } computations { id: 8 name: "b" }'


def _text(instruction: str, operands: str = "", more: str = "") -> str:
    """Return the text of an instruction `%i = s32[] ...`."""
    module = message(
        "HloModuleProto",
        f'computations {{ id: 1 {operands} instructions {{ id: 9 name: "i"'
        f" shape {{ element_type: 4 }} {instruction} }} }} {_CALLEES} {more}",
    )
    return InstructionPrinter(module).text(module.computations[0].instructions[-1])


_PREDICATE = 'instructions { id: 2 name: "p" shape { element_type: 1 } }'
_NUMBER = 'instructions { id: 2 name: "p" shape { element_type: 4 } }'


@pytest.mark.parametrize(
    ("instruction", "expected"),
    [
        ('opcode: "while" called_computation_ids: [7, 8]', "while(), condition=%b, body=%a"),
        ('opcode: "call" called_computation_ids: 7', "call(), to_apply=%a"),
        (
            'opcode: "call" called_computation_ids: 7 is_composite: true',
            "call(), to_apply=%a, is_composite=true",
        ),
        (
            'opcode: "select-and-scatter" called_computation_ids: [7, 8]',
            "select-and-scatter(), select=%a, scatter=%b",
        ),
        ('opcode: "parameter" parameter_number: 3', "parameter(3)"),
        ('opcode: "constant"', "constant({...})"),
        ('opcode: "async-start" called_computation_ids: 7', "async-start(), calls=%a"),
        ('opcode: "async-done" called_computation_ids: 7', "async-done()"),
        ('opcode: "add" operand_ids: [5, 6]', "add(%missing.5, %missing.6)"),
        ('opcode: "add" sharding { type: 0 }', "add(), sharding={replicated}"),
        (
            'opcode: "add" frontend_attributes { map { key: "b" value: "1" }'
            ' map { key: "a" value: "{x}" } }',
            'add(), frontend_attributes={a={x},b="1"}',
        ),
        ('opcode: "add" control_predecessor_ids: 9', "add(), control-predecessors={%i}"),
        ('opcode: "add" metadata { op_name: "f" }', 'add(), metadata={op_name="f"}'),
        ('opcode: "add" metadata { source_line: 3 }', "add()"),
        ('opcode: "add" backend_config: "{\\"a\\":1}"', 'add(), backend_config={"a":1}'),
        ('opcode: "add" backend_config: "a\\"b"', r'add(), backend_config="a\"b"'),
        (
            'opcode: "exponential" result_accuracy { mode: 1 }',
            "exponential(), result_accuracy={mode=highest}",
        ),
        (
            'opcode: "add" original_value { elements { original_array { instruction_name: "x"'
            " shape_index: 1 } } }",
            'add(), origin={{"x" {1}}}',
        ),
        (
            'opcode: "add" original_value { elements { shape_index: 1'
            ' original_array { instruction_name: "x" } } }',
            'add(), origin={({}, {"x"})}',
        ),
    ],
)
def test_instructions(instruction: str, expected: str) -> None:
    assert _text(instruction) == f"%i = s32[] {expected}"


@pytest.mark.parametrize(
    "index", ["shape_index: 1000000000", "shape_index: 0 " * 1000], ids=["large", "long"]
)
def test_original_values_with_too_many_parts_are_omitted(index: str) -> None:
    text = _text(f'opcode: "add" original_value {{ elements {{ {index} }} }}')
    assert text == "%i = s32[] add(), origin={...}"


def test_branches_of_predicates_have_names() -> None:
    branch = 'opcode: "conditional" operand_ids: 2 called_computation_ids: [7, 8]'
    predicate = "conditional(%p), true_computation=%a, false_computation=%b"
    assert _text(branch, _PREDICATE) == f"%i = s32[] {predicate}"
    number = "conditional(%p), branch_computations={%a, %b}"
    assert _text(branch, _NUMBER) == f"%i = s32[] {number}"


def test_payloads_replace_backend_configs() -> None:
    by_id = 'opcode: "add" backend_config_payload { id: 1 }'
    payloads = 'payloads: "{}" payloads: "{\\"b\\":2}"'
    assert _text(by_id, more=payloads) == '%i = s32[] add(), backend_config={"b":2}'
    assert _text(by_id) == "%i = s32[] add()"
    inline = 'opcode: "add" backend_config_payload { value: "{}" }'
    assert _text(inline) == "%i = s32[] add(), backend_config={}"
