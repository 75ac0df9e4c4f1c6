"""The same number for the same thing in lenses, summaries, maps, lists, notes, and JSON."""

from pathlib import Path

import pytest

from hlo_lsp.cost.chips import chip_of
from hlo_lsp.ide.hover.stats import describe_run
from hlo_lsp.ide.hover.summaries import memory_summary
from hlo_lsp.program.instruction_owners import InstructionKey
from hlo_lsp.reports.cost import cost_json
from hlo_lsp.reports.memory_map import memory_map
from hlo_lsp.reports.modules import compiled_module
from hlo_lsp.reports.source_lines import module_memory
from hlo_lsp.reports.summary import SummaryOptions, summarize
from hlo_lsp.reports.summary_text import summary_json
from hlo_lsp.stats.instruction_table import cost_table
from hlo_lsp.text.amounts import PICOSECONDS, format_short_bytes, format_time
from oracles.compiles import compiles_of, on_typical_folders

pytestmark = pytest.mark.corpus


@on_typical_folders
def test_views_show_one_peak(any_folder: Path) -> None:
    seen = 0
    for compile_ in compiles_of(any_folder):
        dump = compile_.dump
        summary = summarize(dump, SummaryOptions())
        main = summary.main
        if main is None or main.bytes is None:
            continue
        seen += 1
        peak, allocated = map(format_short_bytes, (main.bytes, main.allocated_bytes))
        lens = memory_summary(dump).partition(" at the peak")[0]
        assert lens == f"{main.title}: {peak} of {allocated}"
        assert compiled_module(dump).peak_bytes == main.bytes
        (mapped,) = (one for one in memory_map(dump)["spaces"] if one["space"] == main.space)
        printed = summary_json(summary, 1)["by_space"][str(main.space)]
        sizes = main.bytes, main.allocated_bytes
        assert (printed["peak_bytes"], printed["allocated_bytes"]) == sizes
        assert (mapped["peakBytes"], mapped["allocatedBytes"]) == sizes
        notes = module_memory(dump)
        assert notes is not None
        assert notes.peak_bytes == main.bytes
        groups = {str(one.source): one.bytes for one in main.groups if one.source is not None}
        assert {str(one.source): one.bytes for one in notes.lines} == groups
    assert seen


@on_typical_folders
def test_views_show_one_least_time(any_folder: Path) -> None:
    for compile_ in compiles_of(any_folder):
        table = cost_table(compile_.dump, chip_of(compile_.dump))
        if table is None or not table.cost.total.least_ps:
            continue
        least = table.cost.total.least_ps
        assert describe_run(table).startswith(f"{format_time(least)} ")
        assert sum(row.run_ps for row in table.rows) == pytest.approx(least)
        for key in (InstructionKey.LINE, InstructionKey.SCOPE, InstructionKey.INSTRUCTION):
            groups = [group.run_ps for group in table.cost_groups(key)]
            assert sum(groups) == pytest.approx(least)
        printed = cost_json(table, InstructionKey.LINE, 1)["executed"]["least_seconds"]
        assert printed == pytest.approx(least / PICOSECONDS)
