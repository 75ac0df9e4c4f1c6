"""Tests for ``inspect`` on every value of every dump, compared with the printed facts."""

from pathlib import Path
from typing import Any

import pytest

from dumps import files_of
from hlo_lsp.ide.inspection import dump_json
from hlo_lsp.syntax.file_kinds import FileKind
from oracles.compiles import FOLDERS, GENERATIONS, L24, compiles_of
from oracles.printed import AssignedValue, Entry, PrintedFacts

pytestmark = pytest.mark.corpus


def test_all_corpus_folders_are_listed(
    corpus_small: Path, corpus_generations: Path, train_l24: Path
) -> None:
    small = {path.name for path in corpus_small.iterdir()}
    assert {path.name for path in corpus_generations.iterdir()} == set(GENERATIONS)
    assert small | set(GENERATIONS) | {L24} == set(FOLDERS)
    assert train_l24.name == L24


def test_all_compiles_are_covered(folder: Path) -> None:
    compiles = compiles_of(folder)
    paths = {file.path for compile_ in compiles for file in compile_.dump.files}
    memory = {path for path in files_of(folder) if path.name.endswith(_MEMORY_SUFFIXES)}
    assert memory <= paths
    assert all(compile_.printed.assigned for compile_ in compiles)


_MEMORY_SUFFIXES = (
    "-buffer-assignment.txt",
    "-buffer-assignment-values.txt",
    "-live-range.txt",
    "-memory-usage-report.txt",
)


def test_inspect_matches_printed_facts(folder: Path) -> None:
    for compile_ in compiles_of(folder):
        file = next(f for f in compile_.dump.files if f.kind is FileKind.ASSIGNMENT)
        facts = dump_json(compile_.dump, file)
        printed = compile_.printed
        values = {value["id"]: value for value in facts["values"]}
        assert values.keys() == printed.assigned.keys() | printed.entries.keys()
        for value_id, value in values.items():
            expected = _expected(printed, printed.assigned[value_id], printed.entries.get(value_id))
            assert {key: value[key] for key in expected} == expected
        assert facts["total_bytes"] == printed.total
        assert facts["live_ranges"] == {
            "max": printed.last_step,
            "declared_peak": printed.peak_step,
        }
        assert {entry["number"]: entry["size"] for entry in facts["allocations"]} == {
            number: size for number, (size, _) in printed.allocations.items()
        }
        assert {entry["number"]: entry["values"] for entry in facts["allocations"]} == {
            number: [v.id for v in printed.assigned.values() if v.allocation == number]
            for number in printed.allocations
        }


def _expected(
    printed: PrintedFacts, assigned: AssignedValue, entry: Entry | None
) -> dict[str, Any]:
    start, end, _ = printed.ranges.get(assigned.key, (None, None, None))
    peak = None
    if start is not None and end is not None and printed.peak_step is not None:
        peak = start <= printed.peak_step <= end
    return {
        "kind": "value",
        "id": assigned.id,
        "name": assigned.name,
        "index": assigned.index,
        "phi": assigned.phi,
        "shape": assigned.shape,
        "size": assigned.size,
        "offset": assigned.offset,
        "allocation": assigned.allocation,
        "memory_space": assigned.color,
        "live_range": None if start is None else [start, end],
        "at_declared_peak": peak,
        "defined_by": assigned.name,
        "positions": None
        if entry is None
        else [{"instruction": row.name, "index": row.index} for row in entry.positions],
        "uses": None
        if entry is None
        else [
            {"instruction": row.name, "operand": row.operand, "index": row.index}
            for row in entry.uses
        ],
        "path": str(assigned.spot.path),
        "line": assigned.spot.line + 1,
    }
