"""Tests for HLO in strings and fences in Neovim."""

from pathlib import Path

import pytest

from editors.neovim import Neovim, find_old_neovim

pytestmark = pytest.mark.editors

_HLO = "HloModule m\n\nENTRY e {\n  p = f32[8,128] parameter(0)\n  ROOT t = f32[8,64] tanh(p)\n}\n"
_TEXTS = {
    "model.py": f'import jax\n\ntext = """{_HLO}"""\n',
    "a_test.cc": f'auto m = Parse(R"({_HLO})");\n',
    "notes.md": f"# Notes\n\n```hlo\n{_HLO}```\n",
}


@pytest.mark.parametrize("name", _TEXTS)
def test_embedded_text_has_hover_and_diagnostics(
    shared_neovim: Neovim, tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    path.write_text(_TEXTS[name], "utf-8")
    script = """
        nvim.open(path)
        nvim.cursor('tanh(p)')
        local found = nvim.wait('a diagnostic', function()
          return vim.diagnostic.get(0)[1]
        end)
        vim.lsp.buf.hover()
        local text = nvim.float()
        vim.cmd('normal! 5l')
        vim.lsp.buf.definition()
        nvim.wait('the definition', function()
          return vim.api.nvim_get_current_line():find('parameter') ~= nil
        end)
        return { found.code, found.lnum - vim.fn.line('.'), vim.bo.formatexpr, text }
    """
    code, distance, formatexpr, text = shared_neovim.run(script, path=path)
    assert (code, distance, formatexpr) == ("shape-mismatch", 0, "")
    assert "tanh" in str(text)


def test_old_neovim_shows_diagnostics_of_embedded_text(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(_TEXTS["model.py"], "utf-8")
    script = """
        nvim.open(path)
        return nvim.wait('a diagnostic', function()
          return vim.diagnostic.get(0)[1]
        end).lnum
    """
    assert Neovim(find_old_neovim(), tmp_path).run(script, path=path) == 6


def test_server_does_not_attach_without_hlo(neovim: Neovim, tmp_path: Path) -> None:
    path = tmp_path / "a.cc"
    path.write_text("HloModule module(name);\n", "utf-8")
    script = "vim.cmd.edit(path) vim.wait(300) return #vim.lsp.get_clients()"
    assert neovim.run(script, path=path) == 0


def test_setting_disables_embedded_hlo(neovim: Neovim, tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(_TEXTS["model.py"], "utf-8")
    script = """
        vim.lsp.config('hlo_lsp', { settings = { hlo = { embeddedHlo = false } } })
        vim.cmd.edit(path)
        vim.wait(300)
        return #vim.lsp.get_clients()
    """
    assert neovim.run(script, path=path) == 0
