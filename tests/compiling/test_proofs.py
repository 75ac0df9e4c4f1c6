"""What a compile with an advised change shows."""

import sys
from pathlib import Path
from typing import Any

import pytest

from compiling.stand_in import RESULT, StandIn, copy_of, write_dump
from hlo_lsp.compiling.compiler_process import CompilerProcess
from hlo_lsp.compiling.proofs import new_dumps, prove
from hlo_lsp.memory.advice import Advice, AdviceKind, Proof
from reports.example import RANGES

_RESULT = " value: <5 r @0> (size=1024,offset=0): f32[256]{0}\n"
_OUTPUT = "allocation 1: size 1024, output shape is |f32[256]|, maybe-live-out:\n"
_DONATION = Advice(AdviceKind.DONATION, "donate `x`", 1024, label="about", donated=(0,))


def dump_with_ranges(folder: Path) -> Path:
    """Write a dump with live ranges, whose peak is 5,120 bytes."""
    return write_dump(folder, **{"after_optimizations-live-range": RANGES})


def donated_dump(folder: Path, target: Path) -> Path:
    """Write the dump of ``dump_with_ranges`` after the donation, with 1,024 bytes less."""
    before, after = f"{_OUTPUT}{_RESULT}allocation 2", f"{_RESULT}allocation 1"
    return copy_of(folder, target, before, after)


def _prove(
    monkeypatch: pytest.MonkeyPatch, stand_in: StandIn, path: Path, *found: Advice
) -> list[Proof]:
    monkeypatch.setattr(CompilerProcess, "script", stand_in.script)
    (dump,) = new_dumps(path)
    with CompilerProcess(sys.executable) as compiler:
        return [prove(compiler, dump, one, 0) for one in found]


def test_donation_has_the_peaks_of_both_compiles(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = dump_with_ranges(tmp_path / "dump")
    stand_in = StandIn(tmp_path, dumps=(donated_dump(path, tmp_path / "new"),))
    (proof,) = _prove(monkeypatch, stand_in, path, _DONATION)
    assert (proof.before, proof.after, proof.saved_bytes) == (5120, 4096, 1024)
    assert stand_in.requests[0]["donated"] == [0]
    assert proof.notes[0].startswith("compiled with jax 0.12.0")


def test_equal_changes_are_compiled_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = dump_with_ranges(tmp_path / "dump")
    stand_in = StandIn(tmp_path, dumps=(path,))
    first, second = _prove(monkeypatch, stand_in, path, _DONATION, _DONATION)
    assert first == second
    assert len(stand_in.requests) == 1


def test_other_advice_cannot_be_tried(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path, stand_in = dump_with_ranges(tmp_path / "dump"), StandIn(tmp_path)
    (proof,) = _prove(monkeypatch, stand_in, path, Advice(AdviceKind.DTYPE, "use bf16", 1024))
    assert proof == Proof(problem="a dump is not enough to try it")
    assert stand_in.requests == []


def test_refused_program_has_a_problem(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    answer: dict[str, Any] = {"error": "no", "type": "E", "failed": "compile", "seconds": {}}
    path = dump_with_ranges(tmp_path / "dump")
    (proof,) = _prove(monkeypatch, StandIn(tmp_path, answer), path, _DONATION)
    assert (proof.problem, proof.saved_bytes) == ("no", None)


def test_new_dump_without_live_ranges_has_a_problem(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = dump_with_ranges(tmp_path / "dump")
    stand_in = StandIn(tmp_path, RESULT, dumps=(write_dump(tmp_path / "new"),))
    (proof,) = _prove(monkeypatch, stand_in, path, _DONATION)
    assert proof.problem == "the new dump does not have the peak"
