"""Tests for rename, formatting, and signatures in Neovim."""

import re
from pathlib import Path

import pytest

from editors.conftest import Compile
from editors.neovim import Neovim

pytestmark = pytest.mark.editors

MODULE, ASSIGNMENT = "", "-buffer-assignment"
WRITTEN = """\
HloModule m

add.1 {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}

ENTRY main {
  x = f32[4,8] parameter(0)
  zero = f32[] constant(0)
  ROOT r = f32[4] reduce(x, zero), dimensions={1}, to_apply=add.1
}
"""


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "written.hlo"
    path.write_text(WRITTEN, "utf-8")
    return path


def test_rename_changes_every_mention(shared_neovim: Neovim, compile_v5e: Compile) -> None:
    path = compile_v5e.path(MODULE)
    lines = shared_neovim.run(
        """
        nvim.open(path)
        nvim.cursor('%copy-start.1 = ')
        local before = vim.api.nvim_buf_get_changedtick(0)
        vim.lsp.buf.rename('moved.out')
        nvim.wait('a change', function() return vim.api.nvim_buf_get_changedtick(0) > before end)
        return vim.api.nvim_buf_get_lines(0, 0, -1, false)
        """,
        path=path,
    )
    text = path.read_text("utf-8")
    renamed = re.sub(r"%copy-start\.1\b(?!\.)", "%moved.out", text)
    assert lines == renamed.splitlines()
    assert text.count("%copy-start.1 ") >= 1


def test_formatting_keeps_dumps(shared_neovim: Neovim, compile_v5e: Compile, written: Path) -> None:
    written.write_text(WRITTEN.replace("  x = f32[4,8] p", " x  =   f32[4,8]   p"), "utf-8")
    format_all = """
        nvim.open(path)
        vim.lsp.buf.format({ timeout_ms = 60000 })
        return vim.api.nvim_buf_get_lines(0, 0, -1, false)
    """
    assert shared_neovim.run(format_all, path=written) == WRITTEN.splitlines()
    dump = compile_v5e.path(MODULE)
    assert shared_neovim.run(format_all, path=dump) == dump.read_text("utf-8").splitlines()
