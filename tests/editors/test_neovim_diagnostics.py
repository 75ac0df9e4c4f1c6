"""Tests for diagnostics in Neovim."""

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from editors.conftest import Compile
from editors.neovim import Neovim

pytestmark = pytest.mark.editors

ASSIGNMENT = "-buffer-assignment"
KEYS = 150


def checked(path: Path) -> list[list[Any]]:
    """Return the findings of `hlo-lsp check`: line and column from 1, code, message."""
    command = [sys.executable, "-m", "hlo_lsp", "check", "--format", "json", str(path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode in {0, 1}, ended.stderr
    found = json.loads(ended.stdout)
    return sorted([each["line"], each["column"], each["code"], each["message"]] for each in found)


def test_wrong_size_is_reported_until_undone(shared_neovim: Neovim, compile_v5e: Compile) -> None:
    stages = shared_neovim.run(
        """
        nvim.open(path)
        local stages = {}
        local function note()
          stages[#stages + 1] = vim.tbl_map(function(found)
            return { found.lnum + 1, found.code, found.source, found.message,
                     vim.fn.getline(found.lnum + 1):sub(found.col + 1, found.end_col) }
          end, vim.diagnostic.get(0))
        end
        nvim.answered('textDocument/diagnostic')
        note()
        vim.cmd('6s/size=1048576/size=1048575/')
        nvim.wait('a diagnostic', function() return #vim.diagnostic.get(0) > 0 end)
        note()
        vim.cmd.undo()
        nvim.wait('silence', function() return #vim.diagnostic.get(0) == 0 end)
        note()
        return stages
        """,
        path=compile_v5e.path(ASSIGNMENT),
    )
    assert stages[0] == []
    assert [found[:3] for found in stages[1]] == [[6, "size-mismatch", "hlo-lsp"]]
    assert stages[1][0][3].startswith("size is 1,048,575 B, but the shape takes 1,048,576 B")
    assert stages[1][0][4] == "1048575"
    assert stages[2] == []


STORM = """
    vim.o.hidden = true
    nvim.open(path)
    nvim.answered('textDocument/diagnostic')
    for _, edit in ipairs(edits) do
      vim.api.nvim_win_set_cursor(0, { edit[1], edit[2] })
      vim.api.nvim_feedkeys(vim.keycode(edit[3]), 'xt', false)
      vim.wait(edit[4]) -- the server hears of some edits at once, of others together
    end
    vim.cmd('silent write')
    local function shown()
      return vim.tbl_map(function(found)
        return { found.lnum + 1, found.col + 1, found.code, found.message }
      end, vim.diagnostic.get(0))
    end
    -- Writing checks once more; diagnostics that stay for a second are final.
    local last, since = nil, vim.uv.now()
    nvim.wait('silence of the server', function()
      local now = vim.json.encode(shown())
      if now ~= last then
        last, since = now, vim.uv.now()
      end
      local pending = vim.tbl_filter(function(request)
        return request.type == 'pending'
      end, vim.lsp.get_clients({ bufnr = 0 })[1].requests)
      return vim.uv.now() - since > 2000 and vim.tbl_isempty(pending)
    end)
    return shown()
"""


def test_diagnostics_match_text_after_many_edits(shared_neovim: Neovim, own: Compile) -> None:
    path = own.path(ASSIGNMENT)
    lines = path.read_text("utf-8").splitlines()
    choice = random.Random(1)
    keys = ["i7<Esc>", "x", "a0<Esc>", "r9", "dd", "yyp", "u", "<C-r>", "A,<Esc>", "i{<Esc>", "J"]
    edits = []
    typed = 0
    while typed < KEYS:
        line = choice.randrange(1, len(lines) // 2)
        column = choice.randrange(len(lines[line - 1]) or 1)
        text = choice.choice(keys)
        edits.append([line, column, text, choice.choice([0, 0, 0, 5, 200])])
        typed += len(text.replace("<Esc>", "e").replace("<C-r>", "r"))
    shown = shared_neovim.run(STORM, path=path, edits=edits)
    assert path.read_text("utf-8").splitlines() != lines
    expected = checked(path)
    assert expected
    assert sorted(shown) == expected
