"""``hlo-lsp check --watch``."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from hlo_lsp.checks.check_jobs import Plan, plan
from hlo_lsp.checks.config_file import CONFIG_FILE_NAME
from hlo_lsp.checks.framework.options import CheckOptions
from hlo_lsp.cli.check import KnownResults, watch

Act = Callable[[], object]


def nothing() -> None:
    """Change nothing during one interval."""


def watched(folder: Path, acts: Iterable[Act]) -> list[list[str]]:
    """Return the files that each check reads; the changes happen between two intervals."""
    looks: list[list[str]] = []
    coming = iter(acts)

    def look(made: Plan, known: KnownResults) -> None:
        new = [job for job in made.jobs if job not in known]
        looks.append([file.name for job in new for file in job.files])
        known.update((job, []) for job in new)

    def pause() -> None:
        act = next(coming, None)
        if act is None:
            raise KeyboardInterrupt
        act()

    watch(lambda: plan([folder], CheckOptions()), look, pause)
    return looks


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("HloModule m\n")
    return tmp_path


def test_unchanged_files_are_checked_once(folder: Path) -> None:
    assert watched(folder, [nothing] * 3) == [["a.txt", "b.txt"]]


def test_only_changed_files_are_checked_again(folder: Path) -> None:
    acts = [
        lambda: (folder / "b.txt").write_text("HloModule longer\n"),
        nothing,
        nothing,
        (folder / "c.txt").touch,
        nothing,
        (folder / "a.txt").unlink,
        nothing,
        lambda: os.utime(folder / "b.txt", ns=(1, 1)),
        nothing,
    ]
    assert watched(folder, acts) == [["a.txt", "b.txt"], ["b.txt"], ["c.txt"], [], ["b.txt"]]


def test_growing_file_is_checked_when_stable(folder: Path) -> None:
    path = folder / "b.txt"
    grow = [lambda size=size: path.write_text("x" * size) for size in (100, 200, 300)]
    assert watched(folder, [*grow, nothing]) == [["a.txt", "b.txt"], ["b.txt"]]


def test_changed_config_file_rechecks_everything(folder: Path) -> None:
    acts = [lambda: (folder / CONFIG_FILE_NAME).write_text('ignore = ["syntax"]\n'), nothing]
    assert watched(folder, acts) == [["a.txt", "b.txt"], ["a.txt", "b.txt", CONFIG_FILE_NAME]]


def test_interrupt_ends_watching(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    watched(folder, [])
    assert capsys.readouterr().err == "Watching 2 files. Press Ctrl-C to stop.\n"
