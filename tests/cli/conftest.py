"""Intact and damaged real dumps."""

from collections.abc import Callable
from pathlib import Path

import pytest

from e2e.compiles import Compile, copy_dump
from reports.example import ASSIGNMENT, MODULE, RANGES, STEM
from stats.test_measured_programs import MODULE as TIMED_MODULE
from stats.test_measured_programs import written_profile


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of modules that start the program as a process."""
    for item in items:
        module = getattr(item, "module", None)
        starts = hasattr(module, "run_process") or hasattr(module, "COMMAND")
        if starts and Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.e2e)


@pytest.fixture
def compiled(corpus_small: Path, tmp_path: Path) -> Callable[[str], Compile]:
    """Return a function that copies real compiles by name: one file, tpu, cpu, gpu."""
    return lambda name: copy_dump(corpus_small, name, tmp_path / name.replace(" ", "_"))


@pytest.fixture
def sample(compiled: Callable[[str], Compile]) -> Path:
    """Return a one-file dump."""
    return compiled("one file").assignment


@pytest.fixture
def damaged(sample: Path, tmp_path: Path) -> Path:
    """Return the one-file dump with two values of a wrong size."""
    text = sample.read_text("utf-8")
    text = text.replace("<174 pad_add_fusion @0> (size=1024", "<174 pad_add_fusion @0> (size=1000")
    text = text.replace("offset=4096", "offset=4608")
    path = tmp_path / "damaged" / "damaged dump.txt"
    path.parent.mkdir()
    path.write_text(text, "utf-8")
    return path


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    """Return a folder with the example compile."""
    folder = tmp_path / "dump"
    folder.mkdir()
    for end, text in ((".txt", MODULE), ("-buffer-assignment.txt", ASSIGNMENT),
                      ("-live-range.txt", RANGES)):  # fmt: skip
        (folder / f"{STEM}{end}").write_text(text, "utf-8")
    return folder


@pytest.fixture
def timed(tmp_path: Path) -> Path:
    """Return a module text beside a profile of two runs of it."""
    folder = tmp_path / "timed"
    folder.mkdir()
    path = folder / "module_0003.m.cpu_after_optimizations.txt"
    path.write_text(TIMED_MODULE, "utf-8")
    written_profile(folder / "host.xplane.pb", dot=10, neg=30)
    return path
