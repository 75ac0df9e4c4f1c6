"""Looking again when files change."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from hlo_lsp.checks.config.config_file import CONFIG_FILE_NAME
from hlo_lsp.checks.config.options import CheckOptions
from hlo_lsp.checks.folders.jobs import Plan, plan
from hlo_lsp.cli.check import KnownResults, watch

Act = Callable[[], object]


def nothing() -> None:
    """A second in which nobody writes."""


def watched(folder: Path, acts: Iterable[Act]) -> list[list[str]]:
    """The names of files that are looked at anew, each time; between two pauses acts happen."""
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


def test_files_are_looked_at_once_while_they_stay_as_they_are(folder: Path) -> None:
    assert watched(folder, [nothing] * 3) == [["a.txt", "b.txt"]]


def test_only_what_changed_is_looked_at_again(folder: Path) -> None:
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


def test_a_file_that_is_being_written_is_waited_for(folder: Path) -> None:
    path = folder / "b.txt"
    grow = [lambda size=size: path.write_text("x" * size) for size in (100, 200, 300)]
    assert watched(folder, [*grow, nothing]) == [["a.txt", "b.txt"], ["b.txt"]]


def test_everything_is_looked_at_again_when_the_settings_change(folder: Path) -> None:
    acts = [lambda: (folder / CONFIG_FILE_NAME).write_text('ignore = ["syntax"]\n'), nothing]
    assert watched(folder, acts) == [["a.txt", "b.txt"], ["a.txt", "b.txt", CONFIG_FILE_NAME]]


def test_the_end_is_quiet(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    watched(folder, [])
    assert capsys.readouterr().err == "watching 2 files; ctrl-C ends\n"
