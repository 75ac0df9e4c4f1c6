"""Tests for call hierarchies and workspace symbols in Neovim."""

import re

import pytest

from editors.conftest import Compile
from editors.neovim import Neovim

pytestmark = pytest.mark.editors

MODULE, ASSIGNMENT = "", "-buffer-assignment"

CALLS = """
    nvim.open(path)
    nvim.cursor(text)
    vim.lsp.buf[direction]()
    nvim.wait('a list', function() return vim.bo.buftype == 'quickfix' end)
    return vim.tbl_map(function(item)
      return { vim.fn.fnamemodify(vim.fn.bufname(item.bufnr), ':t'), item.lnum, item.text }
    end, vim.fn.getqflist())
"""


def test_incoming_calls_of_instruction_are_operands(
    shared_neovim: Neovim, compile_v5e: Compile
) -> None:
    name = compile_v5e.path(MODULE).name
    number = compile_v5e.starting(MODULE, "  %copy-done.1 = ")
    found = shared_neovim.run(
        CALLS, path=compile_v5e.path(MODULE), text="%copy-done.1 = ", direction="incoming_calls"
    )
    operand = re.search(r"copy-done\(.*%([\w.-]+)\)", compile_v5e.line(MODULE, number))
    assert operand is not None
    assert [(file, text.lstrip("%")) for file, _, text in found] == [(name, operand[1])]


def test_workspace_symbols_cover_folder(neovim: Neovim, own: Compile) -> None:
    """Ask a server of its own: only the first query waits until all files are read."""
    found = neovim.run(
        """
        nvim.open(path)
        return nvim.list(vim.lsp.buf.workspace_symbol, 'copy-start.1')
        """,
        path=own.path(ASSIGNMENT),
    )
    places = {(name, number) for name, number, _ in found}
    define = own.starting(MODULE, "  %copy-start.1 = ")
    assert (own.path(MODULE).name, define) in places
    assert all("copy-start.1" in text for _, _, text in found[:1])


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
