"""Tests for the restart of the server in Neovim."""

import pytest

from editors.conftest import Compile
from editors.neovim import Neovim

pytestmark = pytest.mark.editors

ASSIGNMENT = "-buffer-assignment"

AROUND = """
    local notes = {}
    vim.notify = function(text) notes[#notes + 1] = text end
    local function server()
      return vim.api.nvim_get_proc_children(vim.fn.getpid())[1]
    end
    local function again(old)
      return nvim.wait('another server', function()
        local client = vim.lsp.get_clients({ bufnr = 0, name = 'hlo_lsp' })[1]
        return client and client.initialized and client.id ~= old.id and client
      end)
    end
    local count
    local function all_lenses()
      count = 18
      return nvim.lenses(count)
    end
    local first = nvim.open(path)
    all_lenses()
"""


def test_killed_server_restarts_with_lenses_and_diagnostics(
    neovim: Neovim, compile_v5e: Compile
) -> None:
    notes, lens, codes = neovim.run(
        AROUND
        + """
        vim.cmd('6s/size=1048576/size=1048575/')
        nvim.wait('a finding', function() return #vim.diagnostic.get(0) > 0 end)
        vim.uv.kill(server(), 'sigkill')
        again(first)
        all_lenses()
        vim.cmd('8s/size=524288/size=524280/')
        nvim.wait('two findings', function() return #vim.diagnostic.get(0) == 2 end)
        nvim.cursor('copy-start.1{0}')
        vim.lsp.buf.hover()
        nvim.float()
        local codes = vim.tbl_map(function(each) return each.code end, vim.diagnostic.get(0))
        return { notes, nvim.lenses_now()['54'], codes }
        """,
        path=compile_v5e.path(ASSIGNMENT),
    )
    assert "hlo-lsp exited unexpectedly and was restarted" in notes
    assert lens == "25 values, 384.5 KiB, 10 at the peak"
    assert codes == ["size-mismatch", "size-mismatch"]


def test_repeated_crashes_stop_restarts(neovim: Neovim, compile_v5e: Compile) -> None:
    deaths = neovim.run(
        AROUND
        + """
        local client, deaths = first, 0
        while deaths < 5 do
          vim.uv.kill(server(), 'sigkill')
          deaths = deaths + 1
          client = again(client)
        end
        notes = {}
        vim.uv.kill(server(), 'sigkill')
        nvim.wait('its end', function() return #vim.lsp.get_clients() == 0 and not server() end)
        vim.wait(500)
        return { deaths, #vim.lsp.get_clients(), notes }
        """,
        path=compile_v5e.path(ASSIGNMENT),
    )
    assert deaths[:2] == [5, 0]
    assert "hlo-lsp exited unexpectedly and was restarted" not in deaths[2]


def test_user_can_restart_server(neovim: Neovim, compile_v5e: Compile) -> None:
    lens, notes = neovim.run(
        AROUND
        + """
        vim.cmd.HloRestart()
        again(first)
        return { all_lenses()['54'], notes }
        """,
        path=compile_v5e.path(ASSIGNMENT),
    )
    assert lens == "25 values, 384.5 KiB, 10 at the peak"
    assert notes == []


def test_failing_start_is_not_repeated(neovim: Neovim, compile_v5e: Compile) -> None:
    ends = neovim.run(
        """
        local ends = 0
        vim.notify = function() ends = ends + 1 end
        vim.lsp.config('hlo_lsp', { cmd = { 'false' } })
        vim.cmd.edit(vim.fn.fnameescape(path))
        nvim.wait('its end', function() return ends > 0 end)
        vim.wait(500)
        return ends
        """,
        path=compile_v5e.path(ASSIGNMENT),
    )
    assert ends == 1
