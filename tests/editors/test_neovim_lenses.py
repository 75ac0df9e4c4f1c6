"""Tests for code lenses in Neovim."""

import pytest

from editors.conftest import Compile
from editors.neovim import Neovim

pytestmark = pytest.mark.editors

ASSIGNMENT, VALUES = "-buffer-assignment", "-buffer-assignment-values"


def test_lenses_are_at_line_ends(neovim: Neovim, compile_v5e: Compile) -> None:
    shown = neovim.run(
        """
        nvim.open(path)
        return nvim.lenses(vim.api.nvim_buf_line_count(0) - 1) -- all lines but `BufferAssignment:`
        """,
        path=compile_v5e.path(ASSIGNMENT),
    )
    assert shown["2"] == "1 value, 512 B"
    assert shown["3"] == "thread-local, not scheduled"
    assert shown["4"] == "2 values, 1.00 MiB, 2 share offset 0"
    assert shown["5"] == "live 0-50 (50 steps): the start of the program -> slice-done.3"
    assert shown["6"] == "live 69-72 (3 steps): copy-start.1 -> the end of the program"
    assert (
        shown["8"] == "live 0-62 (62 steps): the start of the program -> copy-done.2 | at the peak"
    )


def test_lenses_refresh_after_insert_mode(neovim: Neovim, compile_v5e: Compile) -> None:
    shown = neovim.run(
        """
        nvim.open(path)
        local count = vim.api.nvim_buf_line_count(0) - 1
        nvim.lenses(count)
        vim.cmd('normal! 4G0fzwi2') -- size 1048576 -> size 21048576
        assert(nvim.lenses_now()['4'] == nil, 'Neovim kept the lens of a line that has changed')
        return { vim.fn.getline(4):sub(1, 27), nvim.lenses(count)['4'] }
        """,
        path=compile_v5e.path(ASSIGNMENT),
    )
    assert shown == ["allocation 1: size 21048576", "2 values, 20.07 MiB, 2 share offset 0"]


def test_lenses_refresh_after_change_in_normal_mode(neovim: Neovim, compile_v5e: Compile) -> None:
    shown = neovim.run(
        """
        nvim.open(path)
        nvim.lenses(vim.api.nvim_buf_line_count(0) - 1)
        vim.cmd('normal! 5Gdd')
        vim.cmd.doautocmd('TextChanged') -- what Neovim does for keys that somebody presses
        return nvim.wait('the lens', function()
          local lens = nvim.lenses_now()['4']
          return lens and lens:find('^1 value') and lens
        end)
        """,
        path=compile_v5e.path(ASSIGNMENT),
    )
    assert shown == "1 value, 1.00 MiB"


def test_lenses_refresh_after_change_of_companion(neovim: Neovim, own: Compile) -> None:
    shown = neovim.run(
        """
        vim.o.hidden = true
        nvim.open(path)
        nvim.lenses(vim.api.nvim_buf_line_count(0) - 1)
        local buffer = vim.api.nvim_get_current_buf()
        nvim.open(ranges)
        vim.cmd([[%s/copy-start.1{0}:69-72/copy-start.1{0}:69-71/]])
        return vim.api.nvim_buf_call(buffer, function()
          return nvim.wait('the lens', function()
            local lens = nvim.lenses_now()['6']
            return lens and lens:find('69-71', 1, true) and lens
          end)
        end)
        """,
        path=own.path(ASSIGNMENT),
        ranges=own.path("-live-range"),
    )
    assert shown.startswith("live 69-71 (2 steps): copy-start.1 -> ")


CLICK = """
    nvim.open(path)
    nvim.lenses(vim.api.nvim_buf_line_count(0) - 1)
    vim.api.nvim_win_set_cursor(0, { line, 0 })
    local buffer = vim.api.nvim_get_current_buf()
    vim.lsp.codelens.run()
    nvim.wait('a list', function() return vim.bo.buftype == 'quickfix' end)
    local list = vim.fn.getqflist({ title = true, items = true })
    local places = vim.tbl_map(function(item)
      return { vim.fn.fnamemodify(vim.fn.bufname(item.bufnr), ':t'), item.lnum, item.text }
    end, list.items)
    vim.api.nvim_buf_call(buffer, function() -- Neovim hid the lens that was run
      nvim.wait('the lens again', function() return nvim.lenses_now()[tostring(line)] end)
    end)
    return { list.title, places }
"""


def test_lens_of_allocation_lists_values(neovim: Neovim, compile_v5e: Compile) -> None:
    title, places = neovim.run(CLICK, path=compile_v5e.path(ASSIGNMENT), line=4)
    assert title == "hlo-lsp: 2 values, 1.00 MiB, 2 share offset 0"
    name = compile_v5e.path(ASSIGNMENT).name
    assert places == [[name, line, compile_v5e.line(ASSIGNMENT, line)] for line in (5, 6)]


def test_lens_of_value_lists_uses(neovim: Neovim, compile_v5e: Compile) -> None:
    title, places = neovim.run(CLICK, path=compile_v5e.path(ASSIGNMENT), line=6)
    assert title == "hlo-lsp: live 69-72 (3 steps): copy-start.1 -> the end of the program"
    name, entry = compile_v5e.path(VALUES).name, "<237 copy-start.1{0} @0>"
    line = compile_v5e.number(VALUES, entry)
    uses = ["  copy-done.1, operand 0 {0}", "  tuple.7, operand 3"]
    assert places == [[name, line + 6 + number, text] for number, text in enumerate(uses)]


def test_lens_without_places_shows_message(neovim: Neovim, compile_v5e: Compile) -> None:
    messages = neovim.run(
        """
        nvim.open(path)
        nvim.lenses(vim.api.nvim_buf_line_count(0) - 1)
        vim.api.nvim_win_set_cursor(0, { 2, 0 })
        vim.lsp.codelens.run()
        return vim.fn.execute('messages')
        """,
        path=compile_v5e.path(ASSIGNMENT),
    )
    assert "No executable codelens found at current line" in messages
