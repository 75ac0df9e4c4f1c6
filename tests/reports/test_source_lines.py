"""The memory of Python lines, compared with the memory summary."""

from pathlib import Path

import pytest

from hlo_lsp.model.compile_files import compiles_below
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.reports.source_lines import module_memory
from hlo_lsp.reports.summary import summarize
from hlo_lsp.reports.summary_text import summary_json


@pytest.mark.corpus
def test_lines_equal_the_summary(corpus_small: Path) -> None:
    compared = 0
    for compile_ in compiles_below(corpus_small / "tpu_v5e"):
        workspace = DumpWorkspace()
        dump = workspace.compile_of(workspace.file(compile_.path))
        found = module_memory(dump)
        lines = () if found is None else found.lines
        assert [
            {
                "file": line.source.file,
                "line": line.source.line,
                "padded_bytes": line.bytes,
                "buffers": len(line.buffers),
            }
            for line in lines
        ] == summary_json(summarize(dump), 1000)["top_sources"]
        compared += len(lines)
    assert compared > 40
