"""Each oracle runs once for every folder of the corpus."""

from pathlib import Path

import pytest

from oracles.compiles import FOLDERS, L24


@pytest.fixture(params=FOLDERS)
def folder(request: pytest.FixtureRequest) -> Path:
    """A folder of real dumps: those of small programs, and that of a large one."""
    if request.param == L24:
        train: Path = request.getfixturevalue("train_l24")
        return train
    small: Path = request.getfixturevalue("corpus_small")
    return small / str(request.param)
