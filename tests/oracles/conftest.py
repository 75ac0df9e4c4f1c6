"""Each oracle runs once for every folder of the corpus, or for another folder of dumps."""

from pathlib import Path

import pytest

from oracles.compiles import FOLDERS, GENERATIONS, L24


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run the oracles over the folders of ``--dumps`` instead of the corpus."""
    if "folder" in metafunc.fixturenames:
        dumps: list[Path] | None = metafunc.config.getoption("--dumps")
        folders = dumps or FOLDERS
        ids = [folder if isinstance(folder, str) else folder.name for folder in folders]
        metafunc.parametrize("folder", folders, ids=ids, indirect=True)


@pytest.fixture
def folder(request: pytest.FixtureRequest) -> Path:
    """A folder of real dumps: small programs, one compile of a generation, or a large program."""
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
