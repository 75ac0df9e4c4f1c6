"""Tests for call hierarchies and workspace symbols in Neovim."""

import re

import pytest

from editors.conftest import Compile
from editors.neovim import Neovim

pytestmark = pytest.mark.editors

MODULE, ASSIGNMENT = "", "-buffer-assignment"

CALLS = """
    nvim.open(path)
    nvim.cursor(text)
    vim.lsp.buf[direction]()
    nvim.wait('a list', function() return vim.bo.buftype == 'quickfix' end)
    return vim.tbl_map(function(item)
      return { vim.fn.fnamemodify(vim.fn.bufname(item.bufnr), ':t'), item.lnum, item.text }
    end, vim.fn.getqflist())
"""


def test_incoming_calls_of_instruction_are_operands(neovim: Neovim, compile_v5e: Compile) -> None:
    name = compile_v5e.path(MODULE).name
    number = compile_v5e.starting(MODULE, "  %copy-done.1 = ")
    found = neovim.run(
        CALLS, path=compile_v5e.path(MODULE), text="%copy-done.1 = ", direction="incoming_calls"
    )
    operand = re.search(r"copy-done\(.*%([\w.-]+)\)", compile_v5e.line(MODULE, number))
    assert operand is not None
    assert [(file, text.lstrip("%")) for file, _, text in found] == [(name, operand[1])]


def test_outgoing_calls_of_instruction_are_users(neovim: Neovim, compile_v5e: Compile) -> None:
    users = compile_v5e.holding(MODULE, r"\(.*%copy-start\.1[,)]")
    assert users
    found = neovim.run(
        CALLS, path=compile_v5e.path(MODULE), text="%copy-start.1 = ", direction="outgoing_calls"
    )
    texts = {text.lstrip("%") for _, _, text in found}
    defined = [re.match(r" +(?:ROOT )?%([\w.-]+) =", compile_v5e.line(MODULE, n)) for n in users]
    assert texts == {match[1] for match in defined if match}


def test_incoming_calls_of_computation_are_callers(neovim: Neovim, compile_v5e: Compile) -> None:
    called = compile_v5e.holding(MODULE, r"calls=%")[0]
    match = re.search(r"calls=%([\w.-]+)", compile_v5e.line(MODULE, called))
    assert match is not None
    head = f"%{match[1]} ("
    found = neovim.run(CALLS, path=compile_v5e.path(MODULE), text=head, direction="incoming_calls")
    assert called in [line for _, line, _ in found]


def test_workspace_symbols_cover_folder(neovim: Neovim, own: Compile) -> None:
    found = neovim.run(
        """
        nvim.open(path)
        return nvim.list(vim.lsp.buf.workspace_symbol, 'copy-start.1')
        """,
        path=own.path(ASSIGNMENT),
    )
    places = {(name, number) for name, number, _ in found}
    define = own.starting(MODULE, "  %copy-start.1 = ")
    assert (own.path(MODULE).name, define) in places
    assert all("copy-start.1" in text for _, _, text in found[:1])
