"""Tests for lists of places in Neovim."""

import pytest

from editors.conftest import Compile
from editors.neovim import Neovim

pytestmark = pytest.mark.editors

MODULE, ASSIGNMENT = "", "-buffer-assignment"

SHOWN_ENTRY = """
    nvim.open(path)
    nvim.cursor('%copy-start.1 = ')
    vim.lsp.buf.references()
    nvim.wait('a list', function() return vim.bo.buftype == 'quickfix' end)
    local entry = vim.fn.getqflist()[1].text
    vim.api.nvim_feedkeys('K', 'xt', false)
    return { entry, nvim.wait('the entry', function()
      for _, window in ipairs(vim.api.nvim_list_wins()) do
        if vim.api.nvim_win_get_config(window).relative ~= '' then
          return vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, true)[1]
        end
      end
    end) }
"""


def test_k_in_list_shows_whole_entry(shared_neovim: Neovim, compile_v5e: Compile) -> None:
    entry, shown = shared_neovim.run(SHOWN_ENTRY, path=compile_v5e.path(MODULE))
    assert "copy-start.1" in entry
    assert shown == entry


SHORT_NAMES = """
    nvim.open(path)
    nvim.cursor('%copy-start.1 = ')
    vim.lsp.buf.references()
    nvim.wait('a list', function() return vim.bo.buftype == 'quickfix' end)
    return vim.api.nvim_buf_get_lines(0, 0, -1, true)
"""


def test_list_leaves_out_what_all_names_begin_with(
    shared_neovim: Neovim, compile_v5e: Compile
) -> None:
    lines = shared_neovim.run(SHORT_NAMES, path=compile_v5e.path(MODULE))
    names = {line.partition("|")[0] for line in lines}
    assert {"after_optimizations", "buffer-assignment", "live-range"} <= names
