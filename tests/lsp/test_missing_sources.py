"""The Python files of a program that are not on this machine."""

from pathlib import Path

import pytest

from hlo_lsp.lsp.custom_requests import FileParams
from hlo_lsp.lsp.missing_sources import answer_missing_sources
from hlo_lsp.lsp.session import Session
from hlo_lsp.lsp.settings import Settings

_STEM = "module_0001.jit_f.tpu_after_optimizations"
_MODULE = """\
HloModule jit_f

FileNames
1 "/far/models/train.py"
2 "/far/models/layers/mlp.py"
3 "/usr/lib/python3.12/site-packages/jax/_src/pjit.py"

FunctionNames
1 "step"
2 "Model.__call__.<locals>.<lambda>"

FileLocations
1 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=0 end_column=0}
2 {file_name_id=2 function_name_id=2 line=4 end_line=4 column=0 end_column=0}
3 {file_name_id=3 function_name_id=1 line=5 end_line=5 column=0 end_column=0}

ENTRY %main {
  ROOT %p = f32[] parameter(0), metadata={source_file="/far/old.py" source_line=3}
}
"""


@pytest.fixture
def values(tmp_path: Path) -> Path:
    """Return a memory file of a compile whose module text names Python files."""
    (tmp_path / f"{_STEM}.txt").write_text(_MODULE, "utf-8")
    path = tmp_path / f"{_STEM}-buffer-assignment-values.txt"
    path.write_text("Used values:\n", "utf-8")
    return path


async def test_files_of_libraries_are_not_missing(values: Path) -> None:
    answer = await answer_missing_sources(Session(), FileParams(values.as_uri()))
    mlp, train = "/far/models/layers/mlp.py", "/far/models/train.py"
    assert answer == {
        "files": [mlp, train, "/far/old.py"],
        "functions": [["Model.__call__.<locals>.<lambda>"], ["step"], []],
    }


async def test_mapped_files_are_not_missing(values: Path, tmp_path: Path) -> None:
    (tmp_path / "train.py").touch()
    session = Session()
    session.settings, _ = Settings.of([{"sourceMap": {"/far/models": str(tmp_path)}}])
    answer = await answer_missing_sources(session, FileParams(values.as_uri()))
    assert answer["files"] == ["/far/models/layers/mlp.py", "/far/old.py"]


async def test_compile_without_module_text_misses_none(values: Path) -> None:
    (values.parent / f"{_STEM}.txt").unlink()
    answer = await answer_missing_sources(Session(), FileParams(values.as_uri()))
    assert answer == {"files": [], "functions": []}
