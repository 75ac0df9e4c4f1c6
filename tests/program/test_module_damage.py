"""Queries on damaged module texts: every query answers, and distant damage changes nothing."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlo_lsp.ide.cursor.lookup import cursor_target_at
from hlo_lsp.ide.hover.hover import hover_card
from hlo_lsp.ide.navigation.definitions import (
    declaration,
    definitions,
    implementations,
    innermost_python_line,
    type_definitions,
)
from hlo_lsp.ide.navigation.references import declarations_and_references
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.place import Place
from hlo_lsp.text import disk

MODULES = (
    "tpu_v5e/module_0018.jit_scan_fn.cl_1003875606.after_optimizations.txt",
    "tpu_v5e/module_0190.jit_f.cl_1003875606.before_optimizations.txt",
    "cpu/module_0018.jit_cond_fn.cpu_after_optimizations.txt",
    "gpu_h100/module_3323.jit_condp.sm_9.0a_gpu_after_optimizations.txt",
    "gpu_h100_jax_0.4.38/module_0020.jit_condp.sm_9.0_gpu_after_optimizations.txt",
)
_HEAD = re.compile(r"(?:ENTRY )?%?([\w.\-]+) .*\{$")
# What a card says of an instruction alone and of its own computation.
_OWN = {
    "description",
    "result",
    "logical size",
    "operands",
    "users",
    "completed by",
    "op_name",
    "literal",
}

Answers = dict[tuple[str, str], object]


@pytest.fixture(scope="session", params=MODULES)
def lines(request: pytest.FixtureRequest, corpus_small: Path) -> list[str]:
    """Return the lines of a module."""
    return list(disk.read_document(corpus_small / request.param).lines)


@pytest.fixture(scope="session")
def answers(lines: list[str]) -> Answers:
    """Return the results of all queries on the intact module."""
    return _query_results(DumpFile.of_text("\n".join(lines)))


@settings(derandomize=True, max_examples=60, deadline=None)
@given(data=st.data())
def test_distant_damage_changes_no_result(
    lines: list[str], answers: Answers, data: st.DataObject
) -> None:
    damaged, touched = data.draw(_damage(lines), "damage")
    file = DumpFile.of_text("\n".join(damaged))
    for _ in range(12):
        line = data.draw(st.integers(0, len(damaged) - 1), "line")
        column = data.draw(st.integers(0, len(damaged[line]) + 1), "column")
        _run_all_queries(DumpSet([file]), file, line, column)
    near = _affected_computations(lines, touched)
    after = _query_results(file)
    kept = {key: answer for key, answer in answers.items() if key[0] not in near}
    assert {key: after.get(key) for key in kept} == kept


def test_compared_results_are_not_empty(lines: list[str], answers: Answers) -> None:
    assert len(answers) == sum(" = " in line[:200] and line.startswith("  ") for line in lines)
    assert len({computation for computation, _ in answers}) > 2


@st.composite
def _damage(draw: st.DrawFn, lines: list[str]) -> tuple[list[str], set[int]]:
    """Return the lines after a damage, and the numbers of the damaged lines."""
    first = draw(st.integers(0, len(lines) - 1))
    kind = draw(st.sampled_from(("delete", "duplicate", "swap", "truncate")))
    damaged, touched = list(lines), {first}
    if kind == "delete":
        del damaged[first]
    elif kind == "duplicate":
        damaged.insert(first, damaged[first])
    elif kind == "swap":
        second = draw(st.integers(0, len(lines) - 1))
        damaged[first], damaged[second] = damaged[second], damaged[first]
        touched.add(second)
    else:
        damaged[first] = lines[first][: draw(st.integers(0, len(lines[first])))]
    # Without its first line a text is of no kind: nobody reads it as a module then.
    return ([lines[0], *damaged], touched) if 0 in touched else (damaged, touched)


def _affected_computations(lines: list[str], touched: set[int]) -> set[str]:
    """Return the computations that contain or adjoin the damaged lines."""
    owners = list(_owners(lines))
    around = {line for at in touched for line in range(max(at - 2, 0), min(at + 3, len(lines)))}
    return {owners[line] for line in around}


def _owners(lines: list[str]) -> Iterator[str]:
    owner = ""
    for line in lines:
        head = _HEAD.match(line)
        owner = owner if head is None else head[1]
        yield owner


def _query_results(file: DumpFile) -> Answers:
    """Return query results for every instruction, by computation and name."""
    dump = DumpSet([file])
    found: Answers = {}
    for head in file.module.all_computations():
        for member in file.module.members(head):
            about = cursor_target_at(file, member.line, member.parsed.name.start)
            assert about is not None
            card = hover_card(dump, about)
            assert card is not None
            own = {head.line, *(other.line for other in file.module.members(head))}
            # Without an op_name the card shows that of the data, which may be in a callee.
            labels = _OWN if "op_name=" in member.text else _OWN - {"op_name"}
            operands = []
            for span in member.parsed.operands:
                operand = cursor_target_at(file, member.line, span.start)
                assert operand is not None
                operands.append(_lines(definitions(dump, operand), own))
            declared, mentioned = declarations_and_references(dump, about)
            found.setdefault(
                (head.name, member.name),
                (
                    card.title,
                    [(fact.label, fact.text) for fact in card.facts if fact.label in labels],
                    _lines(definitions(dump, about), own),
                    operands,
                    _lines(declared, own),
                    _lines(mentioned, own),
                ),
            )
    return found


def _lines(places: list[Place], own: set[int]) -> list[tuple[str, int]]:
    return [(place.file.lines[place.line], place.start) for place in places if place.line in own]


def _run_all_queries(dump: DumpSet, file: DumpFile, line: int, column: int) -> None:
    found = cursor_target_at(file, line, column)
    if found is None:
        return
    hover_card(dump, found)
    declared, mentioned = declarations_and_references(dump, found)
    places = [
        found.place,
        *definitions(dump, found),
        *implementations(dump, found),
        *type_definitions(dump, found),
        *declared,
        *mentioned,
    ]
    for place in places:
        assert 0 <= place.start <= place.end <= len(place.file.lines[place.line])
    declaration(dump, found)
    innermost_python_line(dump, found)
