"""Fixtures for the oracles: the folders of the corpus, or those of ``--dumps``."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from oracles.compiles import (
    ALL_FOLDERS,
    FOLDERS,
    FSDP,
    GENERATIONS,
    L24,
    REPETITIVE_FOLDERS,
    TYPICAL_FOLDERS,
    WHOLE,
)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrize the oracles with the folders of ``--dumps`` or of the corpus.

    All tests of a folder run in one process, one after the other, and share the compiles.
    """
    if "folder" in metafunc.fixturenames:
        is_whole = metafunc.config.getoption("--whole-corpus")
        folders_of_test: Sequence[str] = (
            ALL_FOLDERS if "any_folder" in metafunc.fixturenames else FOLDERS
        )
        if "typical_folder" in metafunc.fixturenames:
            folders_of_test = tuple(one for one in folders_of_test if one in TYPICAL_FOLDERS)
        elif "every_folder" not in metafunc.fixturenames and not is_whole:
            folders_of_test = tuple(one for one in folders_of_test if one not in REPETITIVE_FOLDERS)
        dumps: list[Path] | None = metafunc.config.getoption("--dumps")
        names = {
            folder if isinstance(folder, str) else folder.name: folder
            for folder in dumps or folders_of_test
        }
        folders = [
            pytest.param(folder, id=name, marks=pytest.mark.xdist_group(name))
            for name, folder in names.items()
        ]
        metafunc.parametrize("folder", folders, indirect=True, scope="session")


@pytest.fixture(scope="session")
def any_folder(folder: Path) -> Path:
    """Return a folder of real dumps, also one whose texts omit ``get-tuple-element``."""
    return folder


@pytest.fixture(scope="session")
def typical_folder(folder: Path) -> Path:
    """Select the folders of a test; see `on_typical_folders`."""
    return folder


@pytest.fixture(scope="session")
def every_folder(folder: Path) -> Path:
    """Select the folders of a test; see `on_every_folder`."""
    return folder


@pytest.fixture(scope="session")
def folder(request: pytest.FixtureRequest) -> Path:
    """Return a folder of real dumps."""
    name: str | Path = request.param
    if isinstance(name, Path):
        return name
    if name in {L24, FSDP}:
        only: Path = request.getfixturevalue("train_l24" if name == L24 else "tpu7x_fsdp")
        return only
    if name in WHOLE:
        whole: Path = request.getfixturevalue("corpus_whole")
        return whole / name.removeprefix("whole/")
    archive: Path = request.getfixturevalue(
        "corpus_generations" if name in GENERATIONS else "corpus_small"
    )
    return archive / name
