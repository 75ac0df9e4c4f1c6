"""Fixtures for the oracles: the folders of the corpus, or those of ``--dumps``."""

from pathlib import Path

import pytest

from oracles.compiles import FOLDERS, GENERATIONS, L24


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrize the oracles with the folders of ``--dumps`` or of the corpus.

    All tests of a folder run in one process, one after the other, and share the compiles.
    """
    if "folder" in metafunc.fixturenames:
        dumps: list[Path] | None = metafunc.config.getoption("--dumps")
        names = {
            folder if isinstance(folder, str) else folder.name: folder
            for folder in dumps or FOLDERS
        }
        folders = [
            pytest.param(folder, id=name, marks=pytest.mark.xdist_group(name))
            for name, folder in names.items()
        ]
        metafunc.parametrize("folder", folders, indirect=True, scope="session")


@pytest.fixture(scope="session")
def folder(request: pytest.FixtureRequest) -> Path:
    """Return a folder of real dumps."""
    name: str | Path = request.param
    if isinstance(name, Path):
        return name
    if name == L24:
        train: Path = request.getfixturevalue("train_l24")
        return train
    archive: Path = request.getfixturevalue(
        "corpus_generations" if name in GENERATIONS else "corpus_small"
    )
    return archive / name
