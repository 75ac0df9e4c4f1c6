"""The process that compiles: its answers, its errors, and its end."""

import sys
from pathlib import Path
from typing import Any

import pytest

from compiling.stand_in import RESULT, StandIn
from hlo_lsp.compiling.compiler_process import CompilerProcess
from hlo_lsp.compiling.errors import CompileFailedError

_PARSER_ERROR = """\
INVALID_ARGUMENT: Syntax error when trying to parse the text as a HloModule:
was parsing 5:26: error: cannot parse as an instruction name or as a nested instruction:
  ROOT a = f32[4] add(p, q)
                         ^
was parsing 5:26: error: instruction does not exist: q
  ROOT a = f32[4] add(p, q)
"""


def _process(
    monkeypatch: pytest.MonkeyPatch, stand_in: StandIn, seconds: float | None = None
) -> CompilerProcess:
    monkeypatch.setattr(CompilerProcess, "script", stand_in.script)
    return CompilerProcess(sys.executable, seconds=seconds)


def _failure(
    monkeypatch: pytest.MonkeyPatch, stand_in: StandIn, seconds: float | None = None
) -> CompileFailedError:
    with _process(monkeypatch, stand_in, seconds) as process:
        with pytest.raises(CompileFailedError) as failed:
            process.compile({"folder": "."})
        return failed.value


def _refusal(text: str, kind: str = "JaxRuntimeError", stage: str = "parse") -> dict[str, Any]:
    return {"error": text, "type": kind, "failed": stage, "seconds": {}}


def test_result_follows_the_stages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stages: list[str] = []
    monkeypatch.setattr(CompilerProcess, "script", StandIn(tmp_path).script)
    with CompilerProcess(sys.executable, stages.append) as process:
        found = process.compile({"folder": "."})
    assert stages == ["parse", "compile"]
    assert found.versions == RESULT["versions"]


