"""``--prove``, with a compiler that needs no jax."""

from pathlib import Path
from typing import Any

import pytest

from cli.command import CommandResult, run
from compiling.stand_in import StandIn, compile_with, copy_of
from compiling.test_proofs import STARTED, donated_dump, dump_with_ranges, forbidding_dump


def _run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, stand_in: StandIn, *arguments: str | Path
) -> CommandResult:
    return run(*arguments, "--prove", "--python", compile_with(monkeypatch, tmp_path, stand_in))


def test_summary_shows_what_a_donation_saves(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = dump_with_ranges(tmp_path / "dump")
    stand_in = StandIn(tmp_path, dumps=(donated_dump(path, tmp_path / "new"),))
    found = _run(monkeypatch, tmp_path, stand_in, "summary", "--all", path)
    assert found.status == 0
    assert "(`donate_argnums`); saves 1.0 KiB (compiled)\n" in found.out
    assert "\ncompiled with jax 0.12.0, libtpu 0.0.50 (" in found.out


def test_json_has_the_peaks_of_both_compiles(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = dump_with_ranges(tmp_path / "dump")
    stand_in = StandIn(tmp_path, dumps=(donated_dump(path, tmp_path / "new"),))
    found = _run(monkeypatch, tmp_path, stand_in, "summary", "--all", path, "--format=json")
    proven = found.json["modules"][0]["advice"][0]["proven"]
    assert (proven["before"], proven["after"], proven["saved_bytes"]) == (5120, 4096, 1024)


def test_refused_program_costs_only_its_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    answer: dict[str, Any] = {"error": "no", "type": "E", "failed": "compile", "seconds": {}}
    path = dump_with_ranges(tmp_path / "dump")
    found = _run(monkeypatch, tmp_path, StandIn(tmp_path, answer), "summary", "--all", path)
    assert found.status == 0
    assert "saves about 1.0 KiB; not compiled: no\n" in found.out


def test_collectives_with_allowing_options_are_counted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = forbidding_dump(tmp_path / "dump")
    new = copy_of(path, tmp_path / "new", *STARTED)
    stand_in = StandIn(tmp_path, dumps=(new,))
    found = _run(monkeypatch, tmp_path, stand_in, "cost", "--collectives", path)
    assert found.status == 0
    assert "xla_enable_async_all_reduce: DISABLED; confirmed by compiling: 2 -> 1 " in found.out
    assert [one["options"] for one in stand_in.requests] == [
        {"xla_enable_async_all_reduce": "ENABLED"}
    ]


def test_prove_of_cost_needs_collectives(tmp_path: Path) -> None:
    found = run("cost", tmp_path, "--prove")
    assert (found.status, found.out) == (2, "")
    assert "--prove has an effect only with --collectives" in found.err


def test_python_without_jax_is_an_error(tmp_path: Path) -> None:
    path = dump_with_ranges(tmp_path / "dump")
    found = run("summary", path, "--prove", "--python", "no-python")
    assert (found.status, found.out) == (2, "")
    assert "no-python: no such Python" in found.err
