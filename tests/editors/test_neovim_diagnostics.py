"""Tests for diagnostics in Neovim."""

import json
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
