"""Folder listings and their cache."""

import os
from pathlib import Path

import pytest

from hlo_lsp.model import compiles as folders
from hlo_lsp.model.compiles import FolderCache

_TEXT = "module_0001.jit_f.cpu_after_optimizations.txt"
_RANGES = "module_0001.jit_f.cpu_after_optimizations-live-range.txt"
_LONG_AGO = 1_000_000_000_000_000_000  # ns


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Return the folders that are read, in order."""
    read: list[Path] = []

    def listdir(folder: Path) -> list[str]:
        read.append(folder)
        return [entry.name for entry in os.scandir(folder)]

    monkeypatch.setattr(folders.os, "listdir", listdir)
    return read


def _touch(folder: Path, name: str, time: int = _LONG_AGO) -> Path:
    (folder / name).touch()
    os.utime(folder, ns=(time, time))
    return folder / name


def test_a_folder_is_read_once(tmp_path: Path, listed: list[Path]) -> None:
    text, ranges = _touch(tmp_path, _TEXT), _touch(tmp_path, _RANGES)
    known = FolderCache()
    assert known.compile_of(text).memory == (ranges,)
    assert known.compile_of(ranges).module == text
    assert listed == [tmp_path]


def test_a_new_file_is_seen(tmp_path: Path, listed: list[Path]) -> None:
    text = _touch(tmp_path, _TEXT)
    known = FolderCache()
    assert known.compile_of(text).memory == ()
    ranges = _touch(tmp_path, _RANGES, _LONG_AGO + 1)
    assert known.compile_of(text).memory == (ranges,)
    assert listed == [tmp_path, tmp_path]


def test_recently_changed_folder_is_not_cached(tmp_path: Path, listed: list[Path]) -> None:
    """Check that changes within the resolution of the modification time are found."""
    coming = 1 << 62  # ns; later than any current time
    text = _touch(tmp_path, _TEXT, coming)
    known = FolderCache()
    assert known.compile_of(text).memory == ()
    ranges = _touch(tmp_path, _RANGES, coming)
    assert known.compile_of(text).memory == (ranges,)
    assert len(listed) == 2


def test_missing_file_has_a_compile(tmp_path: Path) -> None:
    ranges = _touch(tmp_path, _RANGES)
    known = FolderCache()
    assert known.compile_of(tmp_path / _TEXT).memory == (ranges,)
    nowhere = tmp_path / "no such folder" / _TEXT
    assert known.compile_of(nowhere).files == (nowhere,)
