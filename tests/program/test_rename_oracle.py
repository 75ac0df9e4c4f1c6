"""Renaming in real modules: the graph is unchanged, and renaming back restores the text."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dumps import module_files
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import Place
from hlo_lsp.program.renaming import name_mentions, rename_places
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine
from hlo_lsp.text import disk

FRESH = "not_used.before-1"  # in none of the modules
SMALL = 300_000  # bytes of a module that is read for every example
Named = InstructionLine | ComputationLine
NewName = Callable[[str, ComputationLine | None], str]


def graph(file: DumpFile, name: NewName) -> list[Any]:
    """Everything a module says, with names put through a function.

    The function gets the computation of an instruction's name, and None for a computation's.
    """
    found = []
    for head in file.module.all_computations():
        members = [
            (
                name(item.name, head),
                item.shape,
                item.opcode,
                [name(operand, head) for operand in item.operands],
                [name(span.text, head) for span in item.parsed.predecessors],
                [name(called, None) for called in item.called],
                item.is_root,
            )
            for item in file.module.members(head)
        ]
        found.append((name(head.name, None), head.is_entry, members))
    return found


def put(file: DumpFile, places: list[Place], new: str) -> None:
    """Put a name in all places."""
    for place in reversed(places):
        file.changed(file.document.edit((place.line, place.start), (place.line, place.end), new))
    file.refresh()


def check(text: str, file: DumpFile, record: Named, at: int) -> None:
    """Rename from one of the places that name a record, compare, and rename back."""
    scope = file.module.computation_of(record) if isinstance(record, InstructionLine) else None
    definition = next(name_mentions(file, record)).place
    places = rename_places(file, definition.line, definition.start, FRESH)
    assert definition in places
    place = places[at % len(places)]
    assert rename_places(file, place.line, place.end, FRESH) == places
    old = record.name
    expected = graph(file, lambda name, head: FRESH if name == old and head is scope else name)
    changed = DumpFile.of_text(text)
    put(changed, places, FRESH)
    assert graph(changed, lambda name, _: name) == expected
    assert changed.document.text.count(FRESH) == len(places)
    put(changed, rename_places(changed, places[0].line, places[0].start, old), old)
    assert changed.document.text == text


@pytest.fixture(scope="module")
def modules(corpus_small: Path) -> list[Path]:
    paths = module_files(corpus_small)
    return [path for path in paths if path.stat().st_size < SMALL]


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_rename_changes_only_the_name(modules: list[Path], data: st.DataObject) -> None:
    path = modules[data.draw(st.integers(0, len(modules) - 1), "module")]
    text = disk.read_document(path).text
    file = DumpFile.of_text(text)
    instructions = sorted(file.module.instructions.records(), key=lambda record: record.line)
    records: list[Named] = [*instructions, *file.module.all_computations()]
    computations = st.integers(len(instructions), len(records) - 1)
    record = records[data.draw(st.integers(0, len(records) - 1) | computations, "name")]
    check(text, file, record, data.draw(st.integers(0, 9), "place"))


@pytest.mark.corpus
def test_most_used_names_round_trip(modules: list[Path]) -> None:
    for path in modules[::3]:
        text = disk.read_document(path).text
        file = DumpFile.of_text(text)
        users = [(len(record.operands), record) for record in file.module.instructions.records()]
        widest = max(users, key=lambda pair: pair[0])[1]
        found = next((item for item in file.module.operands(widest) if item is not None), widest)
        check(text, file, found, 1)
        called = file.module.computations.firsts()
        check(text, file, max(called, key=lambda head: len(file.module.callers(head))), 1)
