"""Comparable snapshots of files."""

from collections.abc import Iterator
from itertools import chain
from typing import Any

from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.memory_index import MemoryIndex, MultiMap
from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.syntax.records import Record
from hlo_lsp.syntax.used_value import UsedValue

_PLACE = {"block", "start", "reader", "holder", "home", "caller"}


def snapshot(file: DumpFile) -> dict[str, object]:
    """Return kind, records and all indexes of a file."""
    return {
        "kind": file.kind,
        **{f"record {place}": view(record) for place, record in enumerate(file.records)},
        **{f"memory.{name}": part for name, part in _memory(file.memory)},
        **{f"module.{name}": part for name, part in _module(file.module)},
    }


def differences(found: DumpFile, expected: DumpFile) -> list[str]:
    """Return the first differences of two files."""
    one, other = snapshot(found), snapshot(expected)
    names = [name for name in {**one, **other} if one.get(name) != other.get(name)]
    return [f"{name}: {one.get(name)} instead of {other.get(name)}" for name in names[:5]]


def fresh(file: DumpFile) -> DumpFile:
    """Return a fresh file of the same text."""
    return DumpFile.of_text(file.document.text)


def view(record: Record) -> tuple[object, ...]:
    """Return the position and the fields of a record."""
    slots = [
        name
        for kind in type(record).__mro__
        for name in getattr(kind, "__slots__", ())
        if name not in _PLACE
    ]
    held = tuple((name, _held(getattr(record, name))) for name in slots)
    said = _of_entry(record) if isinstance(record, UsedValue) else ()
    return type(record).__name__, record.line, record.line_count, held, *said


def _held(part: object) -> object:
    """Return a comparable form of a field of a record."""
    if isinstance(part, tuple):
        return tuple(view(inner) if isinstance(inner, Record) else inner for inner in part)
    return part


def _of_entry(entry: UsedValue) -> tuple[object, ...]:
    rows = list(entry.positions), list(entry.uses)
    return entry.key, *rows, entry.row_names(), entry.instruction, list(entry.problems())


def _memory(index: MemoryIndex) -> Iterator[tuple[str, object]]:
    for name, part in vars(index).items():
        if isinstance(part, MultiMap):
            yield name, _lines(part)
    yield "damaged", sorted(record.line for record in index.damaged)
    yield "tuple_sizes", dict(index.tuple_sizes)
    yield "tiled_values", index.tiled_values
    yield "positions", _lines(index.rows.positions)
    yield "uses", _lines(index.rows.uses)


def _module(index: ModuleIndex) -> Iterator[tuple[str, object]]:
    for name, part in vars(index).items():
        if isinstance(part, MultiMap) and name != "_callers":  # found on request: see below
            yield name, _lines(part)
    yield (
        "mentions",
        {name: [user.line for user in index.mentioning(name)] for name in _names(index)},
    )
    yield "damaged", sorted((record.line, name) for record, name in index.damaged.items())
    yield (
        "computations",
        {
            head.line: (
                [member.line for member in index.members(head)],
                [caller.line for caller in index.callers(head)],
                sorted(index.computation(head).parameters),
            )
            for head in index.all_computations()
        },
    )
    yield (
        "users",
        sorted(
            (record.line, [user.line for user in index.users(record)])
            for record in index.instructions.records()
        ),
    )
    tables = index.tables
    yield "tables.files", tables.files
    yield "tables.functions", tables.functions
    yield "tables.locations", [row.line for row in tables.locations]
    yield "tables.frames", [row.line for row in tables.frames]


def _names(index: ModuleIndex) -> list[str]:
    return [*index.instructions, *index.computations]


def _lines(records: MultiMap[Any, Any]) -> dict[object, list[int]]:
    """Return the lines of the records of each key."""
    lines = {key: [record.line for record in records.all(key)] for key in records}
    firsts = {key: first.line for key in records if (first := records.first(key)) is not None}
    assert firsts == {key: places[0] for key, places in lines.items()}
    assert sorted(record.line for record in records.firsts()) == sorted(firsts.values())
    assert sorted(record.line for record in records.records()) == sorted(chain(*lines.values()))
    assert len(records) == len(lines)
    return lines