def test_one_process_answers_several_requests(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    stand_in = StandIn(tmp_path)
    with _process(monkeypatch, stand_in) as process:
        process.compile({"folder": "a"})
        process.compile({"folder": "b"})
    assert [one["folder"] for one in stand_in.requests] == ["a", "b"]


def test_equal_request_without_folder_is_compiled_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    stand_in = StandIn(tmp_path)
    with _process(monkeypatch, stand_in) as process:
        found = [process.compile({"text": text}).folder for text in "aba"]
    assert found[0] == found[2] != found[1]
    assert [one["text"] for one in stand_in.requests] == ["a", "b"]


def test_compile_after_a_crash_succeeds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stand_in = StandIn(tmp_path, then="request['text'] == 'a' and sys.exit(6)")
    with _process(monkeypatch, stand_in) as process:
        with pytest.raises(CompileFailedError, match="status 6"):
            process.compile({"text": "a"})
        assert process.compile({"text": "b"}).folder.is_dir()


def test_compile_after_the_stop_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with _process(monkeypatch, StandIn(tmp_path)) as process:
        process.stop()
        with pytest.raises(CompileFailedError, match="ended early"):
            process.compile({"text": "a"})


def test_other_number_of_host_devices_needs_another_process(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    stand_in = StandIn(tmp_path)
    one = {"platform": "cpu", "host_devices": 0, "replicas": 1, "partitions": 1}
    with _process(monkeypatch, stand_in) as process:
        for devices in (1, 4, 4):
            process.compile({**one, "partitions": devices, "folder": str(len(stand_in.requests))})
    first, second, third = (one["process"] for one in stand_in.requests)
    assert first != second == third


def test_program_for_a_tpu_keeps_the_host_devices_of_its_dump(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    stand_in = StandIn(tmp_path)
    request = {"platform": "tpu", "host_devices": 8, "replicas": 1, "partitions": 4}
    with _process(monkeypatch, stand_in) as process:
        process.compile({**request, "folder": "."})
    assert stand_in.requests[0]["host_devices"] == 8


def test_flags_of_the_environment_are_hidden(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    stand_in = StandIn(tmp_path)
    monkeypatch.setenv("XLA_FLAGS", "--xla_dump_to=/elsewhere")
    with _process(monkeypatch, stand_in) as process:
        process.compile({"folder": "."})
    assert stand_in.requests[0]["XLA_FLAGS"] is None


def test_folders_end_with_the_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with _process(monkeypatch, StandIn(tmp_path)) as process:
        folder = process.new_folder()
        assert folder.is_dir()
    assert not folder.exists()


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        ("a\nout of luck\n", "out of luck"),
        (
            "F1128 21:59:45.7 3176 emitter.cc:28] Check failed: x\nE1128 9] Raising",
            "Check failed: x",
        ),
    ],
)
def test_crash_names_status_and_reason(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, log: str, reason: str
) -> None:
    then = f"print({log!r}, file=sys.stderr); sys.exit(6)"
    error = _failure(monkeypatch, StandIn(tmp_path, then=then))
    assert str(error) == f"the compiler ended early, with status 6: {reason}"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
def test_kill_may_be_lack_of_memory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    error = _failure(monkeypatch, StandIn(tmp_path, then="os.kill(os.getpid(), 9)"))
    assert "by signal 9; it may have run out of memory" in str(error)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no process groups")
def test_script_that_starts_python_is_ended(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = StandIn(tmp_path, then="time.sleep(600)").script
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\necho begins\n"{sys.executable}" "{script}"\nexit 0\n', "utf-8")
    python.chmod(0o755)
    with (
        CompilerProcess(str(python), seconds=0.5) as process,
        pytest.raises(CompileFailedError, match=r"longer than 0\.5 s"),
    ):
        process.compile({"folder": "."})


def test_other_output_is_no_answer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with _process(monkeypatch, StandIn(tmp_path, then="print('ready')")) as process:
        assert process.compile({"folder": "."}).device == RESULT["device"]


def test_slow_compile_is_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    error = _failure(monkeypatch, StandIn(tmp_path, then="time.sleep(600)"), seconds=0.1)
    assert str(error) == "the compiler needs longer than 0.1 s"


def test_error_of_the_parser_has_its_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    error = _failure(monkeypatch, StandIn(tmp_path, _refusal(_PARSER_ERROR)))
    assert (str(error), error.line, error.column) == ("instruction does not exist: q", 4, 25)


def test_error_of_an_operation_has_its_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    text = "Unable to parse module assembly:\nerror: \"a\": 'stablehlo.add' op is wrong\n note: x"
    error = _failure(monkeypatch, StandIn(tmp_path, _refusal(text, "MLIRError")))
    assert (str(error), error.name) == ("a: 'stablehlo.add' op is wrong", "a")


def test_error_of_the_compiler_has_no_code(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    text = "INVALID_ARGUMENT: Custom emitter for foo not found\n\nSuspected location"
    error = _failure(monkeypatch, StandIn(tmp_path, _refusal(text, stage="compile")))
    assert str(error) == "Custom emitter for foo not found"


def test_line_after_a_title_belongs_to_the_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    text = "RESOURCE_EXHAUSTED: E1001: ScopedVmemOom:\nRan out of memory.\nIt needs 2M."
    error = _failure(monkeypatch, StandIn(tmp_path, _refusal(text, stage="compile")))
    assert str(error) == "E1001: ScopedVmemOom: Ran out of memory."


def test_missing_libtpu_names_the_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    error = _failure(monkeypatch, StandIn(tmp_path, _refusal("libtpu", "PackageNotFoundError")))
    assert str(error).endswith(f"install it with `{sys.executable} -m pip install libtpu`")


def test_missing_plugin_for_gpus_names_the_command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    package = "No package metadata was found for jax-cuda13-pjrt"
    error = _failure(monkeypatch, StandIn(tmp_path, _refusal(package, "PackageNotFoundError")))
    assert str(error).endswith(f'install it with `{sys.executable} -m pip install "jax[cuda13]"`')


def test_missing_program_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CompileFailedError, match="No such file"):
        CompilerProcess(str(tmp_path / "python"))
