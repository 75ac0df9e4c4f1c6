"""Folder listings and their cache."""

import os
from pathlib import Path

import pytest

from hlo_lsp.model.compiles import Compile, FolderCache

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

    monkeypatch.setattr(os, "listdir", listdir)
    return read


def _touch(folder: Path, name: str, time: int = _LONG_AGO) -> Path:
    (folder / name).touch()
    os.utime(folder, ns=(time, time))
    return folder / name


def _compile(cache: FolderCache, path: Path) -> Compile:
    return cache.listing(path.parent).compile(path.name)


def test_a_folder_is_read_once(tmp_path: Path, listed: list[Path]) -> None:
    text, ranges = _touch(tmp_path, _TEXT), _touch(tmp_path, _RANGES)
    known = FolderCache()
    assert _compile(known, text).memory == (ranges,)
    assert _compile(known, ranges).module == text
    assert listed == [tmp_path]


def test_a_new_file_is_seen(tmp_path: Path, listed: list[Path]) -> None:
    text = _touch(tmp_path, _TEXT)
    known = FolderCache()
    assert _compile(known, text).memory == ()
    ranges = _touch(tmp_path, _RANGES, _LONG_AGO + 1)
    assert _compile(known, text).memory == (ranges,)
    assert listed == [tmp_path, tmp_path]


def test_recently_changed_folder_is_not_cached(tmp_path: Path, listed: list[Path]) -> None:
    """Check that changes within the resolution of the modification time are found."""
    coming = 1 << 62  # ns; later than any current time
    text = _touch(tmp_path, _TEXT, coming)
    known = FolderCache()
    assert _compile(known, text).memory == ()
    ranges = _touch(tmp_path, _RANGES, coming)
    assert _compile(known, text).memory == (ranges,)
    assert len(listed) == 2


def test_missing_folder_is_empty(tmp_path: Path) -> None:
    assert FolderCache().listing(tmp_path / "no such folder").names() == []
