"""Tests for the client in Neovim 0.7 to 0.10, which lack `vim.lsp.enable`."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from editors.conftest import Compile
from editors.neovim import Neovim, find_old_neovim

pytestmark = pytest.mark.editors

MODULE, ASSIGNMENT, VALUES = "", "-buffer-assignment", "-buffer-assignment-values"


@pytest.fixture
def old(tmp_path: Path) -> Neovim:
    return Neovim(find_old_neovim(), tmp_path)


@pytest.fixture(scope="module")
def shared_old(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Neovim]:
    neovim = Neovim(find_old_neovim(), tmp_path_factory.mktemp("old"), is_shared=True)
    yield neovim
    neovim.end()


def test_hover_shows_value(shared_old: Neovim, compile_v5e: Compile) -> None:
    shown = shared_old.run(
        """
        nvim.open(path)
        nvim.cursor('copy-start.1{0}')
        vim.lsp.buf.hover()
        return nvim.float()
        """,
        path=compile_v5e.path(ASSIGNMENT),
    )
    assert (
        shown.splitlines()[0]
        == "1.00 MiB in HBM · whole program, written at step 69 · programs.py:41 dot_general"
    )
    assert "1,048,576 B (1.00 MiB)" in shown


def test_wrong_size_is_reported_until_fixed(shared_old: Neovim, compile_v5e: Compile) -> None:
    codes = shared_old.run(
        """
        nvim.open(path)
        vim.cmd('6s/size=1048576/size=1048575/')
        nvim.wait('a diagnostic', function() return #vim.diagnostic.get(0) > 0 end)
        local found = vim.diagnostic.get(0)
        vim.cmd('undo')
        nvim.wait('silence', function() return #vim.diagnostic.get(0) == 0 end)
        return { #found, found[1].lnum + 1, found[1].message }
        """,
        path=compile_v5e.path(ASSIGNMENT),
    )
    assert codes[:2] == [1, 6]
    assert codes[2].startswith("size is 1,048,575 B, but the shape takes 1,048,576 B")


LENSES = """
    nvim.open(path)
    nvim.wait('lenses', function() return nvim.lenses_now()['6'] end)
"""


def test_lenses_refresh_after_insert_mode(old: Neovim, compile_v5e: Compile) -> None:
    first, changed = old.run(
        LENSES
        + """
        local first = nvim.lenses_now()
        vim.cmd('normal! 54G0fzwi2') -- size 393728 -> size 2393728
        return { first, nvim.wait('the lens', function()
          local lens = nvim.lenses_now()['54']
          return lens ~= first['54'] and lens
        end) }
        """,
        path=compile_v5e.path(ASSIGNMENT),
    )
    assert "2" not in first
    assert (
        first["6"]
        == "1.00 MiB in HBM · whole program, written at step 69 · programs.py:41 dot_general "
        "→ tuple.7"
    )
    assert changed == "25 values, 2.28 MiB, 10 at the peak"


def test_files_share_server_that_restarts(old: Neovim, compile_v5e: Compile) -> None:
    shared, servers, lens = old.run(
        """
        vim.o.hidden = true
        local first = nvim.open(values).id
        local shared = nvim.open(path).id == first
        local servers = vim.api.nvim_get_proc_children(vim.fn.getpid())
        vim.loop.kill(servers[1], 'sigkill')
        nvim.wait('another', function()
          return next(vim.lsp.buf_get_clients(0)) and not vim.lsp.buf_get_clients(0)[first]
        end)
        vim.cmd('normal! 54G0fzwi2')
        return { shared, #servers, nvim.wait('a new lens', function()
          local lens = nvim.lenses_now()['54']
          return lens and lens:find('2.28', 1, true) and lens
        end) }
        """,
        path=compile_v5e.path(ASSIGNMENT),
        values=compile_v5e.path(VALUES),
    )
    assert (shared, servers) == (True, 1)
    assert lens.startswith("25 values, 2.28 MiB")


def test_start_shows_no_message(old: Neovim, compile_v5e: Compile) -> None:
    messages = old.run(
        """
        nvim.open(path)
        return vim.fn.execute('messages')
        """,
        path=compile_v5e.path(ASSIGNMENT),
    )
    assert "W18" not in messages
    assert "Error" not in messages
