"""``hlo-lsp compile``: exit status, formats, and errors, with a compiler that needs no jax."""

from collections.abc import Iterator
from errno import EACCES
from pathlib import Path
from typing import Any

import pytest

from cli.command import CommandResult, run
from compiling.stand_in import StandIn, compile_with, copy_of, write_dump


def _run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, stand_in: StandIn, *arguments: str | Path
) -> CommandResult:
    python = compile_with(monkeypatch, tmp_path, stand_in)
    return run("compile", *arguments, "--python", python)


def test_equal_dump_ends_with_0(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = write_dump(tmp_path / "dump")
    found = _run(monkeypatch, tmp_path, StandIn(tmp_path, dumps=(folder,)), folder)
    assert found.status == 0
    assert found.out.startswith("compiled with jax 0.12.0, libtpu 0.0.50 (")
    assert found.out.endswith("\n\njit_f: no differences\n")


def test_differences_end_with_1(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = write_dump(tmp_path / "dump")
    other = copy_of(folder, tmp_path / "other", "sine", "negate")
    stand_in = StandIn(tmp_path, dumps=(other,))
    found = _run(monkeypatch, tmp_path, stand_in, folder, "--flag", "xla_tpu_limit=6")
    assert found.status == 1
    assert "  - a = f32[512]{0} sine" in found.out
    assert stand_in.requests[0]["options"] == {"xla_tpu_limit": "6"}


@pytest.mark.parametrize("form", ["json", "markdown"])
def test_formats_have_notes_and_comparison(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, form: str
) -> None:
    folder = write_dump(tmp_path / "dump")
    stand_in = StandIn(tmp_path, dumps=(folder,))
    found = _run(monkeypatch, tmp_path, stand_in, folder, "--format", form)
    if form == "json":
        assert found.json["compiler"]["versions"]["libtpu"] == "0.0.50"
        assert found.json["modules"][0]["title"] == "jit_f"
    else:
        assert "\n\n# jit_f: no differences" in found.out


def test_refused_text_ends_with_2(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = write_dump(tmp_path / "dump")
    answer: dict[str, Any] = {"type": "JaxRuntimeError", "failed": "parse", "seconds": {}}
    answer["error"] = "was parsing 5:26: error: instruction does not exist: q"
    edited = tmp_path / "edited.hlo"
    edited.write_text("HloModule g\n", "utf-8")
    found = _run(monkeypatch, tmp_path, StandIn(tmp_path, answer), folder, "--with", edited)
    assert (found.status, found.out) == (2, "")
    assert found.err == f"hlo-lsp: {edited}:5:26: instruction does not exist: q\n"


def test_output_keeps_the_dump(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = write_dump(tmp_path / "dump")
    stand_in = StandIn(tmp_path, dumps=(folder,))
    found = _run(monkeypatch, tmp_path, stand_in, folder, "-o", tmp_path / "new")
    assert found.status == 0
    assert len(list((tmp_path / "new").iterdir())) == len(list(folder.iterdir()))


def test_full_output_folder_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = write_dump(tmp_path / "dump")
    found = _run(monkeypatch, tmp_path, StandIn(tmp_path), folder, "-o", folder)
    assert (found.status, found.err) == (2, f"hlo-lsp: {folder} is not empty\n")


def test_unlisted_output_folder_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder, new = write_dump(tmp_path / "dump"), tmp_path / "new"
    list_folder = Path.iterdir

    def refuse(path: Path) -> Iterator[Path]:
        if path == new:
            raise PermissionError(EACCES, "Permission denied")
        return list_folder(path)

    monkeypatch.setattr(Path, "iterdir", refuse)
    found = _run(monkeypatch, tmp_path, StandIn(tmp_path), folder, "-o", new)
    assert found.status == 2
    assert found.err == f"hlo-lsp: cannot create {new}: Permission denied\n"


def test_flag_needs_a_value(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = write_dump(tmp_path / "dump")
    found = _run(monkeypatch, tmp_path, StandIn(tmp_path), folder, "--flag", "xla_tpu_limit")
    assert (found.status, found.err) == (2, "hlo-lsp: --flag xla_tpu_limit: write NAME=VALUE\n")


def test_lone_text_has_a_summary(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = write_dump(tmp_path / "dump")
    (text,) = folder.glob("*before_optimizations.txt")
    lone = tmp_path / "f.hlo"
    lone.write_text(text.read_text("utf-8"), "utf-8")
    stand_in = StandIn(tmp_path, dumps=(folder,))
    found = _run(monkeypatch, tmp_path, stand_in, lone, "--chip", "v5e")
    assert found.status == 0
    assert "\n\njit_f" in found.out
