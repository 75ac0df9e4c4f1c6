"""Tests for decorations in Neovim: hints, colors, folds, and highlights."""

import pytest

from editors.conftest import Compile
from editors.neovim import Neovim

pytestmark = pytest.mark.editors

MODULE, ASSIGNMENT, VALUES = "", "-buffer-assignment", "-buffer-assignment-values"

COLORS = """
    nvim.open(path)
    nvim.cursor(text)
    vim.cmd('normal! zt')
    local line = vim.fn.line('.')
    return nvim.wait('colors', function()
      local shown = {}
      for _, token in ipairs(nvim.drawn('semantic_tokens')) do
        if token.line == line then
          local group = token.details.hl_group
          local link = vim.api.nvim_get_hl(0, { name = (group:gsub('%.[%w_]+$', '')) }).link
          shown[#shown + 1] = { token.text, group, link or '' }
        end
      end
      return #shown > 0 and shown
    end)
"""


def test_words_of_instruction_have_their_types(shared_neovim: Neovim, compile_v5e: Compile) -> None:
    path = compile_v5e.path(MODULE)
    found = shared_neovim.run(COLORS, path=path, text="  %copy-done.1 = ")
    words = {text: (group, link) for text, group, link in found if "@lsp.type." in group}
    assert words["%copy-done.1"] == ("@lsp.type.instruction.hlo", "@lsp.type.variable")
    assert words["f32"] == ("@lsp.type.elementType.hlo", "@lsp.type.type")
    assert words["copy-done"] == ("@lsp.type.opcode.hlo", "@lsp.type.function")
    assert words["%copy-start.1"] == ("@lsp.type.instruction.hlo", "@lsp.type.variable")
    assert words["512"][0] == "@lsp.type.number.hlo"
    assert words["T(8,128)"] == ("@lsp.type.tile.hlo", "@lsp.type.macro")
    assert ["%copy-done.1", "@lsp.mod.declaration.hlo"] in [each[:2] for each in found]


def test_colors_of_user_win(neovim: Neovim, compile_v5e: Compile) -> None:
    links = neovim.run(
        """
        vim.api.nvim_set_hl(0, '@lsp.type.opcode', { link = 'Special' })
        vim.cmd.runtime('plugin/hlo_lsp.lua')
        local mine = vim.api.nvim_get_hl(0, { name = '@lsp.type.opcode' }).link
        vim.cmd.colorscheme('habamax')
        return { mine, vim.api.nvim_get_hl(0, { name = '@lsp.type.tile' }).link }
        """,
        path=compile_v5e.path(ASSIGNMENT),
    )
    assert links == ["Special", "@lsp.type.macro"]


def test_allocations_fold(shared_neovim: Neovim, compile_v5e: Compile) -> None:
    folds = shared_neovim.run(
        """
        nvim.open(path)
        vim.wo.foldmethod, vim.wo.foldexpr = 'expr', 'v:lua.vim.lsp.foldexpr()'
        vim.wo.foldlevel = 0
        nvim.answered('textDocument/foldingRange')
        return nvim.wait('folds', function()
          vim.cmd('normal! zX')
          local first = vim.fn.foldclosed(4)
          return first > 0 and { first, vim.fn.foldclosedend(4), vim.fn.foldtextresult(4) }
        end)
        """,
        path=compile_v5e.path(VALUES),
    )
    begin, end, _ = folds
    lines = compile_v5e.path(VALUES).read_text("utf-8").splitlines()
    assert lines[begin - 1].startswith("<") or lines[begin - 1] == "Used values:"
    assert end > begin


def test_lenses_and_hints_differ_from_text_in_16_colors(
    neovim: Neovim, compile_v5e: Compile
) -> None:
    colors = neovim.run(
        """
        return vim.tbl_map(function(name)
          return vim.api.nvim_get_hl(0, { name = name, link = false }).ctermfg
        end, { 'LspCodeLens', 'LspInlayHint' })
        """,
        path=compile_v5e.path(ASSIGNMENT),
    )
    assert colors == [8, 8]


def test_color_scheme_for_terminals_keeps_its_colors(neovim: Neovim, compile_v5e: Compile) -> None:
    kept = neovim.run(
        """
        vim.api.nvim_set_hl(0, 'LspInlayHint', { ctermfg = 3 })
        require('hlo_lsp.highlights').define()
        return vim.api.nvim_get_hl(0, { name = 'LspInlayHint' }).ctermfg
        """,
        path=compile_v5e.path(ASSIGNMENT),
    )
    assert kept == 3
