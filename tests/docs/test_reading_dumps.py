"""Tests for the names of memory spaces in docs/reading_dumps.md."""

from docs.pages import DOCS, table
from hlo_lsp.model.backend import Backend, space_name


def test_memory_spaces_have_their_names() -> None:
    rows = table(DOCS / "reading_dumps.md", "## Memory spaces")
    for number, *names in rows:
        shown = zip((Backend.TPU, Backend.GPU, Backend.CPU), names, strict=True)
        for backend, name in shown:
            assert name == (space_name(int(number), backend) or "")
    assert [int(row[0]) for row in rows] == list(range(9))
