"""Tests that all views give an instruction the same Python line, operation, and phase."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest

from hlo_lsp.ide.hover.instructions import instruction_card
from hlo_lsp.ide.inlay_hints import HintKind, hints
from hlo_lsp.ide.inspection import instruction_json
from hlo_lsp.model.compile import Compile
from hlo_lsp.program.instruction_owners import InstructionFacts, instruction_facts
from hlo_lsp.program.schedule import scheduled_instructions
from hlo_lsp.reports.kernels import kernel_table
from oracles.compiles import compiles_of, on_typical_folders, sample

pytestmark = pytest.mark.corpus


@on_typical_folders
def test_inspection_and_kernels_agree_on_owners(any_folder: Path) -> None:
    for compile_ in compiles_of(any_folder):
        owners = _owners(compile_.dump)
        assert dict(_inspected(compile_.dump, owners)) == {
            name: (one.op_name or None, one.source and (one.source.file, one.source.line))
            for name, one in owners.items()
        }
        for row in csv.DictReader(io.StringIO(kernel_table([compile_.dump]))):
            if (owner := owners.get(row["instruction"])) is not None:
                source = "" if owner.source is None else str(owner.source)
                shown = row["op_name"], row["source"], row["phase"]
                assert shown == (owner.op_name, source, owner.phase), row["instruction"]


@on_typical_folders
def test_hovers_and_hints_show_the_line_of_the_owner(any_folder: Path) -> None:
    for compile_ in compiles_of(any_folder):
        dump = compile_.dump
        hinted = dict(_hinted(dump))
        for name, owner in _owners(dump).items():
            if owner.source is not None:
                card = instruction_card(dump, name)
                assert card is not None
                assert owner.source in {fact.source for fact in card.facts}, name
                assert hinted.get(name) == owner.source.short, name


def _owners(dump: Compile) -> Mapping[str, InstructionFacts]:
    file = dump.module_file
    scheduled = (None if file is None else scheduled_instructions(file.module)) or ()
    return instruction_facts(dump, sample(one.name for one in scheduled))


def _inspected(
    dump: Compile, names: Iterable[str]
) -> Iterator[tuple[str, tuple[str | None, tuple[str, int] | None]]]:
    for name in names:
        facts = instruction_json(dump, name)
        assert facts is not None
        source = facts["source"] and (facts["source"]["file"], facts["source"]["line"])
        yield name, (facts["op_name"], source)


def _hinted(dump: Compile) -> Iterator[tuple[str, str]]:
    """Yield the names of instructions with the Python lines of hints beside them."""
    file = dump.module_file
    if file is None:
        return
    names = {one.line: one.name for one in file.module.instructions.firsts()}
    for found in hints(dump, file, kinds=frozenset({HintKind.SOURCE})):
        for hint in found:
            if hint.line in names:
                yield names[hint.line], hint.label
