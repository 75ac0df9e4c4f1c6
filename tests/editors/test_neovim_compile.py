"""Tests for compiles in Neovim, with a stand-in of the compiler."""

from pathlib import Path

import pytest

from compiling.stand_in import copy_of, stand_in_python, write_dump
from editors.neovim import Neovim

pytestmark = pytest.mark.editors

_OPEN = """
    vim.lsp.config('hlo_lsp', { settings = { hlo = { compile = { python = python } } } })
    local client = nvim.open(path)
"""


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    return write_dump(tmp_path / "dump")


@pytest.fixture
def text(dump: Path) -> Path:
    """Return the module text before optimizations."""
    return next(dump.glob("*.before_optimizations.txt"))


@pytest.fixture
def python(tmp_path: Path, dump: Path) -> Path:
    after = copy_of(dump, tmp_path / "compiled", "f32[512]", "f32[1024]")
    return stand_in_python(tmp_path, after)


def test_edited_text_is_compiled_and_compared(neovim: Neovim, python: Path, text: Path) -> None:
    shown = neovim.run(
        _OPEN
        + """
        vim.cmd('%s/add(x, y)/multiply(x, y)/')
        local own = vim.api.nvim_get_current_buf()
        vim.api.nvim_exec_autocmds('TextChanged', { buffer = own }) -- no script causes it
        vim.cmd('HloCompile --chip v6e --flag xla_a=1')
        nvim.wait('a comparison', function() return vim.fn.bufnr('hlo-compare answer') > 0 end)
        local answer = vim.api.nvim_buf_get_lines(vim.fn.bufnr('hlo-compare answer'), 0, 3, false)
        local function lens()
          for _, lens in ipairs(vim.lsp.codelens.get(own)) do
            if lens.command and lens.command.title:match('^compiled') then
              return lens.command.title
            end
          end
        end
        return { answer, nvim.wait('the lens', lens) }
        """,
        python=python,
        path=text,
    )
    answer, lens = shown
    assert answer[0].startswith("jit_f: ")
    assert answer[2].startswith("compiled with jax 0.12.0, libtpu 0.0.50")
    assert lens.startswith("compiled: ")
    requests = (python.parent / "requests").read_text("utf-8")
    assert "multiply(x, y)" in requests
    assert '"xla_a": "1"' in requests


def test_wrong_option_shows_the_usage(shared_neovim: Neovim) -> None:
    message = shared_neovim.run(
        """
        local shown
        vim.notify = function(text) shown = text end
        vim.cmd('HloCompile --chips v6e')
        return shown
        """
    )
    assert message.startswith("usage: :HloCompile[!] [--chip CHIP]")


def test_compile_ends_on_request(neovim: Neovim, tmp_path: Path, text: Path) -> None:
    started = tmp_path / "started"
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\n[ "$1" = -c ] || {{ echo $$ >"{started}"; exec sleep 600; }}\n')
    python.chmod(0o755)
    running = neovim.run(
        _OPEN
        + """
        vim.cmd('HloCompile')
        nvim.wait('the compiler', function() return vim.fn.getfsize(started) > 0 end)
        local first = vim.fn.readfile(started)[1]
        vim.cmd('HloCompile') -- ends the first one
        nvim.wait('another compiler', function() return vim.fn.readfile(started)[1] ~= first end)
        vim.wait(500, function() return false end) -- for the answer of the first one
        vim.cmd('HloCompile!')
        local process = tonumber(vim.fn.readfile(started)[1])
        return nvim.wait('its end', function() return vim.uv.kill(process, 0) == nil end)
        """,
        python=python,
        path=text,
        started=started,
    )
    assert running
