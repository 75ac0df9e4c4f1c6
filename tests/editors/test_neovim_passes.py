"""Tests for the texts of passes in Neovim."""

from pathlib import Path

import pytest

from editors.neovim import Neovim
from pass_texts import written

pytestmark = pytest.mark.editors

GO = """
    nvim.open(path)
    nvim.cursor(text)
    local message
    vim.notify = function(text) message = text end
    vim.cmd(command)
    nvim.wait('a message', function() return message end)
    return { vim.fn.expand('%:p'), vim.fn.getline('.'), message }
"""


def test_next_pass_shows_same_instruction(shared_neovim: Neovim, tmp_path: Path) -> None:
    texts = written(tmp_path / "dump")
    found = shared_neovim.run(GO, path=texts[0], text="r = f32", command="HloNextPass")
    assert found[0] == str(texts[1])
    assert found[1].startswith("  ROOT %r = ")
    assert found[2] == "simplify > algsimp"
