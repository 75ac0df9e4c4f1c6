"""Tests for the list of compiles in Neovim."""

import shutil
from pathlib import Path

import pytest

from editors.conftest import Compile
from editors.neovim import Neovim

pytestmark = pytest.mark.editors

LIST = """
    local shown, notify = nil, vim.notify
    vim.notify = function(text) shown = text end
    vim.cmd('HloModules' .. bang .. ' ' .. folder)
    local fine, problem = pcall(nvim.wait, 'a list', function()
      return vim.bo.buftype == 'quickfix'
    end)
    vim.notify = notify
    assert(fine, ('%s; message: %s'):format(problem, shown))
    return vim.tbl_map(function(item)
      return { vim.fn.fnamemodify(vim.fn.bufname(item.bufnr), ':t'), item.lnum, item.text }
    end, vim.fn.getqflist())
"""


def test_compiles_are_listed_without_open_dump(shared_neovim: Neovim, own: Compile) -> None:
    shutil.copytree(own.folder, own.folder / "again")
    found = shared_neovim.run(LIST, folder=own.folder, bang="")
    name = own.path("-buffer-assignment").name
    assert [(file, line) for file, line, _ in found] == [(name, 1)] * 2
    assert {text for _, _, text in found} == {"jit_mlp_train · 1.61 MiB HBM peak · module_0000"}


def test_bang_lists_files_and_buffers(shared_neovim: Neovim, own: Compile) -> None:
    found = shared_neovim.run(LIST, folder=own.folder, bang="!")
    texts = [text.strip() for _, _, text in found]
    assert "after optimizations" in texts
    assert any(" · 1.00 MiB · f32[" in text for text in texts)


def test_folder_without_dumps_is_a_message(shared_neovim: Neovim, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    message = shared_neovim.run(
        """
        local shown
        vim.notify = function(text) shown = text end
        vim.cmd('HloModules ' .. folder)
        return nvim.wait('a message', function() return shown end)
        """,
        folder=empty,
    )
    assert f"no dumps below {empty}" in message
