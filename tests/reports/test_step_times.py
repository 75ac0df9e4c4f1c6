"""The time of the steps of a memory map."""

from pathlib import Path

import pytest

from hlo_lsp.cost.chips import chips
from hlo_lsp.cost.program_cost import program_cost
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.reports.memory_map import memory_map
from hlo_lsp.reports.step_times import timed_memory_map
from hlo_lsp.stats.measured_programs import TimeSources, read_profile_times
from hlo_lsp.text.inert import Json
from stats.test_measured_programs import written_profile
from stats.test_time_advice import RECOMPUTED

_MODULE = """\
HloModule m, is_scheduled=true

body {
  p = f32[65536]{0} parameter(0)
  ROOT next = f32[65536]{0} negate(p)
}

condition {
  q = f32[65536]{0} parameter(0)
  ROOT less = pred[] custom-call(q), custom_call_target="f"
}

ENTRY main {
  x = f32[65536]{0} parameter(0)
  loop = f32[65536]{0} while(x), condition=condition, body=body COUNT
  ROOT last = f32[65536]{0} negate(loop)
}
"""
_COUNT = ', backend_config={"known_trip_count":{"n":"3"}}'
_V5E = TimeSources(chips()["v5e"])


def _dump(count: str = _COUNT) -> Compile:
    text = _MODULE.replace(" COUNT", count)
    return Compile([DumpFile.of_text(text, "module_0003.m.cpu_after_optimizations.txt")])


def _by_name(data: Json) -> dict[str, int]:
    names = [data["strings"][number] for number in data["steps"]]
    return dict(zip(names, data["time"]["picoseconds"], strict=True))


def test_least_time_has_all_iterations_of_a_loop() -> None:
    dump = _dump()
    data = timed_memory_map(dump, _V5E)
    times = _by_name(data)
    each = 2 * 4 * 65536 / 819e9 * 1e12
    assert times == {
        **{"q": 0, "less": -1, "p": 0, "x": 0, "loop": 0},
        **{"next": round(3 * each), "last": round(each)},
    }
    assert data["time"]["title"] == "least time on TPU v5e"
    assert data["time"]["notes"] == ["unknown for 1 step"]
    program = program_cost(dump, _V5E.chip)
    assert program is not None
    assert program.total.least_ps == pytest.approx(4 * each)


def test_advice_on_time_is_beside_that_on_memory() -> None:
    dump = Compile([DumpFile.of_text(RECOMPUTED, "module_0001.m.cl_1.after_optimizations.txt")])
    (advice,) = timed_memory_map(dump, _V5E)["timeAdvice"]
    assert advice.startswith("Values are computed again (137 GFLOP); this costs at least 698 µs")
    assert "timeAdvice" not in timed_memory_map(dump, TimeSources())


def test_loop_of_unknown_trip_count_is_noted() -> None:
    notes = timed_memory_map(_dump(""), _V5E)["time"]["notes"]
    assert notes == ["unknown for 1 step", "loops of unknown trip count count once"]


def test_measured_time_is_that_of_one_run(tmp_path: Path) -> None:
    path = written_profile(tmp_path / "host.xplane.pb", next=60, last=30, other=5)
    data = timed_memory_map(_dump(), TimeSources(_V5E.chip, (read_profile_times(path),)))
    times = _by_name(data)
    assert (times["next"], times["last"], times["x"]) == (60 * 10**6, 30 * 10**6, 0)
    assert data["time"]["isMeasured"]
    assert data["time"]["notes"] == [
        "unknown for 1 step",
        "a run takes 95.0 µs",
        "5.00 µs in instructions that are no steps",
    ]


def test_map_without_chip_and_profile_has_no_time() -> None:
    dump = _dump()
    assert timed_memory_map(dump, TimeSources()) == memory_map(dump)
