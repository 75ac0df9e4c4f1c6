"""Protos, compressed files, and archives on the command line."""

import gzip
import shutil
import subprocess
from pathlib import Path

import pytest

from cli.command import run
from e2e.process import COMMAND
from protos.messages import HLO_PROTO, MODULE, MODULE_TEXT, serialized

_PROTO = serialized("HloProto", HLO_PROTO)
_NAME = "module_0001.jit_f.cpu_after_optimizations"


@pytest.fixture
def proto(tmp_path: Path) -> Path:
    """Return the proto of a small compile in a folder of its own."""
    path = tmp_path / "dump" / f"{_NAME}.hlo.pb"
    path.parent.mkdir()
    path.write_bytes(_PROTO)
    return path


def test_text(proto: Path) -> None:
    found = run("text", proto)
    assert (found.status, found.err) == (0, "")
    assert f"*** Begin {_NAME}.txt ***\n{MODULE_TEXT.rstrip()}\n" in found.out


def test_summary(proto: Path) -> None:
    found = run("summary", proto)
    assert (found.status, found.err) == (0, "")
    assert found.out.startswith("jit_f · CPU")
    assert (
        "memory_analysis() of JAX: argument 16 B · output 16 B · temp 16 B · peak 32 B\n"
        in found.out
    )


def test_check_finds_nothing_in_true_protos(proto: Path) -> None:
    found = run("check", proto)
    assert (found.status, found.out) == (0, "")


def test_find(proto: Path) -> None:
    found = run("find", "fusion", proto)
    assert found.status == 0
    assert "f32[4]{0}" in found.out


def test_inspect(proto: Path) -> None:
    found = run("inspect", proto, "--instruction", "copy")
    assert found.status == 0
    assert "copy" in found.out


def test_protos_have_the_memory_of_their_texts(proto: Path, tmp_path: Path) -> None:
    texts = tmp_path / "texts"
    texts.mkdir()
    name = ""
    for line in run("text", proto).out.splitlines(keepends=True):
        if line.startswith("*** "):
            name = line.split()[2] if line.startswith("*** Begin") else ""
        elif name:
            with (texts / name).open("a", encoding="utf-8") as file:
                file.write(line)
    found = run("diff", proto, texts)
    assert (found.status, found.out) == (0, "jit_f: no differences\n")


def test_folders_of_protos(proto: Path) -> None:
    (proto.parent / "compile_options.pb").write_bytes(b"\x08\x01")
    assert run("summary", proto.parent).out == run("summary", proto).out
    assert run("check", proto.parent).status == 0


def test_archives(proto: Path, tmp_path: Path) -> None:
    before = proto.with_name("module_0001.jit_f.before_optimizations.hlo.pb")
    before.write_bytes(serialized("HloModuleProto", MODULE))
    archive = shutil.make_archive(str(tmp_path / "dumps"), "gztar", proto.parent)
    assert run("summary", archive).out == run("summary", proto).out


def test_compressed_protos(proto: Path) -> None:
    path = proto.with_name(f"{proto.name}.gz")
    path.write_bytes(gzip.compress(_PROTO))
    assert run("summary", path).out == run("summary", proto).out


def test_damaged_protos_are_read_in_part(proto: Path) -> None:
    proto.write_bytes(_PROTO[:-3])
    for command in ("summary", "text", "check", "find"):
        found = run(command, *(("x",) if command == "find" else ()), proto)
        assert f"hlo-lsp: {proto}: damaged: byte " in found.err, command
        assert found.status == (1 if command == "check" and found.out else 2)


def test_other_protos_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "options.pb"
    path.write_bytes(b"\x08\x01")
    for command in ("summary", "check", "inspect", "text"):
        found = run(command, path)
        assert (found.status, found.out.strip()) == (2, ""), command
        assert "not the proto of an HLO module or a buffer assignment" in found.err


def test_nothing_is_written(proto: Path) -> None:
    before = sorted(path.name for path in proto.parent.rglob("*"))
    run("summary", proto)
    run("check", proto.parent)
    assert sorted(path.name for path in proto.parent.rglob("*")) == before


def test_closed_pipes_end_the_text(proto: Path) -> None:
    with subprocess.Popen([*COMMAND, "text", proto], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.close()
    assert process.returncode == 0
