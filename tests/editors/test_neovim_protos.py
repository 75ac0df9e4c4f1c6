"""Tests for protos in Neovim."""

from pathlib import Path

import pytest

from editors.neovim import Neovim
from protos.messages import HLO_PROTO, serialized

pytestmark = pytest.mark.editors

_OPEN = """
    vim.cmd.edit(path)
    nvim.wait('the text', function() return vim.bo.filetype == 'xla_stdout' end)
"""


@pytest.fixture
def proto(tmp_path: Path) -> Path:
    path = tmp_path / "m.hlo.pb"
    path.write_bytes(serialized("HloProto", HLO_PROTO))
    return path


def test_protos_open_as_text(shared_neovim: Neovim, proto: Path) -> None:
    before = proto.read_bytes()
    found = shared_neovim.run(
        f"""
        {_OPEN}
        return {{
          lines = vim.api.nvim_buf_get_lines(0, 0, -1, false),
          modifiable = vim.bo.modifiable,
          modified = vim.bo.modified,
          writes = pcall(vim.cmd.write),
        }}
        """,
        path=proto,
    )
    assert "*** Begin m.txt ***" in found["lines"]
    assert found["lines"][-1] == "*** End m-live-range.txt ***"
    assert (found["modifiable"], found["modified"], found["writes"]) == (False, False, False)
    assert proto.read_bytes() == before


def test_other_protos_stay_empty(shared_neovim: Neovim, tmp_path: Path) -> None:
    path = tmp_path / "m.hlo.pb"
    path.write_bytes(b"\x08\x01")
    found = shared_neovim.run(
        """
        local message
        vim.notify = function(text) message = text end
        vim.cmd.edit(path)
        nvim.wait('a message', function() return message ~= nil end)
        return { message, vim.api.nvim_buf_get_lines(0, 0, -1, false) }
        """,
        path=path,
    )
    assert "not the proto of an HLO module" in found[0]
    assert found[1] == [""]
