"""Tests for the time of programs in Neovim."""

from pathlib import Path
from typing import Any

import pytest

from editors.neovim import Neovim
from stats.test_measured_programs import MODULE, written_profile

pytestmark = pytest.mark.editors

_HELPERS = """
    local shown
    vim.notify = function(text) shown = text end
    local function message() return shown end
    local function listed(command)
      vim.cmd.buffer(vim.fn.bufnr(path))
      vim.fn.setqflist({})
      vim.cmd(command)
      nvim.wait('a list', function() return #vim.fn.getqflist() > 0 end)
      return vim.tbl_map(function(item)
        return { vim.fn.fnamemodify(vim.fn.bufname(item.bufnr), ':t'), item.lnum, item.text }
      end, vim.fn.getqflist())
    end
    local function page(command)
      vim.cmd.buffer(vim.fn.bufnr(path))
      vim.cmd(command)
      nvim.wait('a page', function()
        return vim.bo.buftype == 'nofile' and vim.fn.getline(1) ~= ''
      end)
      local text = table.concat(vim.fn.getline(1, '$'), '\\n')
      vim.cmd.close()
      return text
    end
    nvim.open(path)
"""


def _run(neovim: Neovim, folder: Path, script: str) -> Any:
    path = folder / "module_0003.m.cpu_after_optimizations.txt"
    path.write_text(MODULE, "utf-8")
    (folder / "runs").mkdir()
    profile = written_profile(folder / "runs" / "host.xplane.pb", dot=10, neg=30, add=40)
    return neovim.run(_HELPERS + script, path=path, profile=profile)


def test_loaded_profile_shows_where_time_goes(shared_neovim: Neovim, tmp_path: Path) -> None:
    found = _run(
        shared_neovim,
        tmp_path,
        """
        vim.cmd('HloLoadProfile ' .. profile)
        return {
          message = nvim.wait('a message', message),
          instructions = listed('HloHottest'),
          lines = listed('HloHottest!'),
          summary = page('HloCost'),
          comparison = page(('HloCompareProfiles %s %s'):format(profile, profile)),
        }
        """,
    )
    name = "module_0003.m.cpu_after_optimizations.txt"
    assert found["message"] == "m · 2 runs on CPU 0 · median 80.0 µs (80.0 µs to 80.0 µs)"
    assert found["instructions"] == [
        [name, 7, "add · 40.0 µs, 50% · add · train.py:7"],
        [name, 6, "neg · 30.0 µs, 38% · negate · train.py:8"],
        [name, 5, "dot · 10.0 µs, 12% · dot · train.py:7"],
    ]
    assert [text for _, _, text in found["lines"]] == [
        "train.py:7 · 50.0 µs, 62%",
        "train.py:8 · 30.0 µs, 38%",
        "other · 80.0 µs, 100%",
    ]
    assert "Most measured time: train.py:7, 50.0 µs (62%)" in found["summary"]
    assert "Median 80.0 µs → 80.0 µs" in found["comparison"]
