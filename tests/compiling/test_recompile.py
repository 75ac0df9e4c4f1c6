"""Which two dumps are compared after a compile, and what is said of them."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from compiling.stand_in import RESULT, UNOPTIMIZED, StandIn, write_dump
from hlo_lsp.compiling.compiler_process import CompilerProcess
from hlo_lsp.compiling.errors import CompileFailedError
from hlo_lsp.compiling.program import Changes, program_at
from hlo_lsp.compiling.recompile import Recompiled, compile_again

_EDITED = Changes(options={"xla_tpu_limit": "6"})


def _compile(
    monkeypatch: pytest.MonkeyPatch, stand_in: StandIn, path: Path, changes: Changes
) -> Recompiled:
    monkeypatch.setattr(CompilerProcess, "script", stand_in.script)
    with CompilerProcess(sys.executable) as compiler:
        return compile_again(compiler, program_at(path), changes)


def _add_program(folder: Path) -> None:
    """Add ``module.mlir`` to a dump."""
    stem = next(folder.glob("*.before_optimizations.txt")).name.removesuffix(
        ".before_optimizations.txt"
    )
    (folder / stem).mkdir()
    (folder / stem / "module.mlir").write_text("module {}", "utf-8")


def _refusing_the_second(folder: Path) -> StandIn:
    """Return a compiler that converts a text, and refuses the next one."""
    text = "was parsing 4:3: error: expected a shape"
    refusal = {"error": text, "type": "XlaRuntimeError", "failed": "parse", "seconds": {}}
    then = f"number and (print(json.dumps({refusal!r}), flush=True), sys.exit())"
    return StandIn(folder, _answer(is_original=False), then=then)


def _answer(**more: Any) -> dict[str, Any]:
    return {**RESULT, **more}


def test_same_libtpu_compares_with_the_dump(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = write_dump(tmp_path / "dump")
    stand_in = StandIn(tmp_path)
    found = _compile(monkeypatch, stand_in, folder, _EDITED)
    assert found.before is not None
    assert found.before.parent == folder
    assert len(stand_in.requests) == 1


@pytest.mark.parametrize("answer", [_answer(changed_options=None), _answer(is_original=False)])
def test_other_compiler_compiles_both_sides(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, answer: dict[str, Any]
) -> None:
    stand_in = StandIn(tmp_path, answer)
    found = _compile(monkeypatch, stand_in, write_dump(tmp_path / "dump"), _EDITED)
    assert [one["options"] for one in stand_in.requests] == [{"xla_tpu_limit": "6"}, {}]
    assert str(found.before) == stand_in.requests[1]["folder"]
    assert any(note.startswith("before: the program without") for note in found.notes)


def test_repaired_text_is_compared_with_the_dump(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = write_dump(tmp_path / "dump")
    found = _compile(monkeypatch, _refusing_the_second(tmp_path), folder, Changes(text="HloModule"))
    assert found.before is not None
    assert found.before.parent == folder
    assert found.notes[1].startswith("before: the dump, because without the changes, there")


def test_error_without_the_changes_has_no_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    stand_in = _refusing_the_second(tmp_path)
    with pytest.raises(CompileFailedError, match="without the changes: expected a shape") as failed:
        _compile(monkeypatch, stand_in, write_dump(tmp_path / "dump"), _EDITED)
    assert failed.value.line is None


def test_without_changes_the_dump_is_compared(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    stand_in = StandIn(tmp_path, _answer(changed_options=None))
    found = _compile(monkeypatch, stand_in, write_dump(tmp_path / "dump"), Changes())
    assert len(stand_in.requests) == 1
    assert any("another libtpu (cl/12)" in note for note in found.notes)


def test_conversion_of_a_text_is_noted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stand_in = StandIn(tmp_path, _answer(is_original=False))
    found = _compile(monkeypatch, stand_in, write_dump(tmp_path / "dump"), Changes())
    assert found.notes[1].startswith("compiled from the text, because the dump has no module.mlir")


def test_lone_text_has_no_other_side(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "f.hlo"
    path.write_text(UNOPTIMIZED, "utf-8")
    stand_in = StandIn(tmp_path)
    assert _compile(monkeypatch, stand_in, path, Changes(chip="v5e")).before is None
    assert len(stand_in.requests) == 1


def test_notes_begin_with_the_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stand_in = StandIn(tmp_path, _answer(changed_options={"xla_tpu_limit": "5"}))
    found = _compile(monkeypatch, stand_in, write_dump(tmp_path / "dump"), Changes())
    assert found.notes == (
        f"compiled with jax 0.12.0, libtpu 0.0.50 ({sys.executable}) for v5e:2x4: load jax 0.5 s,"
        " compile 1.2 s",
        "1 option as in the dump: xla_tpu_limit",
    )


def test_unknown_option_names_similar_ones(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    text = "INVALID_ARGUMENT: No such compile option: 'xla_tpu_limits'"
    answer = {"error": text, "type": "JaxRuntimeError", "failed": "compile", "seconds": {}}
    with pytest.raises(CompileFailedError) as failed:
        _compile(monkeypatch, StandIn(tmp_path, answer), write_dump(tmp_path / "dump"), Changes())
    assert (
        str(failed.value) == "no option xla_tpu_limits; did you mean xla_tpu_limit or xla_tpu_name?"
    )


def test_error_of_an_operation_gets_its_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    answer = {"error": 'error: "r": bad', "type": "MLIRError", "failed": "parse", "seconds": {}}
    with pytest.raises(CompileFailedError) as failed:
        _compile(monkeypatch, StandIn(tmp_path, answer), write_dump(tmp_path / "dump"), Changes())
    assert failed.value.line == 5


@pytest.mark.parametrize(("name", "line"), [("r", 6), ("f/add", 6), ("none", None)])
def test_error_of_an_operation_with_several_lines(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, line: int | None
) -> None:
    own = 'xr = f32[256]{0} add(x, y), metadata={op_name="f/add"}'
    text = UNOPTIMIZED.replace("  ROOT r", f"  {own}\n  ROOT r").replace(
        "add(x, y)\n", 'add(x, y), metadata={op_name="f/add"}\n'
    )
    refusals = [
        {"error": f'error: "{one}": bad', "type": "MLIRError", "failed": "parse", "seconds": {}}
        for one in (name, "r" if name == "f/add" else name)
    ]
    then = f"if number == 0: print(json.dumps({refusals[0]!r}), flush=True); continue"
    stand_in = StandIn(tmp_path, refusals[1], then=then)
    with pytest.raises(CompileFailedError) as failed:
        _compile(monkeypatch, stand_in, write_dump(tmp_path / "dump"), Changes(text=text))
    assert failed.value.line == line


def test_error_in_a_section_has_the_line_of_the_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "log.txt"
    text = UNOPTIMIZED.replace(":T(256)", "")
    name = "module_0000.jit_f.before_optimizations"
    path.write_text(f"log\n*** Begin {name} ***\n{text}\n*** End {name} ***\n", "utf-8")
    answer = {"error": 'error: "r": bad', "type": "MLIRError", "failed": "parse", "seconds": {}}
    with pytest.raises(CompileFailedError) as failed:
        _compile(monkeypatch, StandIn(tmp_path, answer), path, Changes())
    assert failed.value.line == 7


def test_error_in_a_dump_can_be_of_its_release(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    text = "was parsing 6:3: error: expects opcode"
    answer = {"error": text, "type": "XlaRuntimeError", "failed": "parse", "seconds": {}}
    with pytest.raises(CompileFailedError, match="expects opcode; the text can be of a newer jax"):
        _compile(monkeypatch, StandIn(tmp_path, answer), write_dump(tmp_path / "dump"), Changes())


def test_text_of_another_program_is_compiled(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder, after = write_dump(tmp_path / "dump"), write_dump(tmp_path / "after")
    _add_program(folder)
    text = next(folder.glob("*.before_optimizations.txt"))
    edited = UNOPTIMIZED.replace("add", "multiply")
    text.write_text(edited, "utf-8")
    for path in folder.iterdir():  # as in a copy of the folder
        os.utime(path, (0, 0))
    stand_in = StandIn(tmp_path, dumps=(after,))
    found = _compile(monkeypatch, stand_in, folder, Changes())
    assert [one["mlir"] for one in stand_in.requests] == ["module {}", None]
    assert stand_in.requests[1]["text"] == edited
    assert found.before is not None


def test_doubt_about_the_program_is_noted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = write_dump(tmp_path / "dump")
    _add_program(folder)
    stand_in = StandIn(tmp_path, _answer(changed_options=None))
    found = _compile(monkeypatch, stand_in, folder, Changes())
    assert len(stand_in.requests) == 1
    assert any(note.startswith("module.mlir was compiled, and its") for note in found.notes)


def test_changed_metadata_is_the_same_text(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder, after = write_dump(tmp_path / "dump"), write_dump(tmp_path / "after")
    _add_program(folder)
    text = next(after.glob("*.before_optimizations.txt"))
    text.write_text(UNOPTIMIZED.replace('op_name="x"', 'op_name="jit(f)/x"'), "utf-8")
    stand_in = StandIn(tmp_path, dumps=(after,))
    _compile(monkeypatch, stand_in, folder, Changes())
    assert len(stand_in.requests) == 1


def test_text_that_is_newer_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = write_dump(tmp_path / "dump")
    text = next(folder.glob("*.before_optimizations.txt"))
    time = text.stat().st_mtime + 60
    os.utime(text, (time, time))
    found = _compile(monkeypatch, StandIn(tmp_path, _answer(is_original=False)), folder, Changes())
    assert f"because {text.name} is newer than the rest of the dump: " in found.notes[1]
