"""Tests for pages of text in Neovim: the summary, on narrow and wide screens."""

import pytest

from editors.conftest import Compile
from editors.neovim import Neovim

pytestmark = pytest.mark.editors


@pytest.mark.parametrize("columns", [80, 120])
def test_summary_is_text_that_fits(
    shared_neovim: Neovim, compile_v5e: Compile, columns: int
) -> None:
    lines = shared_neovim.run(
        """
        nvim.open(path)
        vim.o.columns = columns
        vim.cmd('HloSummary')
        nvim.wait('a summary', function() return vim.fn.getline(1):find('Memory of') end)
        vim.o.columns = 80
        return vim.fn.getline(1, '$')
        """,
        path=compile_v5e.path(""),
        columns=columns,
    )
    text = "\n".join(lines)
    assert "file:" not in text
    assert "](" not in text
    assert max(map(len, lines)) <= columns
    assert any(line.split()[:1] == ["Owner"] for line in lines)


def test_row_leads_to_line_of_buffer(shared_neovim: Neovim, compile_v5e: Compile) -> None:
    found = shared_neovim.run(
        """
        nvim.open(path)
        vim.cmd('HloSummary')
        nvim.wait('a summary', function() return vim.fn.getline(1):find('Memory of') end)
        vim.fn.search('^ Buffer')
        vim.cmd('normal! 2j')
        local name = vim.fn.getline('.'):match('[%w_.-]+')
        vim.cmd('normal gd')
        return { name = name, line = vim.fn.getline('.'), windows = #vim.api.nvim_list_wins() }
        """,
        path=compile_v5e.path(""),
    )
    assert f" {found['name']} @" in found["line"]
    assert found["windows"] == 2  # the place is not in the window of the summary


def test_hover_breaks_between_words(shared_neovim: Neovim, compile_v5e: Compile) -> None:
    text = shared_neovim.run(
        """
        nvim.open(path)
        nvim.cursor(' fusion(')
        vim.lsp.buf.hover()
        local text = nvim.float()
        nvim.wait('breaks between words', function()
          for _, window in ipairs(vim.api.nvim_list_wins()) do
            local is_float = vim.api.nvim_win_get_config(window).relative ~= ''
            if is_float and vim.wo[window].linebreak then
              return true
            end
          end
        end)
        return text
        """,
        path=compile_v5e.path(""),
    )
    assert "[" in text
    assert "\\[" not in text
