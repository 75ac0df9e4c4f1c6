"""Tests for the operation and Python line of every value."""

import re
from pathlib import Path
from typing import Any

import pytest

from hlo_lsp.ide.cursor.find_target import cursor_target_at
from hlo_lsp.ide.inspection import value_json
from hlo_lsp.ide.navigation.definitions import definitions, innermost_python_line
from oracles.compiles import CorpusCompile, compiles_of

pytestmark = pytest.mark.corpus

_METADATA = re.compile(r', metadata=\{((?:"(?:[^"\\]|\\.)*"|[^"{}])*)\}')
_OP_NAME = re.compile(r'op_name="((?:[^"\\]|\\.)*)"')
_SOURCE = re.compile(r'source_file="([^"]*)".* source_line=(\d+)')
_FRAME = re.compile(r"stack_frame_id=(\d+)")
_TABLES = ("FileNames", "FunctionNames", "FileLocations", "StackFrames")


def test_values_have_printed_op_names_and_sources(folder: Path) -> None:
    for compile_ in compiles_of(folder):
        tables = _tables(compile_)
        for entry in compile_.printed.entries.values():
            value = compile_.dump.value(entry.id)
            assert value is not None
            facts = value_json(compile_.dump, value)
            if _is_library_call(entry.instruction):
                continue
            if facts["metadata_from"] in {None, value.name}:  # else of what produced the data
                expected = _expected(entry.instruction, tables)
                assert {key: facts[key] for key in expected} == expected, entry.instruction


def test_values_resolve_to_their_python_lines(folder: Path) -> None:
    """Go to the definition in the assignment, then to the implementation in the module text."""
    for compile_ in compiles_of(folder):
        tables = _tables(compile_)
        for value in compile_.printed.assigned.values():
            entry = compile_.printed.entries.get(value.id)
            if entry is None or value.name not in compile_.printed.instructions:
                continue
            expected = _expected(entry.instruction, tables)["source"]
            if expected is None or _is_library_call(entry.instruction):
                continue  # it has the line of what produced its data
            assignment = compile_.file(value.spot.path)
            found = cursor_target_at(assignment, value.spot.line, value.spot.column)
            assert found is not None
            there = definitions(compile_.dump, found)[-1]
            instruction = cursor_target_at(there.file, there.line, there.start)
            assert instruction is not None
            line = innermost_python_line(compile_.dump, instruction)
            facts = None if line is None else {"file": line.file, "line": line.line}
            assert facts == expected


def _is_library_call(instruction: str) -> bool:
    """Return whether an instruction is a fusion with the metadata of another operation in it."""
    return "__ynn_fusion" in instruction


def _tables(compile_: CorpusCompile) -> dict[str, list[str]]:
    """Return the rows of the four location tables, without their numbers."""
    tables: dict[str, list[str]] = {name: [] for name in _TABLES}
    rows: list[str] = []
    spot = next(iter(compile_.printed.instructions.values()), None)
    for line in [] if spot is None else compile_.file(spot.path).lines[: spot.line]:
        if line in tables:
            rows = tables[line]
        elif line[:1].isdigit():
            rows.append(line.split(" ", 1)[1])
    return tables


def _expected(instruction: str, tables: dict[str, list[str]]) -> dict[str, Any]:
    found = _METADATA.search(instruction)
    metadata = "" if found is None else found[1]
    op_name, source = _OP_NAME.search(metadata), _SOURCE.search(metadata)
    frame = _FRAME.search(metadata)
    expected: dict[str, Any] = {"op_name": None, "source": None}
    if op_name is not None:
        expected["op_name"] = op_name[1].replace("\\'", "'").replace('\\"', '"')
    if source is not None:
        expected["source"] = {"file": source[1], "line": int(source[2])}
    elif frame is not None and tables["StackFrames"]:
        location = _number(tables["StackFrames"][int(frame[1]) - 1], "file_location_id")
        row = tables["FileLocations"][location - 1]
        file = tables["FileNames"][_number(row, "file_name_id") - 1]
        expected["source"] = {"file": file.strip('"'), "line": _number(row, "line")}
    return expected


def _number(row: str, key: str) -> int:
    return int(re.split(rf"[{{ ]{key}=", row)[1].split(" ")[0].rstrip("}"))
