"""Profiles, compared with what ``jax.profiler.ProfileData`` reads in the same files."""

import json
from pathlib import Path
from typing import Any

import pytest

from hlo_lsp.profiles.files import profile_run, read_profile
from hlo_lsp.profiles.modules import compiles_in
from hlo_lsp.stats.measured_programs import JoinedProfile, join

_PROGRAMS = [
    f"{release}/{name}"
    for release in ("jax_0_10", "jax_0_12")
    for name in ("scan", "cond", "train", "sharded")
]


@pytest.fixture(params=_PROGRAMS)
def profile_folder(request: pytest.FixtureRequest, corpus_profiles: Path) -> Path:
    """Return the folder of a profile."""
    return corpus_profiles / str(request.param)


@pytest.fixture
def numbers(profile_folder: Path) -> list[dict[str, Any]]:
    """Return the events with ``hlo_op`` as JAX reads them."""
    found: list[dict[str, Any]] = json.loads((profile_folder / "numbers.json").read_text("utf-8"))
    return found


@pytest.fixture
def joined(profile_folder: Path) -> JoinedProfile:
    """Return the profile joined with its own modules."""
    path = profile_folder / "profile.xplane.pb"
    profile = read_profile(profile_run(path))
    return join(profile, compiles_in(profile, path))


def test_events_equal(profile_folder: Path, numbers: list[dict[str, Any]]) -> None:
    profile = read_profile(profile_run(profile_folder / "profile.xplane.pb"))
    found = sorted(
        (program.id, device, event.run_id, event.instruction, event.start_ps, event.duration_ps)
        for program, devices in profile.programs.items()
        for device, one in devices.items()
        for event in one.events
    )
    assert found == sorted(
        (
            one["program_id"], f"CPU {one['device_ordinal']}", one["run_id"], one["hlo_op"],
            round(one["start_ns"] * 1000), round(one["duration_ns"] * 1000),
        )
        for one in numbers
    )  # fmt: skip


def test_every_event_is_joined(joined: JoinedProfile, numbers: list[dict[str, Any]]) -> None:
    for program in joined.programs:
        assert program.dump is not None
        table = program.table()
        assert set(table.owners) == set(table.by_name)
    events = [time.events for program in joined.programs for time in program.time.instructions]
    assert sum(events) == len(numbers)


def test_busy_time_is_the_union_of_intervals(
    joined: JoinedProfile, numbers: list[dict[str, Any]]
) -> None:
    runs: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for one in numbers:
        key = one["program_id"], one["run_id"], one["device_ordinal"]
        runs.setdefault(key, []).append(one)
    found = [
        (program.time.program.id, one.device, one.busy_ps)
        for program in joined.programs
        for one in program.time.executions
    ]
    assert sorted(found) == sorted(
        (program, f"CPU {device}", _covered(events))
        for (program, _, device), events in runs.items()
    )


def test_own_times_add_up_to_busy_threads(
    joined: JoinedProfile, numbers: list[dict[str, Any]]
) -> None:
    threads: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for one in numbers:
        key = one["line"], one["program_id"], one["run_id"], one["device_ordinal"]
        threads.setdefault(key, []).append(one)
    own = sum(program.time.own_ps for program in joined.programs)
    assert own == sum(map(_covered, threads.values()))


def _covered(events: list[dict[str, Any]]) -> int:
    """Return the picoseconds in which at least one event runs."""
    edges = sorted(
        edge
        for one in events
        for edge in (
            (round(one["start_ns"] * 1000), 1),
            (round((one["start_ns"] + one["duration_ns"]) * 1000), -1),
        )
    )
    covered = depth = last = 0
    for time, change in edges:
        covered += time - last if depth else 0
        depth, last = depth + change, time
    return covered
