"""Tests for the pictures of terminals in the documentation."""

from pathlib import Path

import pytest

from editors.pictures import ALL, PICTURES

pytestmark = pytest.mark.editors


@pytest.mark.parametrize("name", ALL)
def test_picture_matches_program(name: str, corpus_small: Path, tmp_path: Path) -> None:
    taken = ALL[name](corpus_small, tmp_path)
    assert taken.splitlines() == (PICTURES / name).read_text("utf-8").splitlines(), (
        "run tests/editors/pictures.py and look at the picture"
    )


def test_every_picture_is_taken_here() -> None:
    assert {path.name for path in PICTURES.glob("*.svg")} == set(ALL)
