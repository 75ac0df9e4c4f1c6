"""The pictures of the documentation are what the programs show."""

from pathlib import Path

import pytest

from editors.pictures import ALL, PICTURES

pytestmark = pytest.mark.editors


@pytest.mark.parametrize("name", ALL)
def test_a_picture_is_what_the_program_shows(name: str, corpus_small: Path, tmp_path: Path) -> None:
    taken = ALL[name](corpus_small, tmp_path)
    assert taken.splitlines() == (PICTURES / name).read_text("utf-8").splitlines(), (
        "run tests/editors/pictures.py and look at the picture"
    )


def test_every_picture_of_the_client_is_taken_here() -> None:
    assert {path.name for path in PICTURES.glob("*.svg")} == set(ALL)
