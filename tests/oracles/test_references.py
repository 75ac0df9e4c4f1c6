"""Tests for the references of a value, which are exactly its printed rows.

The module text contributes the defining instruction and the operands of its uses. Report rows print
no names and are tested in test_report_rows.py.
"""

import re
from pathlib import Path

import pytest

from hlo_lsp.ide.cursor.find_target import cursor_target_at
from hlo_lsp.ide.navigation.references import declarations_and_references
from hlo_lsp.model.place import Place
from hlo_lsp.syntax.file_kinds import FileKind
from oracles.compiles import CorpusCompile, compiles_of, on_typical_folders, sample
from oracles.operands import operand_names
from oracles.printed import AssignedValue, PrintedFacts, Row, Spot

pytestmark = pytest.mark.corpus

_NAME = re.compile(r"%([\w.\-]+)")
_PARAMETER = re.compile(r"([\w.\-]+): ")  # in the head of a computation
# Module text up to jax 0.4 has no %. There, a name is a word that is no type, opcode, or attribute.
_WORD = re.compile(r'"[^"]*"|(?<![\w.\-])([A-Za-z_][\w.\-]*)(?![\w.\-(=\[])')


@on_typical_folders
def test_references_of_value_are_its_rows(folder: Path) -> None:
    for compile_ in compiles_of(folder):
        printed = compile_.printed
        for value in sample(printed.assigned.values()):
            expected = _declared(printed, value), _mentioned(compile_, value)
            entry, live_range = printed.entries.get(value.id), printed.ranges.get(value.key)
            spots = [value.spot]
            spots += [] if entry is None else [entry.spot]
            spots += [] if live_range is None else [live_range[2]]
            for spot in spots:
                assert _references(compile_, spot) == expected, compile_.text(spot)


@on_typical_folders
def test_references_of_instruction_are_matching_lines(folder: Path) -> None:
    for compile_ in compiles_of(folder):
        lines = _lines_by_name(compile_)
        entries = {entry.name: entry for entry in reversed(compile_.printed.entries.values())}
        for name, entry in sorted(entries.items(), key=lambda item: item[1].id)[:400]:
            declared, mentioned = _references(compile_, entry.positions[0].spot)
            assert {spot[:2] for spot in (*declared, *mentioned)} == lines[name], name


def _references(compile_: CorpusCompile, spot: Spot) -> tuple[list[Spot], list[Spot]]:
    found = cursor_target_at(compile_.file(spot.path), spot.line, spot.column)
    assert found is not None
    declared, mentioned = declarations_and_references(compile_.dump, found)
    mentioned = [place for place in mentioned if place.file.kind is not FileKind.REPORT]
    return sorted(map(_spot, declared)), sorted(map(_spot, mentioned))


def _spot(place: Place) -> Spot:
    assert place.file.path is not None
    return Spot(place.file.path, place.line, place.start)


def _declared(printed: PrintedFacts, value: AssignedValue) -> list[Spot]:
    entry = printed.entries.get(value.id)
    line = printed.instructions.get(value.name)
    spots = (value.spot, None if entry is None else entry.spot, line)
    return sorted(spot for spot in spots if spot is not None)


def _mentioned(compile_: CorpusCompile, value: AssignedValue) -> list[Spot]:
    printed = compile_.printed
    spots = [row.spot for row in printed.peak if row.key == value.key]
    if value.key in printed.ranges:
        spots.append(printed.ranges[value.key][2])
    entry = printed.entries.get(value.id)
    if entry is not None:
        spots += [row.spot for row in (*entry.positions, *entry.uses)]
        spots += {_operand(compile_, row) for row in entry.uses if row.name in printed.instructions}
    return sorted(spots)


def _operand(compile_: CorpusCompile, use: Row) -> Spot:
    """Return the place of the operand of a use in the module text."""
    assert use.operand is not None
    spot = compile_.printed.instructions[use.name]
    line = compile_.file(spot.path).lines[spot.line]
    return Spot(spot.path, spot.line, operand_names(line)[use.operand][1])


def _lines_by_name(compile_: CorpusCompile) -> dict[str, set[tuple[Path, int]]]:
    """Return the lines that name each instruction."""
    printed = compile_.printed
    named = [(key.partition("{")[0], spot) for key, (_, _, spot) in printed.ranges.items()]
    named += [(name, spot) for name, (_, spot) in printed.schedule.items()]
    named += [(row.name, row.spot) for row in printed.peak]
    for entry in printed.entries.values():
        named += [(entry.name, entry.spot), (entry.name, printed.assigned[entry.id].spot)]
        named += [(row.name, row.spot) for row in (*entry.positions, *entry.uses)]
    for spot in printed.instructions.values():
        line = compile_.file(spot.path).lines[spot.line]
        named += [(name, spot) for name in (_NAME if " %" in line else _WORD).findall(line)]
    for path in {spot.path for spot in printed.instructions.values()}:
        for number, line in enumerate(compile_.file(path).lines):
            if line[:1] not in {"", " "} and line.endswith("{"):
                head = Spot(path, number, 0)
                named += [(name, head) for name in _PARAMETER.findall(line)]
    lines: dict[str, set[tuple[Path, int]]] = {}
    for name, spot in named:
        lines.setdefault(name, set()).add((spot.path, spot.line))
    return lines
