"""What a module needs, and whether the totals of a message agree."""

import pytest

from hlo_lsp.memory.oom_arithmetic import (
    corrections,
    mismatches,
    omits_outputs,
    requirement_of,
    was_device_full,
)
from hlo_lsp.model.oom_message import OomMessage
from oom_messages import GPU, LONG, NAMES, PROGRAM_LOAD, SHORT, dump, message, text_of


@pytest.mark.parametrize("name", NAMES)
def test_totals_of_compilers_agree(name: str) -> None:
    found = message(text_of(name))
    assert mismatches(found, requirement_of(found, None)) == []


def test_totals_agree_with_buffer_assignment() -> None:
    found = message(text_of(LONG))
    need = requirement_of(found, dump())
    assert mismatches(found, need) == []
    assert found.needed is not None
    assert need.needed is not None
    assert found.needed.matches(need.needed)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("usage >= 8.30G", "usage >= 9.30G", "Total usage 9.30G is not 258.00M + 6.75G + 1.29G"),
        ("global            1.00M", "global            1.00G",
         "Program requirement 6.75G is not 1.00G + 6.75G + 3.56M"),
        ("program           6.75G", "program           5.75G", "program 5.75G is not 6.75G"),
        ("Unpadded size: 4B", "Unpadded size: 4.00K",
         "entry 4: unpadded size exceeds the size"),
    ],
)  # fmt: skip
def test_contradiction_is_reported(old: str, new: str, problem: str) -> None:
    found = message(text_of(LONG).replace(old, new, 1))
    assert problem in mismatches(found, requirement_of(found, None))


@pytest.mark.parametrize(
    ("name", "omitted"),
    [
        ("libtpu_0.0.17.1_hbm", True),
        ("libtpu_0.0.37_hbm", True),
        ("libtpu_0.0.37_arguments", True),
        (LONG, False),
    ],
)
def test_old_compilers_omit_outputs(name: str, omitted: bool) -> None:
    assert omits_outputs(message(text_of(name))) == omitted


def test_need_includes_outputs() -> None:
    need = requirement_of(message(text_of("libtpu_0.0.37_hbm")), None)
    assert need.needed is not None
    assert need.needed / 2**30 == pytest.approx(14.00 + 1.86 + 15.97)


def test_temporaries_of_short_message_are_corrected() -> None:
    found = message(text_of(SHORT))
    (text,) = corrections(found, requirement_of(found, dump()))
    assert "includes arguments (1.29 GiB) and outputs (7.70 GiB)" in text


@pytest.mark.parametrize(
    ("text", "is_full"),
    [
        (GPU, True),
        (GPU.partition("\n")[0], False),
        (GPU.replace("12.00MiB", "12.00GiB"), False),
        (PROGRAM_LOAD, False),
        (text_of(LONG), False),
        (text_of("libtpu_0.0.37_single_allocation"), False),
    ],
)
def test_full_device_is_no_fault_of_program(text: str, is_full: bool) -> None:
    found: OomMessage = message(text)
    assert was_device_full(found, requirement_of(found, None)) == is_full


def test_need_includes_persistent_allocations() -> None:
    need = requirement_of(message(text_of("tpu_heap_allocations")), None)
    assert need.needed is not None
    assert need.is_minimum  # the output may be in the arguments
    assert need.needed / 2**30 == pytest.approx(4.34 + 5.06)


def test_total_with_unknown_row_is_not_compared() -> None:
    found = message(text_of(LONG).replace("reserved  ", "spilled + pinned  "))
    assert mismatches(found, requirement_of(found, None)) == []
