"""Tests for the comparison of two compiles in Neovim."""

import pytest

from editors.compared import changed_copy
from editors.conftest import Compile
from editors.neovim import Neovim

pytestmark = pytest.mark.editors


def test_compare_shows_answer_and_diff(shared_neovim: Neovim, own: Compile) -> None:
    after = changed_copy(own, own.folder.parent / "after")
    shown = shared_neovim.run(
        """
        vim.cmd('HloCompare ' .. before .. ' ' .. after)
        nvim.wait('three windows', function() return #vim.api.nvim_tabpage_list_wins(0) == 3 end)
        nvim.wait('two diffs', function() return vim.wo.diff end)
        vim.cmd('normal! gg]c')
        local changed = vim.fn.getline('.')
        vim.cmd('normal gd')
        local windows = vim.api.nvim_list_wins()
        return {
          changed = changed,
          file = vim.fn.expand('%:p'),
          line = vim.fn.getline('.'),
          answer = vim.api.nvim_buf_get_lines(vim.fn.bufnr('hlo-compare answer'), 0, 1, false)[1],
        }
        """,
        before=own.folder,
        after=after.folder,
    )
    assert " divide(" in shown["changed"]
    assert " divide(" in shown["line"]
    assert shown["file"] == str(after.path(""))
    assert shown["answer"] == "# jit_mlp_train: the same memory"
