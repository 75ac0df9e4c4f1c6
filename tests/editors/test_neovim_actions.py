"""Tests for code actions in Neovim."""

from pathlib import Path

import pytest

from editors.conftest import Compile
from editors.neovim import Neovim

pytestmark = pytest.mark.editors

WRONG_SIZE = "6s/size=1048576/size=1048575/"
ASSIGNMENT, LIVE_RANGE = "-buffer-assignment", "-live-range"

# The user's choice from the menu, as a function of the titles in it.
CHOOSE = """
    local offered = {}
    vim.ui.select = function(items, _, choose)
      local wanted
      for _, item in ipairs(items) do
        offered[#offered + 1] = item.action.title
        wanted = wanted or (item.action.title:find(title, 1, true) and item)
      end
      choose(wanted)
    end
    nvim.open(path)
    if damage then
      vim.cmd(damage)
    end
    -- Advice stays when the damage is mended.
    local function damaged()
      return vim.diagnostic.get(0, { severity = vim.diagnostic.severity.ERROR })[1]
    end
    vim.api.nvim_win_set_cursor(0, { nvim.wait('a finding', damaged).lnum + 1, 0 })
    vim.lsp.buf.code_action()
    nvim.wait('a menu', function() return #offered > 0 end)
"""
MENDED = """
    nvim.wait('silence', function() return not damaged() end)
    return { offered, vim.api.nvim_buf_get_lines(0, 0, -1, false) }
"""


def act(
    neovim: Neovim, path: Path, title: str, damage: str | None = None
) -> tuple[list[str], list[str]]:
    """Apply an action, and return the titles of all actions and the resulting lines."""
    offered, lines = neovim.run(CHOOSE + MENDED, path=path, title=title, damage=damage)
    return offered, lines


def test_fix_corrects_size(shared_neovim: Neovim, compile_v5e: Compile) -> None:
    path = compile_v5e.path(ASSIGNMENT)
    offered, lines = act(shared_neovim, path, "Change to ", WRONG_SIZE)
    assert offered == [
        "Change to 1048576",
        "Explain rule size-mismatch",
        f"Ignore size-mismatch in folder {path.parent.name}",
        "Fix all derivable values",
    ]
    assert lines == path.read_text("utf-8").splitlines()


def test_rule_explanation_opens(shared_neovim: Neovim, compile_v5e: Compile) -> None:
    shown = shared_neovim.run(
        CHOOSE
        + """
        nvim.wait('the page', function() return vim.fn.expand('%:t') == 'rules.md' end)
        return vim.fn.getline('.')
        """,
        path=compile_v5e.path(ASSIGNMENT),
        title="Explain",
        damage=WRONG_SIZE,
    )
    assert "size-mismatch" in shown
