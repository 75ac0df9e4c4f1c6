"""Damaged messages name the damage, and keep what can be read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlo_lsp.protos.damage import parse
from protos.messages import HLO_PROTO, serialized

_DATA = serialized("HloProto", HLO_PROTO)
_NAME = serialized("HloModuleProto", 'name: "jit_f"')


def _counts(data: bytes) -> tuple[int, int]:
    """Return the numbers of instructions and allocations that can be read."""
    proto, _ = parse(data, "HloProto")
    computations = proto.hlo_module.computations
    return (
        sum(len(one.instructions) for one in computations),
        len(proto.buffer_assignment.buffer_allocations),
    )


def test_intact_messages_have_no_damage() -> None:
    proto, damage = parse(_DATA, "HloProto")
    assert damage is None
    assert proto.SerializeToString() == _DATA


@pytest.mark.parametrize("end", range(1, len(_DATA), 7))
def test_truncated_messages_keep_their_beginning(end: int) -> None:
    proto, damage = parse(_DATA[:end], "HloProto")
    assert damage is None or damage.offset < end
    assert _counts(_DATA[:end]) <= _counts(_DATA)
    assert proto.hlo_module.name in {"", "jit_f"}


def test_damage_names_its_field() -> None:
    start = _DATA.index(b"kLoop")
    _, damage = parse(_DATA[: start + 2], "HloProto")
    assert str(damage) == (
        f"byte {start - 2}, field HloProto.hlo_module.computations[1].instructions[1].fusion_kind:"
        " its length is 5 bytes, but 2 are left"
    )


def test_fields_after_a_damaged_message_are_kept() -> None:
    broken = b"\x12\x02\x0a\x7f"  # field 2 of a snapshot, a literal whose shape has 127 bytes
    data = b"\x0a" + bytes([len(_NAME) + 2]) + b"\x0a" + bytes([len(_NAME)]) + _NAME
    proto, damage = parse(data + broken + b"\x22\x03cpu", "HloSnapshot")
    assert damage is None or proto.execution_platform == "cpu"
    assert proto.hlo.hlo_module.name == "jit_f"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x0b", "unknown wire type 3"),
        (b"\x00\x00", "not a field"),
        (b"\x80\x80\x80\x80\x10\x00", "not a field"),
        (b"\x08" + b"\xff" * 11, "the number has no end"),
        (b"\x80", "the number has no end"),
    ],
)
def test_reasons(data: bytes, reason: str) -> None:
    _, damage = parse(data, "HloModuleProto")
    assert damage is not None
    assert (damage.offset, damage.reason) == (0, reason)


@given(st.binary(max_size=200))
def test_any_bytes_can_be_read(data: bytes) -> None:
    _, damage = parse(data, "HloProto")
    assert damage is None or 0 <= damage.offset < len(data)


@given(st.integers(0, len(_DATA) - 1), st.integers(0, 255))
def test_any_wrong_byte_can_be_read(place: int, value: int) -> None:
    data = bytearray(_DATA)
    data[place] = value
    _, damage = parse(bytes(data), "HloProto")
    assert damage is None or 0 <= damage.offset <= len(data)
