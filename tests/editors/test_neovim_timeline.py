"""Tests for the timeline in Neovim."""

import pytest

from editors.conftest import Compile
from editors.neovim import Neovim

pytestmark = pytest.mark.editors

SHOWN = """
    nvim.open(path)
    nvim.wait('a server', function() return vim.lsp.get_clients({ name = 'hlo_lsp' })[1] end)
    vim.cmd('HloTimeline ' .. step)
    nvim.wait('a timeline', function()
      return vim.bo.buftype == 'nofile' and vim.fn.getline(1) ~= ''
    end)
    assert(not vim.bo.modifiable, 'the text can be changed')
    return vim.fn.getline(1, '$')
"""


def test_timeline_shows_curve(shared_neovim: Neovim, compile_v5e: Compile) -> None:
    path = compile_v5e.path("-buffer-assignment")
    lines = shared_neovim.run(SHOWN, path=path, step="")
    assert lines[0].startswith("jit_mlp_train · TPU · ")
    assert any("█" in line for line in lines)


def test_step_lists_buffers(shared_neovim: Neovim, compile_v5e: Compile) -> None:
    path = compile_v5e.path("-buffer-assignment")
    lines = shared_neovim.run(SHOWN, path=path, step="30")
    assert any(" at step 30 in " in line for line in lines)
