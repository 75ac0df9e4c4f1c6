"""Protos become the files that XLA prints for the same module."""

import random
from typing import Any

import pytest

from hlo_lsp.protos import conversion
from hlo_lsp.protos.conversion import convert
from hlo_lsp.protos.damage import Damage, parse
from protos.messages import (
    ASSIGNMENT,
    ASSIGNMENT_TEXT,
    HLO_PROTO,
    MODULE,
    MODULE_TEXT,
    message,
    serialized,
)

_LIVE_RANGES = """\
HloLiveRange (max 3):
  InstructionSequence:
    0:x
    1:fusion
    2:copy
  BufferLiveRange:
    x{}:0-3
    fusion{}:1-2
    copy{}:2-3
  Live ranges at 2 (peak):
    copy{}: 16 bytes (cumulative: 16 bytes)
    fusion{}: 16 bytes (cumulative: 32 bytes)
    x{}: 16 bytes (cumulative: 48 bytes)
  Stack trace breakdown for peak usage: 48 bytes
    main (100.0%, total: 48 bytes, current: 0 bytes, remaining: 48 bytes)
      ├── copy (33.3%, total: 16 bytes, current: 16 bytes, remaining: 32 bytes)
      ├── jit(f)/neg (33.3%, total: 16 bytes, current: 16 bytes, remaining: 16 bytes)
      └── x (33.3%, total: 16 bytes, current: 16 bytes, remaining: 0 bytes)
"""


_ALLOCATION = """
buffer_allocations {
  index: 0 size: 16 is_entry_computation_parameter: true
  assigned { logical_buffer_id: 0 size: 16 }
}
"""


def _sections(kind: str, text: str, name: str = "m.hlo.pb") -> dict[str, str]:
    converted = convert(serialized(kind, text), name)
    assert converted is not None
    return {one.name: "\n".join(one.lines) for one in converted.sections}


def test_modules_with_buffer_assignments() -> None:
    assert _sections("HloProto", HLO_PROTO) == {
        "m.txt": MODULE_TEXT,
        "m-buffer-assignment.txt": ASSIGNMENT_TEXT,
        "m-live-range.txt": _LIVE_RANGES,
    }


def test_snapshots() -> None:
    text = f'hlo {{ hlo_module {{ {MODULE} }} }} execution_platform: "cpu"'
    assert _sections("HloSnapshot", text, "m.snapshot.1.pb") == {"m.snapshot.1.txt": MODULE_TEXT}


def test_buffer_assignments_without_modules() -> None:
    (text,) = _sections("BufferAssignmentProto", ASSIGNMENT, "jax.pb").values()
    assert " value: <0 id.21 @0> (size=16,offset=0): opaque[]\n" in text
    assert "parameter 0, shape |<unknown shape>| at ShapeIndex {}:" in text


def test_notes_say_what_is_missing() -> None:
    converted = convert(serialized("HloProto", HLO_PROTO), "m.hlo.pb")
    assert converted is not None
    assert converted.notes == [
        "m.hlo.pb: HloProto, converted to the text that XLA prints for it.",
        "Not in the proto: the numbers of replicas and partitions, and the flags for sharding"
        " propagation.",
        "Not in the proto: used values, the memory report, and the pages of allocations.",
    ]


def test_deep_calls_have_live_ranges() -> None:
    depth = 1200  # Python permits 1,000 nested calls
    shape = "shape { element_type: 11 dimensions: 4 layout { minor_to_major: 0 } }"
    computations, sequences = [], []
    for number in range(1, depth + 1):
        callee = f"called_computation_ids: {number + 1}" if number < depth else ""
        opcode = "call" if callee else "negate"
        computations.append(
            f'computations {{ name: "c{number}" id: {number} root_id: {number}1'
            f' instructions {{ name: "p{number}" opcode: "parameter" id: {number}0 {shape} }}'
            f' instructions {{ name: "n{number}" opcode: "{opcode}" id: {number}1'
            f" operand_ids: {number}0 {callee} {shape} }} }}"
        )
        ids = f"instruction_ids: {number}0 instruction_ids: {number}1"
        sequences.append(f"sequences {{ key: {number} value {{ {ids} }} }}")
    module = (
        f'name: "m" entry_computation_id: 1 {" ".join(computations)}'
        f" schedule {{ {' '.join(sequences)} }}"
    )
    values = "logical_buffers { id: 0 size: 16 defined_at { instruction_id: 10 } }"
    text = f"hlo_module {{ {module} }} buffer_assignment {{ {values} {_ALLOCATION} }}"
    lines = _sections("HloProto", text)["m-live-range.txt"].split("\n")
    assert lines[0] == f"HloLiveRange (max {2 * depth}):"
    assert lines[-1] == ""


def test_unscheduled_modules_have_no_live_ranges() -> None:
    unscheduled = MODULE[: MODULE.index("schedule {")]
    text = f"hlo_module {{ {unscheduled} }} buffer_assignment {{ {ASSIGNMENT} }}"
    assert list(_sections("HloProto", text)) == ["m.txt", "m-buffer-assignment.txt"]


@pytest.mark.parametrize("data", [b"", b"\x08\x01", b"\x0a\x03abc", b"text"])
def test_other_messages_are_not_converted(data: bytes) -> None:
    assert convert(data, "m.pb") is None


def test_instructions_without_content_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    decoded: list[str] = []

    def parse_and_note(data: bytes, kind: str) -> tuple[Any, Damage | None]:
        decoded.append(kind)
        return parse(data, kind)

    monkeypatch.setattr(conversion, "parse", parse_and_note)
    instructions = b"\x12\x00" * 10_000
    computation = b"\x1a\xa0\x9c\x01" + instructions
    for data in (computation, b"\x0a\xa4\x9c\x01" + computation):
        assert convert(data, "m.hlo.pb") is None
    assert decoded == ["HloProto"]  # of the first one, which has no instructions as this type


def test_damaged_sections_have_no_end() -> None:
    data = serialized("HloProto", HLO_PROTO)
    converted = convert(data[:-3], "m.hlo.pb")
    assert converted is not None
    assert converted.damage is not None
    assert ".buffer_assignment.buffer_allocations[2]" in converted.damage
    assert not any(section.is_whole for section in converted.sections)


def test_wrong_bytes_never_stop_the_conversion() -> None:
    data = serialized("HloProto", HLO_PROTO)
    generator = random.Random(1)
    for _ in range(500):
        wrong = bytearray(data)
        for _ in range(generator.randrange(1, 4)):
            wrong[generator.randrange(len(data))] = generator.randrange(256)
        convert(bytes(wrong), "m.hlo.pb")


def test_ids_of_missing_instructions_are_names() -> None:
    text = f"hlo_module {{ {MODULE} }} buffer_assignment {{ {ASSIGNMENT} }}"
    proto = message("HloProto", text)
    del proto.hlo_module.computations[1].instructions[2]
    converted = convert(proto.SerializeToString(), "m.hlo.pb")
    assert converted is not None
    assert " value: <2 id.23 @0> (size=16,offset=0): opaque[]" in converted.sections[1].lines
