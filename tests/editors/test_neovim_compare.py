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
          answer = vim.api.nvim_buf_get_lines(vim.fn.bufnr('hlo-compare answer'), 0, 4, false),
        }
        """,
        before=own.folder,
        after=after.folder,
    )
    assert " divide(" in shown["changed"]
    assert " divide(" in shown["line"]
    assert shown["file"] == str(after.path(""))
    title, _, *sides = shown["answer"]
    assert title == "jit_mlp_train: the same memory"
    assert sides[0].startswith(" • Before:")


def test_one_path_is_compared_with_this_dump(neovim: Neovim, own: Compile) -> None:
    before = changed_copy(own, own.folder.parent / "before")
    sides = neovim.run(
        """
        nvim.open(path)
        vim.cmd('HloCompare ' .. before)
        nvim.wait('three windows', function() return #vim.api.nvim_tabpage_list_wins(0) == 3 end)
        local answer = vim.fn.bufnr('hlo-compare answer')
        local sides = table.concat(vim.api.nvim_buf_get_lines(answer, 2, -1, false), '\\n')
        return (sides:gsub('\\n\\n.*', ''))
        """,
        before=before.folder,
        path=own.path(""),
    )
    assert sides.replace("\n", "").replace(" ", "") == (
        f"•Before:{before.folder}•After:{own.path('')}".replace(" ", "")
    )


def test_folder_without_dumps_is_a_message(shared_neovim: Neovim, own: Compile) -> None:
    empty = own.folder / "empty"
    empty.mkdir()
    message = shared_neovim.run(
        """
        local shown
        vim.notify = function(text) shown = text end
        vim.cmd('HloCompare ' .. before .. ' ' .. after)
        return nvim.wait('a message', function() return shown end)
        """,
        before=own.folder,
        after=empty,
    )
    assert message == f"{empty}: no dumps"
