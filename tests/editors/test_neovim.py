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
