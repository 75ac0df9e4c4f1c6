"""The memory map in the Python package is a build of the sources in ``vscode-client``."""

import shutil
import subprocess
from importlib.resources import files
from pathlib import Path

import pytest

_CLIENT = Path(__file__).resolve().parent.parent.parent / "vscode-client"
_NODE = shutil.which("node")
_BUILD_SECONDS = 120


def _asset(name: str) -> bytes:
    return files("hlo_lsp.reports").joinpath("assets").joinpath(name).read_bytes()


def test_page_equals_its_source() -> None:
    source = _CLIENT / "src" / "memoryMap" / "memoryMap.html"
    assert _asset("memoryMap.html") == source.read_bytes()


@pytest.mark.skipif(_NODE is None, reason="no node")
def test_script_and_style_equal_the_build(tmp_path: Path) -> None:
    assert _NODE is not None
    if not all((_CLIENT / "node_modules" / name).exists() for name in ("esbuild", "d3-zoom")):
        pytest.skip("no node modules: run `npm ci` in vscode-client")
    command = [_NODE, "esbuild.mjs", "assets", str(tmp_path)]
    subprocess.run(command, cwd=_CLIENT, check=True, timeout=_BUILD_SECONDS)
    built = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert {name: _asset(name) for name in built} == built
