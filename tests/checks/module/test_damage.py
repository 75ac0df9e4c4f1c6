"""Tests that damage to a module is reported only in the affected computations."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checks.damage import findings
from faults.judge import failures_of_rules
from hlo_lsp.checks.framework.finding import Finding
from hlo_lsp.text import disk

pytestmark = pytest.mark.corpus

_NAMES = re.compile(r"[\w.\-]+")
# A name starts with a letter; a truncated row of a table, such as `1 {`, is no header.
_HEAD = re.compile(r"(?:ENTRY )?%?([A-Za-z_][\w.\-]*) .*\{$")
_INTERVAL = 13  # of the lines that are cut, which includes all kinds
_OF_TABLES = {"bad-stack-frame", "frame-cycle"}

MODULES = (
    "tpu_v5e/module_0092.jit_don.cl_1003875606.after_optimizations.txt",
    "cpu/module_0002.jit_while_fn.cpu_after_optimizations.txt",
    "gpu_h100/module_17913.jit_f.sm_9.0a_gpu_after_optimizations.txt",
    "gpu_h100_jax_0.4.38/module_0001.jit_f.before_optimizations.txt",
)


@pytest.fixture(scope="session", params=MODULES)
def lines(request: pytest.FixtureRequest, corpus_small: Path) -> list[str]:
    """Return the lines of a module."""
    return list(disk.read_document(corpus_small / request.param).lines)


@settings(derandomize=True, max_examples=15, deadline=None)
@given(data=st.data())
def test_findings_are_in_affected_computations(lines: list[str], data: st.DataObject) -> None:
    first = data.draw(st.integers(1, len(lines) - 1), "line")
    damage = data.draw(st.sampled_from(("delete", "duplicate", "swap", "truncate")), "damage")
    damaged = list(lines)
    touched = {first}
    if damage == "delete":
        del damaged[first]
    elif damage == "duplicate":
        damaged.insert(first, damaged[first])
    elif damage == "swap":
        second = data.draw(st.integers(1, len(lines) - 1), "other line")
        damaged[first], damaged[second] = damaged[second], damaged[first]
        touched.add(second)
    else:
        damaged[first] = lines[first][: data.draw(st.integers(0, len(lines[first])), "length")]
    allowed = _allowed(lines, touched)
    owners = _owners(damaged)
    with failures_of_rules() as failures:
        found = findings("\n".join(damaged))
    far = [
        (finding.code, finding.place.line + 1, finding.message)
        for finding in found
        if owners[finding.place.line] not in allowed and not _of_tables(finding, lines, touched)
    ]
    assert far == []
    assert failures == []


def _of_tables(finding: Finding, lines: list[str], touched: set[int]) -> bool:
    """Return whether the damage removes a row that frames or instructions refer to."""
    owners = _owners(lines)
    return finding.code in _OF_TABLES and any(owners[line] is None for line in touched)


def _allowed(lines: list[str], touched: set[int]) -> set[str | None]:
    """Return the computations of the touched and the adjacent lines, their callers, and the head.

    A missing header or brace affects the computation before or after it.
    """
    owners = _owners(lines)
    near = {
        owners[line] for at in touched for line in range(max(at - 2, 0), min(at + 3, len(lines)))
    }
    callers = {
        owner for line, owner in enumerate(owners)
        if owner is not None and not near.isdisjoint(_NAMES.findall(lines[line]))
    }  # fmt: skip
    return near | callers | {None}


def _owners(lines: list[str]) -> list[str | None]:
    """Return the computation of each line, from its indentation."""
    return list(_walk(lines))


def _walk(lines: list[str]) -> Iterator[str | None]:
    owner = None
    for line in lines:
        head = _HEAD.match(line)
        if head is not None:
            owner = head[1]
        yield owner
        if line.startswith("}"):
            owner = None


def test_instruction_cut_in_its_operands_is_reported_alone(lines: list[str]) -> None:
    """Check that users and callers of the instruction have no findings."""
    for number, line in list(enumerate(lines))[::_INTERVAL]:
        opened = line.find("(", line.find(" = "))
        if not line.startswith("  ") or opened < 0:
            continue
        damaged = [*lines[:number], line[: opened + 1], *lines[number + 1 :]]
        found = findings("\n".join(damaged))
        assert {one.place.line for one in found} == {number}, line
        assert {one.code for one in found} == {"syntax"}, line
