"""Tests for the memory of Python lines in Neovim."""

from pathlib import Path
from typing import Any

import pytest

from dumps import unpacked
from editors.neovim import CLIENT, Neovim

pytestmark = pytest.mark.editors

_SAMPLE = CLIENT.parent / "vscode-client" / "sample"
_NOTES = """
    vim.lsp.config('hlo_lsp', {
      settings = {
        hlo = { pythonNotes = setting, sourceMap = { ['/home/user/hlo-sample'] = folder } },
      },
    })
    local namespace = vim.api.nvim_create_namespace('hlo_lsp_python_notes')
    local function notes()
      local found = {}
      local marks = vim.api.nvim_buf_get_extmarks(0, namespace, 0, -1, { details = true })
      for _, mark in ipairs(marks) do
        found[#found + 1] = { mark[2] + 1, mark[4].virt_text[1][1] }
      end
      return #found > 0 and found
    end
    nvim.open(dump)
    vim.cmd.edit(program)
"""


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """Return a folder with the program of the sample dump, and the dump below."""
    (tmp_path / "train.py").write_bytes((_SAMPLE / "train.py").read_bytes())
    unpacked(_SAMPLE / "dump.tar.xz", tmp_path)
    return tmp_path


def _run(neovim: Neovim, sample: Path, script: str, setting: str = "large") -> Any:
    (assignment,) = sample.rglob("*-buffer-assignment.txt")
    program, folder = sample / "train.py", sample
    return neovim.run(
        _NOTES + script, dump=assignment, program=program, folder=folder, setting=setting
    )


def test_large_lines_show_memory_and_list_buffers(neovim: Neovim, sample: Path) -> None:
    found = _run(
        neovim,
        sample,
        """
        local shown = nvim.wait('notes', notes)
        local clients = #vim.lsp.get_clients({ bufnr = 0 })
        vim.api.nvim_win_set_cursor(0, { 35, 0 })
        vim.cmd('HloBuffers')
        local listed = vim.tbl_map(function(item) return item.text end, vim.fn.getqflist())
        return { notes = shown, clients = clients, listed = listed }
        """,
    )
    assert [35, "76.00 MiB at the peak · 3 buffers"] in found["notes"]
    assert found["clients"] == 0  # the server does not attach
    assert len(found["listed"]) == 3
    assert found["listed"][0].endswith(" · 64.00 MiB · bf16[8,512,8192]{2,1,0:T(8,128)(2,1)}")


def test_edited_dump_refreshes_notes(neovim: Neovim, sample: Path) -> None:
    found = _run(
        neovim,
        sample,
        """
        nvim.wait('notes', notes)
        vim.cmd.buffer({ bang = true, args = { vim.fn.bufnr(dump) } })
        vim.api.nvim_buf_set_lines(0, 0, -1, false, {})
        vim.cmd('silent write!')
        vim.cmd.buffer(vim.fn.bufnr(program))
        nvim.wait('no notes', function() return not notes() end)
        return true
        """,
    )
    assert found is True
