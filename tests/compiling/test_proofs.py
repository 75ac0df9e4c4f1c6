"""What a compile with an advised change shows."""

import sys
from pathlib import Path
from typing import Any

import pytest

from compiling.stand_in import RESULT, StandIn, copy_of, write_dump
from hlo_lsp.cli.dumps import dumps_at
from hlo_lsp.compiling.compiler_process import CompilerProcess
from hlo_lsp.compiling.proofs import prove, prove_options
from hlo_lsp.cost.chips import chips
from hlo_lsp.cost.exposure import ExposureCause
from hlo_lsp.memory.advice import Advice, AdviceKind
from hlo_lsp.memory.savings import Proof
from reports.example import RANGES

_COLLECTIVES = """\
HloModule jit_f, is_scheduled=true, num_partitions=2

ENTRY %main {
  %x = f32[512,512]{1,0} parameter(0)
  %y = f32[512,512]{1,0} all-reduce(%x), channel_id=1, replica_groups={{0,1}}, to_apply=%sum
  %z = f32[512,512]{1,0} all-reduce(%x), channel_id=2, replica_groups={{0,1}}, to_apply=%sum
  %d = f32[512,512]{1,0} dot(%x, %x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %e = f32[512,512]{1,0} dot(%d, %d), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT %r = (f32[512,512]{1,0}, f32[512,512]{1,0}, f32[512,512]{1,0}) tuple(%y, %z, %e)
}
"""
_OPERATION = "(%x), channel_id=1, replica_groups={{0,1}}, to_apply=%sum"
# What makes the first one asynchronous in the text.
STARTED = (
    f"%y = f32[512,512]{{1,0}} all-reduce{_OPERATION}",
    f"%s = f32[512,512]{{1,0}} all-reduce-start{_OPERATION}\n"
    "  %y = f32[512,512]{1,0} all-reduce-done(%s)",
)
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


def forbidding_dump(folder: Path) -> Path:
    """Write a dump with two all-reduces that an option forbids to be asynchronous."""
    return write_dump(folder, _COLLECTIVES, tpu_comp_env="xla_enable_async_all_reduce: DISABLED\n")


def _prove(
    monkeypatch: pytest.MonkeyPatch, stand_in: StandIn, path: Path, *found: Advice
) -> list[Proof]:
    monkeypatch.setattr(CompilerProcess, "script", stand_in.script)
    (dump,) = dumps_at([path], [])
    with CompilerProcess(sys.executable) as compiler:
        proofs = [prove(compiler, dump, chips()["v6e"], one, 0) for one in found]
    return [one for one in proofs if one is not None]


def test_donation_has_the_peaks_of_both_compiles(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = dump_with_ranges(tmp_path / "dump")
    stand_in = StandIn(tmp_path, dumps=(donated_dump(path, tmp_path / "new"),))
    (proof,) = _prove(monkeypatch, stand_in, path, _DONATION)
    assert (proof.before, proof.after, proof.saved) == (5120, 4096, 1024)
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
    other = Advice(AdviceKind.DTYPE, "use bf16", 1024)
    assert _prove(monkeypatch, stand_in, path, other) == []
    assert stand_in.requests == []


def test_dump_without_a_chip_is_compiled_for_that_of_the_user(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = dump_with_ranges(tmp_path / "dump")
    next(path.glob("*target_arguments.txt")).unlink()
    stand_in = StandIn(tmp_path, dumps=(path,))
    _prove(monkeypatch, stand_in, path, _DONATION)
    assert [one["topology"] for one in stand_in.requests] == ["v6e:2x2", "v6e:2x2"]


def test_refused_program_has_a_problem(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    answer: dict[str, Any] = {"error": "no", "type": "E", "failed": "compile", "seconds": {}}
    path = dump_with_ranges(tmp_path / "dump")
    (proof,) = _prove(monkeypatch, StandIn(tmp_path, answer), path, _DONATION)
    assert (proof.problem, proof.saved) == ("no", None)


def test_option_without_effect_is_not_confirmed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = forbidding_dump(tmp_path / "dump")
    monkeypatch.setattr(CompilerProcess, "script", StandIn(tmp_path, dumps=(path,)).script)
    option = "xla_enable_async_all_reduce: DISABLED"
    with CompilerProcess(sys.executable) as compiler:
        proof = prove_options(compiler, next(dumps_at([path], [])), None, option, {"all-reduce"})
    text = ExposureCause("option", option, proven=proof).text
    assert text == f"{option}; not confirmed by compiling: 2 -> 2 synchronous"


def test_new_dump_without_module_has_a_problem(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = dump_with_ranges(tmp_path / "dump")
    (proof,) = _prove(monkeypatch, StandIn(tmp_path), path, _DONATION)
    assert proof.problem == "the new dump has no compiled module"


def test_new_dump_without_live_ranges_has_a_problem(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = dump_with_ranges(tmp_path / "dump")
    stand_in = StandIn(tmp_path, RESULT, dumps=(write_dump(tmp_path / "new"),))
    (proof,) = _prove(monkeypatch, stand_in, path, _DONATION)
    assert proof.problem == "the new dump does not have the peak"
