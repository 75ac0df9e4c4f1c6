"""Tests for hlo_lsp.reports.stats_summary."""

from pathlib import Path
from typing import Any

import pytest

from hlo_lsp.cost.chips import chips
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.source import SourceLine
from hlo_lsp.reports.stats_summary import stats_summary_markdown
from hlo_lsp.reports.summary_text import SummaryLinks
from hlo_lsp.stats.measured_programs import TimeSources, program_table, read_profile_times
from stats.test_measured_programs import MODULE, dump_of, written_profile


def summary_of(
    dump: Compile,
    sources: TimeSources,
    count: int = 9,
    links: SummaryLinks | None = None,
) -> list[str]:
    lines = stats_summary_markdown(dump, program_table(dump, sources), count, links)
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]


@pytest.fixture
def measured(tmp_path: Path) -> TimeSources:
    path = written_profile(tmp_path / "host.xplane.pb", dot=10, neg=30)
    return TimeSources(None, (read_profile_times(path),))


def test_most_expensive_lines_are_named(measured: TimeSources) -> None:
    lines = summary_of(dump_of(), measured)
    assert lines[0] == "# Time of `m` (CPU)"
    assert "- m · 2 runs on CPU 0 · median 40.0 µs (40.0 µs to 40.0 µs)" in lines
    assert "- **Most measured time**: train.py:8, 30.0 µs (75%)" in lines
    assert "- **Most FLOPs**: train.py:7, 33.6 MFLOP (100%)" in lines
    assert "- **Most bytes accessed**: train.py:7, 1.50 MiB (75%)" in lines
    assert "- **Rematerialization**: none" in lines


def test_measured_time_orders_rows(measured: TimeSources) -> None:
    lines = summary_of(dump_of(), measured)
    first = lines.index("| Python line | Measured | Share | FLOPs | Accessed |")
    assert lines[first + 2 : first + 4] == [
        "| train.py:8 | 30.0 µs | 75% | 65.5 kFLOP | 512.0 KiB |",
        "| train.py:7 | 10.0 µs | 25% | 33.6 MFLOP | 1.50 MiB |",
    ]


def test_bound_is_beside_the_least_time() -> None:
    lines = summary_of(dump_of(), TimeSources(chips()["v5e"]), count=1)
    assert "| Instruction | Least time | Bound | Share | FLOPs | Accessed |" in lines
    assert "- **Communication**: none" in lines
    rows = [line for line in lines if line.startswith(("| dot", "| neg", "| add"))]
    assert len(rows) == 2  # an opcode and an instruction


def test_rematerialization_has_a_price(tmp_path: Path) -> None:
    text = MODULE.replace("%neg", "%neg.remat")
    dump = Compile([DumpFile.of_text(text, "module_0003.m.cpu_after_optimizations.txt")])
    durations: dict[str, Any] = {"dot": 10, "neg.remat": 30}
    path = written_profile(tmp_path / "host.xplane.pb", **durations)
    lines = summary_of(dump, TimeSources(None, (read_profile_times(path),)))
    price = "30.0 µs measured, 75% of the own times, 65.5 kFLOP, 512.0 KiB accessed"
    assert f"- **Rematerialization**: {price}" in lines


def test_rows_link_to_python_else_to_instructions(measured: TimeSources) -> None:
    def source(line: SourceLine) -> str | None:
        return "file:///train.py#L7" if line.line == 7 else None

    links = SummaryLinks(source, lambda _: None)
    lines = summary_of(dump_of(), measured, links=links)
    text = "\n".join(lines)
    assert "| [train.py:7](file:///train.py#L7) | 10.0 µs" in text
    (dot, neg) = (
        next(number for number, line in enumerate(MODULE.split("\n"), 1) if f"{name} =" in line)
        for name in ("%dot", "%neg")
    )
    assert f"#L{neg}) | 30.0 µs | 75%" in next(
        one for one in lines if one.startswith("| [train.py:8]")
    )
    assert f"#L{dot}) | 10.0 µs" in next(one for one in lines if one.startswith("| [dot]"))


_MESH = """\
HloModule m, is_scheduled=true, num_partitions=4

ENTRY %e {
  %x = f32[8] parameter(0), sharding={mesh['data'=2,'model'=2], [{'data'}]}
  %a = f32[8] all-reduce(%x), channel_id=1, replica_groups={{0,1},{2,3}}, use_global_device_ids=true
  ROOT %d = f32[8] negate(%a)
}
"""


def test_partitioned_program_has_a_table_by_axis() -> None:
    dump = Compile([DumpFile.of_text(_MESH, "m.txt")])
    lines = summary_of(dump, TimeSources(chips()["v5e"], ()))
    first = next(number for number, line in enumerate(lines) if line.startswith("| Axis |"))
    assert {line.split(" | ")[0] for line in lines[first + 2 : first + 4]} == {
        "| model",
        "| no collective",
    }


def test_program_without_collectives_has_no_table_by_axis(measured: TimeSources) -> None:
    assert not any(line.startswith("| Axis |") for line in summary_of(dump_of(), measured))
