"""Tests for the corpus, which several processes may unpack."""

import tarfile
from collections import Counter
from pathlib import Path

import pytest

from dumps import CORPUS_PROGRAMS, files_of, kind_by_name, unpacked
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.text import disk


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "file.txt").write_text("BufferAssignment:\n")
    path = tmp_path / "inner.tar.xz"
    with tarfile.open(path, "w:xz") as files:
        files.add(tmp_path / "inner", "inner")
    return path


def test_small_corpus_has_every_kind(corpus_small: Path) -> None:
    kinds = Counter(kind_by_name(path) for path in files_of(corpus_small))
    assert kinds == {
        FileKind.ASSIGNMENT: 407,
        FileKind.VALUES: 229,
        FileKind.LIVE_RANGE: 229,
        FileKind.REPORT: 402,
        FileKind.MODULE: 1135,
        FileKind.THUNKS: 212,
        FileKind.OTHER: 170,
    }


def test_archive_is_unpacked_once(archive: Path, tmp_path: Path) -> None:
    folder = unpacked(archive, tmp_path)
    (folder / "file.txt").write_text("kept")
    assert (unpacked(archive, tmp_path) / "file.txt").read_text() == "kept"


def test_changed_archive_is_unpacked_again(archive: Path, tmp_path: Path) -> None:
    old = unpacked(archive, tmp_path)
    (tmp_path / "inner" / "file.txt").write_text("HloModule m\n")
    with tarfile.open(archive, "w:xz") as files:
        files.add(tmp_path / "inner", "inner")
    assert (unpacked(archive, tmp_path) / "file.txt").read_text() == "HloModule m\n"
    assert (old / "file.txt").read_text() == "BufferAssignment:\n"


def test_second_process_uses_files_of_the_first(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = Path.rename

    def rename_late(self: Path, target: Path) -> Path:
        if not target.exists():
            (target / "inner").mkdir(parents=True)
            (target / "inner" / "file.txt").write_text("of the first process")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", rename_late)
    folder = unpacked(archive, tmp_path / "cache")
    assert (folder / "file.txt").read_text() == "of the first process"
    assert [path.name for path in (tmp_path / "cache").iterdir()] == [folder.parent.name]


def test_stack_frames_match_the_programs(corpus_small: Path) -> None:
    name = "module_0000.jit_while_fn.cpu_after_optimizations.txt"
    frames = disk.read_document(corpus_small / "flags_pass_dumps" / name).lines
    assert (
        "6 {file_name_id=1 function_name_id=5 line=53 end_line=53 column=33 end_column=36}"
        in frames
    )
    line = (CORPUS_PROGRAMS / "programs.py").read_text().splitlines()[53 - 1]
    assert line[33:36] == "x@x"  # columns count from 0, lines from 1
