"""Tests for the measured times of a compile."""

from dataclasses import replace
from pathlib import Path

import pytest

from cost.costs import module
from hlo_lsp.cost.chips import chips
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.program.instruction_owners import InstructionKey
from hlo_lsp.stats.instruction_table import InstructionTable
from hlo_lsp.stats.measured_programs import (
    ProfileTimes,
    TimeSources,
    measured_program,
    profile_beside,
    program_table,
    read_profile_times,
)
from hlo_lsp.text.disk import UnreadableError
from profiles.written import Event, Stats, profile

_METADATA = 'metadata={{source_file="/x/train.py" source_line={}}}'
MODULE = module(
    "%a = f32[256,256] parameter(0)",
    "%dot = f32[256,256] dot(%a, %a), lhs_contracting_dims={1}, rhs_contracting_dims={0}, "
    + _METADATA.format(7),
    "%neg = f32[256,256] negate(%dot), " + _METADATA.format(8),
    "ROOT %add = f32[256,256] add(%neg, %dot), " + _METADATA.format(7),
)


def dump_of(path: str = "module_0003.m.cpu_after_optimizations.txt") -> Compile:
    """Return the compile of a module whose name is ``m``."""
    return Compile([DumpFile.of_text(MODULE, path)])


def written_profile(path: Path, program: int = 3, name: str = "m", **durations: int) -> Path:
    """Write a profile of two runs of instructions, with durations in microseconds."""
    stats: Stats = {"hlo_module": name, "program_id": program}
    events = []
    for run in (1, 2):
        start = 10**9 * run
        for instruction, microseconds in durations.items():
            own: Stats = {**stats, "hlo_op": instruction, "run_id": run}
            events.append(Event(instruction, start, microseconds * 10**6, own))
            start += microseconds * 10**6
    path.write_bytes(profile({"/host:CPU": {"tf_XLAEigen/1": events}}))
    return path


def times_in(path: Path, **durations: int) -> ProfileTimes:
    """Return the times in a profile of two runs."""
    return read_profile_times(written_profile(path / "host.xplane.pb", 3, "m", **durations))


def table_of(profile: ProfileTimes, chip: str = "", path: str = "m.txt") -> InstructionTable:
    """Return the instructions of the compile with a profile."""
    return program_table(dump_of(path), TimeSources(chips().get(chip), (profile,)))


def test_measured_time_precedes_least_time(tmp_path: Path) -> None:
    table = table_of(times_in(tmp_path, dot=10, neg=30), "v5e")
    assert [(row.name, table.share(row)) for row in table.timed] == [("neg", 0.75), ("dot", 0.25)]
    assert table.timed[0].run_ps == 30 * 10**6
    assert table.by_name["add"].run_ps == 0


def test_roofline_share_compares_single_executions(tmp_path: Path) -> None:
    def share(path: str, name: str = "dot") -> float | None:
        table = table_of(times_in(tmp_path, dot=10), "v5e", path)
        rates = table.achieved([table.by_name[name]])
        return None if rates is None else rates.roofline_share

    least = table_of(times_in(tmp_path, dot=10), "v5e").by_name["dot"].least
    assert least is not None
    assert share("m.txt") == pytest.approx(least.ps / 10**7)
    assert share("m.txt", "neg") is None
    assert share("m.cpu_after_optimizations.txt") is None


def test_profile_of_other_instructions_is_not_joined(tmp_path: Path) -> None:
    profile = times_in(tmp_path, dot=10, fusion=30)
    assert measured_program(dump_of(), (profile,)) is None
    assert measured_program(dump_of(), (times_in(tmp_path, dot=99, fusion=1),)) is not None


def test_profile_of_other_shapes_is_not_joined(tmp_path: Path) -> None:
    found = times_in(tmp_path, dot=10)
    program = found.programs[0].program
    for shape, is_joined in (("f32[256,256]", True), ("f32[4096,4096]", False)):
        known = replace(found, shapes={program: {"dot": shape}})
        assert (measured_program(dump_of(), (known,)) is not None) is is_joined


def test_computations_have_the_times_of_their_instructions(tmp_path: Path) -> None:
    table = table_of(times_in(tmp_path, dot=10, neg=30))
    (group,) = table.groups(InstructionKey.COMPUTATION)
    assert (group.name, group.run_ps) == ("e", table.run_ps)
    assert sum(row.run_ps for row in table.by_computation["e"]) == 40 * 10**6


def test_program_with_the_number_of_the_dump_is_preferred(tmp_path: Path) -> None:
    others = read_profile_times(written_profile(tmp_path / "1.xplane.pb", 2, dot=50)).programs
    own = times_in(tmp_path, dot=10).programs
    profile = ProfileTimes(tmp_path, (*others, *own), {}, ())
    assert measured_program(dump_of(), (profile,)) is own[0]


def test_first_profile_with_the_program_applies(tmp_path: Path) -> None:
    first, second = times_in(tmp_path, fusion=1), times_in(tmp_path, dot=10)
    assert measured_program(dump_of(), (first, second)) is second.programs[0]


def test_lines_own_their_instructions(tmp_path: Path) -> None:
    table = table_of(times_in(tmp_path, dot=10, neg=30, add=40))
    lines = table.groups(InstructionKey.LINE)
    assert [(str(one.source), [row.name for row in one.rows]) for one in lines] == [
        ("/x/train.py:7", ["add", "dot"]),
        ("/x/train.py:8", ["neg"]),
    ]
    assert [table.share(line) for line in lines] == pytest.approx([0.625, 0.375])


def test_newest_run_beside_a_dump_is_found(tmp_path: Path) -> None:
    assert profile_beside(tmp_path) is None
    beside = written_profile(tmp_path / "host.xplane.pb", dot=1)
    assert profile_beside(tmp_path) == beside
    for run in ("2026_01_02", "2026_01_03"):
        folder = tmp_path / "plugins" / "profile" / run
        folder.mkdir(parents=True)
        written_profile(folder / "host.xplane.pb", dot=1)
    assert profile_beside(tmp_path) == folder
    assert profile_beside(tmp_path / "missing") is None


def test_foreign_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "host.xplane.pb"
    path.write_bytes(b"no profile")
    with pytest.raises(UnreadableError, match="not a profile"):
        read_profile_times(path)
