"""Tests for code lenses in Neovim."""

import pytest

from editors.conftest import Compile
from editors.neovim import Neovim

pytestmark = pytest.mark.editors

ASSIGNMENT, VALUES = "-buffer-assignment", "-buffer-assignment-values"


def test_lenses_are_above_lines(neovim: Neovim, compile_v5e: Compile) -> None:
    shown = neovim.run(
        """
        nvim.open(path)
        return nvim.lenses(21)
        """,
        path=compile_v5e.path(ASSIGNMENT),
    )
    assert shown["1"].startswith("HBM: 1.61 MiB of 1.98 MiB at the peak, step 33 | arguments ")
    assert not {"2", "3"} & shown.keys()  # a small allocation and its value
    assert shown["4"] == "2 values, 1.00 MiB, 2 share offset 0"
    assert (
        shown["5"]
        == "1.00 MiB in HBM · whole program, last read at step 50 · argument params[1][0] "
        "→ slice-done.3"
    )
    assert (
        shown["6"]
        == "1.00 MiB in HBM · whole program, written at step 69 · programs.py:41 dot_general "
        "→ tuple.7"
    )


def test_lenses_refresh_after_insert_mode(neovim: Neovim, compile_v5e: Compile) -> None:
    shown = neovim.run(
        """
        nvim.open(path)
        local before = nvim.lenses(21)['4']
        vim.cmd('normal! 4G0fzwi2') -- size 1048576 -> size 21048576
        assert(nvim.lenses_now()['4'] == nil, 'Neovim kept the lens of a line that has changed')
        local lens = nvim.wait('the lens', function()
          local shown = nvim.lenses_now()['4']
          return shown and shown ~= before and shown
        end)
        return { vim.fn.getline(4):sub(1, 27), lens }
        """,
        path=compile_v5e.path(ASSIGNMENT),
    )
    assert shown == ["allocation 1: size 21048576", "2 values, 20.07 MiB, 2 share offset 0"]


def test_lenses_refresh_after_change_in_normal_mode(neovim: Neovim, compile_v5e: Compile) -> None:
    shown = neovim.run(
        """
        nvim.open(path)
        nvim.lenses(21)
        vim.cmd('normal! 5Gdd')
        vim.cmd.doautocmd('TextChanged') -- what Neovim does for keys that somebody presses
        return nvim.wait('the lens', function()
          local shown = nvim.lenses_now()
          return not shown['4'] and shown['5']
        end)
        """,
        path=compile_v5e.path(ASSIGNMENT),
    )
    assert shown.startswith("1.00 MiB in HBM · whole program, written at step 69")


def test_lenses_refresh_after_change_of_companion(neovim: Neovim, own: Compile) -> None:
    shown = neovim.run(
        """
        vim.o.hidden = true
        nvim.open(path)
        nvim.lenses(21)
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
    assert shown.startswith("1.00 MiB in HBM · whole program, for data of steps 69-71 · ")


CLICK = """
    nvim.open(path)
    nvim.lenses(21)
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


def test_lens_of_value_goes_to_last_user(neovim: Neovim, compile_v5e: Compile) -> None:
    name, line = neovim.run(
        """
        nvim.open(path)
        nvim.lenses(21)
        vim.api.nvim_win_set_cursor(0, { 5, 0 })
        vim.lsp.codelens.run()
        nvim.wait('the module', function()
          return vim.fn.expand('%:t'):find('optimizations.txt', 1, true)
        end)
        return { vim.fn.expand('%:t'), vim.fn.getline('.') }
        """,
        path=compile_v5e.path(ASSIGNMENT),
    )
    assert name.endswith("after_optimizations.txt")
    assert line.lstrip().startswith("%slice-done.3 = ")


def test_lens_of_first_line_opens_summary(neovim: Neovim, compile_v5e: Compile) -> None:
    title = neovim.run(
        """
        nvim.open(path)
        nvim.lenses(21)
        local function is_open() return vim.bo.buftype == 'nofile' end
        repeat vim.lsp.codelens.run() until vim.wait(3000, is_open) -- lenses may be refreshed
        return vim.fn.getline(1)
        """,
        path=compile_v5e.path(ASSIGNMENT),
    )
    assert title.strip() == "Memory of jit_mlp_train (TPU)"


def test_setting_shows_all_lenses(neovim: Neovim, compile_v5e: Compile) -> None:
    shown = neovim.run(
        """
        vim.lsp.config('hlo_lsp', { settings = { hlo = { codeLens = 'all' } } })
        nvim.open(path)
        return nvim.lenses(vim.api.nvim_buf_line_count(0))
        """,
        path=compile_v5e.path(ASSIGNMENT),
    )
    assert shown["3"].startswith("512 B, thread-local")


def test_lens_without_places_shows_message(neovim: Neovim, compile_v5e: Compile) -> None:
    messages = neovim.run(
        """
        nvim.open(path)
        nvim.lenses(21)
        vim.api.nvim_win_set_cursor(0, { 3, 0 })
        vim.lsp.codelens.run()
        return vim.fn.execute('messages')
        """,
        path=compile_v5e.path(ASSIGNMENT),
    )
    assert "No executable codelens found at current line" in messages
