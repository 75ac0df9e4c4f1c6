"""Tests for the granule of tuple tables on TPU, which most tuples of a dump determine."""

import pytest

from checks.damage import reports


def _dump(*sizes: int, arity: int = 3) -> str:
    shape = f"({', '.join(['f32[8,128]{1,0:T(8,128)}'] * arity)})"
    values = "".join(
        f" value: <{number} t.{number}{{}} @0> (size={size},offset=0): {shape}\n"
        for number, size in enumerate(sizes)
    )
    return f"BufferAssignment:\nallocation 0: size 99999, preallocated-temp:\n{values}"


def _reported_values(text: str) -> list[str]:
    """Return the values whose sizes are reported."""
    reported = reports(text)
    assert {code for code, _, _ in reported} <= {"size-mismatch"}
    return [place.split("{}")[0].split()[-1] for _, place, _ in reported]


@pytest.mark.parametrize("granule", [32, 512, 1024])
def test_one_damaged_tuple_is_reported_alone(granule: int) -> None:
    for damaged in (4, 32, 48, 512, 1024, 4096):
        if damaged != granule:
            assert _reported_values(_dump(granule, damaged, granule)) == ["t.1"]
            assert _reported_values(_dump(damaged, granule, granule)) == ["t.0"]


def test_two_damaged_tuples_leave_three_unreported() -> None:
    assert _reported_values(_dump(512, 32, 512, 32, 512)) == ["t.1", "t.3"]
    assert _reported_values(_dump(32, 512, 32, 1024, 32)) == ["t.1", "t.3"]


def test_single_tuple_may_have_any_known_size() -> None:
    for size in (32, 512, 1024):
        assert _reported_values(_dump(size)) == []
    for size in (12, 16, 31, 64, 2048):
        assert _reported_values(_dump(size)) == ["t.0"]


def test_message_names_the_granule(sample: str) -> None:
    text = sample.replace("<65 copy-start.1{} @0> (size=32,", "<65 copy-start.1{} @0> (size=31,")
    ((_, _, sentence),) = reports(text)
    assert sentence == (
        "size is 31 B, but the shape takes 32 B: "
        "a table of 4-byte pointers, rounded up to 32 B on this chip"
    )


def test_large_tuple_has_several_granules() -> None:
    # 4 x 200 bytes, rounded up to 32 and to 512.
    assert _reported_values(_dump(800, 800, 1024, arity=200)) == ["t.2"]
    assert _reported_values(_dump(1024, 1024, 800, arity=200)) == ["t.2"]


def test_sparse_core_has_no_tuple_tables() -> None:
    head = "allocation 1: size 0, color 7, preallocated-temp:\n"
    last = " value: <2 t.2{} @"
    text = _dump(32, 32, 32).replace(f"{last}0> (size=32", f"{head}{last}7> (size=0")
    assert _reported_values(text) == []
    assert _reported_values(text.replace("(size=0", "(size=32")) == ["t.2"]
