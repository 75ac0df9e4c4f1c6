"""Tests for document links and locations of Python lines."""

from dataclasses import replace
from pathlib import Path

import pytest
from lsprotocol import types

from hlo_lsp.lsp.client import MAX_FULL_ANSWER_LINES, Client
from hlo_lsp.lsp.navigation import document_links, python_location
from hlo_lsp.model.source import SourceFiles, SourceLine, SourceMap
from hlo_lsp.text.document import Encoding
from lsp.opened import context

MODULE = """HloModule m

ENTRY %e {
  %a = f32[] add(%b), metadata={op_name="é𝒳" source_file="/old/m.py" source_line=2}
  %c = f32[] add(%b), metadata={op_name="é𝒳" source_file="/old/other.py" source_line=2}
}"""


@pytest.fixture
def sources(tmp_path: Path) -> SourceFiles:
    (tmp_path / "m.py").write_text("")
    return SourceFiles(SourceMap.of({"/old": str(tmp_path)})[0])


@pytest.mark.parametrize(
    ("encoding", "start"), [(Encoding.UTF8, 49), (Encoding.UTF16, 46), (Encoding.UTF32, 45)]
)
async def test_link_columns_use_client_encoding(
    sources: SourceFiles, tmp_path: Path, encoding: Encoding, start: int
) -> None:
    request = replace(await context(MODULE, Client(encoding=encoding)), sources=sources)
    assert document_links(request) == [
        {
            "range": {
                "start": {"line": 3, "character": start},
                "end": {
                    "line": 3,
                    "character": start + len('source_file="/old/m.py" source_line=2'),
                },
            },
            "target": f"{(tmp_path / 'm.py').as_uri()}#L2",
        }
    ]


@pytest.mark.parametrize(("line", "expected_line"), [(1, 0), (7, 6), (0, 0)])
async def test_location_is_the_start_of_the_line(
    sources: SourceFiles, tmp_path: Path, line: int, expected_line: int
) -> None:
    request = replace(await context(MODULE), sources=sources)
    start = types.Position(expected_line, 0)
    place = types.Location((tmp_path / "m.py").as_uri(), types.Range(start, start))
    assert python_location(request, SourceLine("/old/m.py", line)) == place
    assert python_location(request, SourceLine("/old/other.py", line)) is None


async def test_long_module_has_links_only_in_tables(
    sources: SourceFiles,
) -> None:
    table = 'HloModule m\n\nFileNames\n1 "/old/m.py"\n\n'
    text = MODULE.replace("HloModule m\n\n", table) + "\n" * MAX_FULL_ANSWER_LINES
    request = replace(await context(text), sources=sources)
    assert [link["range"]["start"]["line"] for link in document_links(request)] == [3]
