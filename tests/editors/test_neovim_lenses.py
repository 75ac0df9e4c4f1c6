"""Tests for code lenses in Neovim."""

import pytest

from editors.conftest import Compile
from editors.neovim import Neovim

pytestmark = pytest.mark.editors

ASSIGNMENT, VALUES = "-buffer-assignment", "-buffer-assignment-values"


def test_lenses_are_above_lines(shared_neovim: Neovim, compile_v5e: Compile) -> None:
    shown = shared_neovim.run(
        """
        nvim.open(path)
        return nvim.lenses(18)
        """,
        path=compile_v5e.path(ASSIGNMENT),
    )
    assert shown["1"].startswith("HBM: 1.61 MiB of 1.99 MiB at the peak, step 33 | arguments ")
    assert not {"2", "3"} & shown.keys()  # a small allocation and its value
    assert "4" not in shown  # its values occupy the same bytes during the whole program
    assert shown["54"] == "25 values, 384.5 KiB, 10 at the peak"
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


def test_first_lens_has_its_room_before_its_text(neovim: Neovim, compile_v5e: Compile) -> None:
    texts = neovim.run(
        """
        local set, texts = vim.api.nvim_buf_set_extmark, {}
        vim.api.nvim_buf_set_extmark = function(buffer, namespace, row, column, options)
          if row == 0 and options.virt_lines then
            texts[#texts + 1] = options.virt_lines[1][1][1]
          end
          return set(buffer, namespace, row, column, options)
        end
        nvim.open(path)
        nvim.lenses(18)
        return texts
        """,
        path=compile_v5e.path(ASSIGNMENT),
    )
    assert texts[0] == "…"
    assert texts[-1].startswith("HBM: 1.61 MiB of 1.99 MiB")


def test_lenses_refresh_after_insert_mode(neovim: Neovim, compile_v5e: Compile) -> None:
    shown = neovim.run(
        """
        nvim.open(path)
        local before = nvim.lenses(18)['54']
        vim.cmd('normal! 54G0fzwi2') -- size 393728 -> size 2393728
        assert(nvim.lenses_now()['54'] == nil, 'Neovim kept the lens of a line that has changed')
        local lens = nvim.wait('the lens', function()
          local shown = nvim.lenses_now()['54']
          return shown and shown ~= before and shown
        end)
        return { vim.fn.getline(54):sub(1, 27), lens }
        """,
        path=compile_v5e.path(ASSIGNMENT),
    )
    assert shown == ["allocation 23: size 2393728", "25 values, 2.28 MiB, 10 at the peak"]


def test_lenses_refresh_after_change_in_normal_mode(neovim: Neovim, compile_v5e: Compile) -> None:
    shown = neovim.run(
        """
        nvim.open(path)
        nvim.lenses(18)
        vim.cmd('normal! 56Gdd')
        vim.cmd.doautocmd('TextChanged') -- what Neovim does for keys that somebody presses
        return nvim.wait('the lens', function()
          local lens = nvim.lenses_now()['54']
          return lens and vim.startswith(lens, '24 values') and lens
        end)
        """,
        path=compile_v5e.path(ASSIGNMENT),
    )
    assert shown.startswith("24 values, 384.5 KiB")


def test_lenses_refresh_after_change_of_companion(shared_neovim: Neovim, own: Compile) -> None:
    shown = shared_neovim.run(
        """
        vim.o.hidden = true
        nvim.open(path)
        nvim.lenses(18)
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
    nvim.lenses(18)
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


def test_lens_of_allocation_lists_values(shared_neovim: Neovim, compile_v5e: Compile) -> None:
    title, places = shared_neovim.run(CLICK, path=compile_v5e.path(ASSIGNMENT), line=54)
    assert title == "hlo-lsp: 25 values, 384.5 KiB, 10 at the peak"
    name = compile_v5e.path(ASSIGNMENT).name
    places.sort(key=lambda place: place[1])
    assert places == [[name, line, compile_v5e.line(ASSIGNMENT, line)] for line in range(55, 80)]


def test_lens_of_first_line_opens_summary(shared_neovim: Neovim, compile_v5e: Compile) -> None:
    title = shared_neovim.run(
        """
        nvim.open(path)
        nvim.lenses(18)
        local function is_open() return vim.bo.buftype == 'nofile' end
        repeat vim.lsp.codelens.run() until vim.wait(3000, is_open) -- lenses may be refreshed
        return vim.fn.getline(1)
        """,
        path=compile_v5e.path(ASSIGNMENT),
    )
    assert title.strip() == "Memory of jit_mlp_train (TPU)"
