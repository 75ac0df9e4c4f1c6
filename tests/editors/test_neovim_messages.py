"""Tests for out-of-memory messages in Neovim."""

from pathlib import Path

import pytest

from editors.neovim import Neovim
from oom_messages import SHORT, text_of

pytestmark = pytest.mark.editors


def _log(folder: Path) -> Path:
    log = folder / "train.log"
    log.write_text("step 1\n" + text_of(SHORT), "utf-8")
    return log


def test_summary_of_log_is_report(shared_neovim: Neovim, tmp_path: Path) -> None:
    lines = shared_neovim.run(
        """
        nvim.open(path)
        nvim.wait('a server', function() return vim.lsp.get_clients({ name = 'hlo_lsp' })[1] end)
        vim.cmd('HloSummary')
        nvim.wait('a summary', function()
          return vim.bo.buftype == 'nofile' and vim.fn.getline(1) ~= ''
        end)
        return vim.fn.getline(1, '$')
        """,
        path=_log(tmp_path),
    )
    assert lines[0].strip() == "Out of memory"
    assert any(line.startswith("jit_train_step: not enough HBM") for line in lines)
