"""Tests for the client in Neovim: navigation and hovers."""

import os
import time
from pathlib import Path

import pytest

from editors.conftest import Compile
from editors.neovim import Neovim

pytestmark = pytest.mark.editors

MODULE, ASSIGNMENT, VALUES = "", "-buffer-assignment", "-buffer-assignment-values"
LIVE_RANGE, REPORT = "-live-range", "-memory-usage-report"


def test_hover_shows_value(shared_neovim: Neovim, compile_v5e: Compile) -> None:
    shown = shared_neovim.run(
        """
        nvim.open(path)
        nvim.cursor('copy-start.1{0}')
        vim.lsp.buf.hover()
        return nvim.float()
        """,
        path=compile_v5e.path(ASSIGNMENT),
    )
    lines = shown.splitlines()
    assert (
        lines[0]
        == "1.00 MiB in HBM · whole program, written at step 69 · programs.py:41 dot_general"
    )


def test_declaration_of_value_is_its_allocation(
    shared_neovim: Neovim, compile_v5e: Compile
) -> None:
    place = shared_neovim.run(
        """
        nvim.open(path)
        local before = vim.api.nvim_get_current_buf()
        nvim.cursor('<237 copy-start.1{0} @0>')
        vim.fn.search('copy')
        vim.lsp.buf.declaration()
        nvim.wait('a jump', function() return vim.api.nvim_get_current_buf() ~= before end)
        nvim.answered('textDocument/codeLens')
        local clients = vim.lsp.get_clients({ name = 'hlo_lsp' })
        return { vim.api.nvim_buf_get_name(0), vim.fn.line('.'), vim.fn.getline('.'), #clients }
        """,
        path=compile_v5e.path(VALUES),
    )
    line = compile_v5e.line(ASSIGNMENT, 4)
    assert line.startswith("allocation 1: ")
    assert place == [str(compile_v5e.path(ASSIGNMENT)), 4, line, 1]


def test_definition_of_operand_is_its_instruction(
    shared_neovim: Neovim, compile_v5e: Compile
) -> None:
    shown = shared_neovim.run(
        """
        nvim.open(path)
        nvim.cursor('copy-done(%copy-start.1)')
        vim.fn.search('%copy-start')
        local before = vim.fn.line('.')
        vim.lsp.buf.definition()
        nvim.wait('a jump', function() return vim.fn.line('.') ~= before end)
        local line = vim.fn.getline('.')
        vim.lsp.buf.hover()
        return { line, nvim.float() }
        """,
        path=compile_v5e.path(MODULE),
    )
    line, card = shown
    assert line == compile_v5e.line(MODULE, compile_v5e.starting(MODULE, "  %copy-start.1 = "))
    assert "`copy-start.1`" in card
    leaf = "- **leaf {0}** allocation 1 at offset 0, 1,048,576 B (1.00 MiB), live 69-72"
    assert leaf in card.splitlines()


def test_references_cover_all_files(shared_neovim: Neovim, compile_v5e: Compile) -> None:
    found = shared_neovim.run(
        """
        nvim.open(path)
        nvim.cursor('copy-start.1{0}')
        return nvim.list(vim.lsp.buf.references, { includeDeclaration = true })
        """,
        path=compile_v5e.path(ASSIGNMENT),
    )
    files = {name for name, _, _ in found}
    suffixes = (MODULE, ASSIGNMENT, VALUES, LIVE_RANGE, REPORT)
    assert files == {compile_v5e.path(suffix).name for suffix in suffixes}


def test_symbols_are_allocations_with_values(shared_neovim: Neovim, compile_v5e: Compile) -> None:
    found = shared_neovim.run(
        """
        nvim.open(path)
        return nvim.list(vim.lsp.buf.document_symbol)
        """,
        path=compile_v5e.path(ASSIGNMENT),
    )
    lines = compile_v5e.path(ASSIGNMENT).read_text("utf-8").splitlines()
    assert [number for _, number, _ in found] == list(range(1, len(lines) + 1))
    assert [text for _, _, text in found[:6]] == [
        "[Namespace] BufferAssignment",
        "[Array] allocation 0",
        "[Variable] 11 reduce_sum.40",
        "[Array] allocation 1",
        "[Variable] 183 params_1__0_.1",
        "[Variable] 237 copy-start.1{0}",
    ]


def test_server_ends_with_neovim(neovim: Neovim, compile_v5e: Compile) -> None:
    servers = neovim.run(
        """
        nvim.open(path)
        return vim.api.nvim_get_proc_children(vim.fn.getpid())
        """,
        path=compile_v5e.path(ASSIGNMENT),
    )
    assert len(servers) == 1
    deadline = time.monotonic() + 30
    while _runs(servers[0]):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
        status = Path(f"/proc/{process}/status")
        # In a container no process may reap zombies: a zombie has ended too.
        return not status.is_file() or "State:\tZ" not in status.read_text("utf-8")
    except (ProcessLookupError, FileNotFoundError):
        return False


def test_server_starts_without_relative_import_paths(
    neovim: Neovim, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["", ".", str(tmp_path), "lib"]))
    found = neovim.run("return vim.lsp.config.hlo_lsp.cmd_env")
    assert found == {"PYTHONSAFEPATH": "1", "PYTHONPATH": str(tmp_path)}
