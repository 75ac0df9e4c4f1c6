"""Tests for large files that are read in the background, and files that cannot be read."""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from hlo_lsp.lsp.loading import FileLoader, SessionListener
from hlo_lsp.lsp.scheduling import yield_to_event_loop
from hlo_lsp.model.workspace import DumpWorkspace

BINARY = b"\0" * 100


class LoadedFiles(SessionListener):
    """A listener that keeps the names of files that were read, or could not be."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def file_loaded(self, path: Path) -> None:
        self.names.append(path.name)


class LoaderHarness:
    """A loader of one file, which is binary at first."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "dump.txt"
        self.path.write_bytes(BINARY)
        self.workspace = DumpWorkspace()
        self.listener = LoadedFiles()
        self.loader = FileLoader(self.workspace, yield_to_event_loop, lambda: self.listener)

    async def count(self) -> int:
        """Read the file twice, and return how often it was read since the start."""
        for _ in range(2):
            await asyncio.wait_for(self.loader.wait([self.path], None), 20)
        return len(self.listener.names)


async def test_unreadable_file_is_read_again_when_it_changes(tmp_path: Path) -> None:
    harness = LoaderHarness(tmp_path)
    assert await harness.count() == 1
    harness.path.write_bytes(BINARY * 2)
    assert await harness.count() == 2
    harness.path.unlink()
    assert await harness.count() == 3
    harness.loader.retry()
    assert await harness.count() == 4


async def test_failure_to_read_is_logged_and_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_: DumpWorkspace, _path: Path, _report: Callable[[int], None]) -> None:
        raise RecursionError

    monkeypatch.setattr(DumpWorkspace, "read", fail)
    harness = LoaderHarness(tmp_path)
    with caplog.at_level(logging.ERROR):
        assert await harness.count() == 1
    assert "dump.txt" in caplog.text
    assert not harness.loader.is_reading(harness.path)
