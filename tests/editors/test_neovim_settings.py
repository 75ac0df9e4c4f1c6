"""Tests for settings in Neovim."""

from pathlib import Path

import pytest

from editors.conftest import Compile
from editors.neovim import Neovim

pytestmark = pytest.mark.editors

_SCRIPT = """
    vim.lsp.config('hlo_lsp', { settings = { hlo = { sourceMap = %s } } })
    local client = nvim.open(path)
    local params = { textDocument = { uri = vim.uri_from_bufnr(0) } }
    local reply = client:request_sync('textDocument/documentLink', params, 30000)
    local targets = vim.tbl_map(function(link) return link.target end, reply.result)
    return { targets, vim.fn.execute('messages') }
"""


def test_source_map_finds_python_files(
    neovim: Neovim, compile_v5e: Compile, tmp_path: Path
) -> None:
    python = tmp_path / "programs.py"
    python.write_text("")
    script = _SCRIPT % "{ ['/home/user/models'] = folder }"
    targets, messages = neovim.run(script, path=compile_v5e.path(""), folder=tmp_path)
    assert targets[0] == f"{python.as_uri()}#L1"
    assert {target.partition("#")[0] for target in targets} == {python.as_uri()}
    assert messages == ""


def test_empty_table_is_valid_setting(neovim: Neovim, compile_v5e: Compile) -> None:
    module = compile_v5e.path("")
    assert neovim.run(_SCRIPT % "{}", path=module) == [[], ""]
    targets, messages = neovim.run(_SCRIPT % "'/home/user'", path=module)
    assert targets == []
    assert messages.count("hlo.sourceMap: must be an object") == 1
