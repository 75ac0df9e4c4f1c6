"""Tests for definitions from every row of every dump.

The definition of a mention of a value is its entry under ``Used values``, and that of the header of
the entry is the line of the value in its allocation. Both headers have the instruction in the
module text as second definition. The definition of an instruction is the entry of its value at the
printed index (by default ``{}``), otherwise its module line, otherwise its schedule row.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from hlo_lsp.ide.cursor.find_target import cursor_target_at
from hlo_lsp.ide.navigation.definitions import (
    declaration,
    definitions,
    type_definitions,
)
from hlo_lsp.model.place import Place
from oracles.compiles import CorpusCompile, compiles_of, on_typical_folders, sample
from oracles.operands import operand_names
from oracles.printed import PrintedFacts, Spot

pytestmark = pytest.mark.corpus

_Target = tuple[Path, int] | None


@on_typical_folders
def test_definition_of_every_position_and_use_row(folder: Path) -> None:
    for compile_ in compiles_of(folder):
        printed = compile_.printed
        wrong = [
            compile_.text(row.spot)
            for entry in sample(printed.entries.values())
            for row in (*entry.positions, *entry.uses)
            if _definition(compile_, row.spot)
            != _expected_of_instruction(printed, row.name, row.index)
        ]
        assert wrong == []


@on_typical_folders
def test_definitions_of_every_value_line_and_entry_header(folder: Path) -> None:
    for compile_ in compiles_of(folder):
        printed = compile_.printed
        for value in sample(printed.assigned.values()):
            instruction = printed.instructions.get(value.name)
            entry = printed.entries.get(value.id)
            entry_spot = value.spot if entry is None else entry.spot
            found = _definitions(compile_, value.spot)
            assert found == [_line(instruction or entry_spot)]
            if entry is not None:
                found = _definitions(compile_, entry.spot)
                assert found == [_line(instruction or value.spot)]


@on_typical_folders
def test_definition_of_every_live_range_row(folder: Path) -> None:
    for compile_ in compiles_of(folder):
        for key, (_, _, spot) in compile_.printed.ranges.items():
            assert _definition(compile_, spot) == _expected_of_value(compile_.printed, key)


def test_definition_of_every_peak_row(folder: Path) -> None:
    for compile_ in compiles_of(folder):
        for row in compile_.printed.peak:
            assert _definition(compile_, row.spot) == _expected_of_value(
                compile_.printed, row.key
            ), row


def test_definition_of_every_schedule_row(folder: Path) -> None:
    for compile_ in compiles_of(folder):
        for name, (_, spot) in compile_.printed.schedule.items():
            assert _definition(compile_, spot) == _expected_of_instruction(
                compile_.printed, name, None
            )


@on_typical_folders
def test_definition_of_operands_in_first_printed_instructions(folder: Path) -> None:
    """XLA repeats the text after ``from instruction:`` per leaf; each distinct text counts once."""
    for compile_ in compiles_of(folder):
        for spot, name in _operands(compile_):
            assert _definition(compile_, spot) == _expected_of_instruction(
                compile_.printed, name, None
            ), name


@on_typical_folders
def test_declaration_of_every_value_is_its_allocation(folder: Path) -> None:
    for compile_ in compiles_of(folder):
        printed = compile_.printed
        for value in sample(printed.assigned.values()):
            entry = printed.entries.get(value.id)
            allocation = _line(printed.allocations[value.allocation][1])
            for spot in (value.spot, None if entry is None else entry.spot):
                if spot is not None:
                    found = cursor_target_at(compile_.file(spot.path), spot.line, spot.column)
                    assert found is not None
                    assert _place(declaration(compile_.dump, found)) == allocation


@on_typical_folders
def test_type_definition_of_every_position_row(folder: Path) -> None:
    for compile_ in compiles_of(folder):
        for entry in sample(compile_.printed.entries.values()):
            for row in entry.positions:
                found = cursor_target_at(
                    compile_.file(row.spot.path), row.spot.line, row.spot.column
                )
                assert found is not None
                found_types = type_definitions(compile_.dump, found)
                assert list(map(_place, found_types)) == [_line(entry.spot)]


def _definition(compile_: CorpusCompile, spot: Spot) -> _Target:
    found = cursor_target_at(compile_.file(spot.path), spot.line, spot.column)
    return None if found is None else _place(next(iter(definitions(compile_.dump, found)), None))


def _definitions(compile_: CorpusCompile, spot: Spot) -> list[_Target]:
    found = cursor_target_at(compile_.file(spot.path), spot.line, spot.column)
    assert found is not None
    return list(map(_place, definitions(compile_.dump, found)))


def _place(place: Place | None) -> _Target:
    return None if place is None or place.file.path is None else (place.file.path, place.line)


def _line(spot: Spot) -> tuple[Path, int]:
    return spot.path, spot.line


def _expected_of_value(printed: PrintedFacts, key: str) -> _Target:
    value = printed.entry_by_key.get(key) or printed.assigned_by_key.get(key)
    return None if value is None else _line(value.spot)


def _expected_of_instruction(
    printed: PrintedFacts, name: str, index: str | None
) -> tuple[Path, int]:
    entry = printed.entry_by_key.get(name + (index or "{}"))
    if entry is not None:
        return _line(entry.spot)
    if name in printed.instructions:
        return _line(printed.instructions[name])
    return _line(printed.schedule[name][1])  # Every instruction of a real dump has one of these.


def _operands(compile_: CorpusCompile) -> Iterator[tuple[Spot, str]]:
    """Yield the operand names of each distinct instruction."""
    instructions = set()
    for entry in compile_.printed.entries.values():
        if entry.instruction in instructions:
            continue
        instructions.add(entry.instruction)
        line = compile_.file(entry.spot.path).lines[entry.instruction_line]
        for name, column in operand_names(line):
            yield Spot(entry.spot.path, entry.instruction_line, column), name
