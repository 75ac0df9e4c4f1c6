"""Tests for the help page of the Neovim client."""

import json
import re
import shutil
from dataclasses import fields
from pathlib import Path

import pytest

from editors.conftest import Compile
from editors.neovim import CLIENT, Neovim
from hlo_lsp.checks.framework.options import CheckOptions
from hlo_lsp.ide.inlay_hints import HintKind

pytestmark = pytest.mark.editors

PAGE = CLIENT / "doc" / "hlo_lsp.txt"


def test_helptags_accepts_page(neovim: Neovim, tmp_path: Path) -> None:
    doc = tmp_path / "client" / "doc"
    doc.mkdir(parents=True)
    shutil.copy(PAGE, doc)
    # A tag of somebody else's page with the same name would be an error too.
    links = set(re.findall(r"\|([^|\s]+)\|", PAGE.read_text("utf-8")))
    assert links
    texts = neovim.run(
        """
        vim.cmd.helptags(doc)
        vim.opt.runtimepath:append(vim.fn.fnamemodify(doc, ':h'))
        local lines = {}
        for _, link in ipairs(links) do
          vim.cmd.help(link)
          lines[#lines + 1] = vim.fn.getline('.')
        end
        return lines
        """,
        doc=doc,
        links=sorted(links),
    )
    tags = {line.split("\t")[0] for line in (doc / "tags").read_text("utf-8").splitlines()}
    assert tags == set(re.findall(r"(?<!\S)\*(\S+)\*(?!\S)", PAGE.read_text("utf-8")))
    for link, text in zip(sorted(links), texts, strict=True):
        assert f"*{link}*" in text


def test_page_names_every_file_type(neovim: Neovim) -> None:
    types = neovim.run("return vim.lsp.config.hlo_lsp.filetypes")
    assert types == ["hlo", "xla_memory", "xla_thunks", "xla_stdout", "xla_oom", "xla_flags"]
    page = PAGE.read_text("utf-8")
    assert [f"*ft-{name}*" in page for name in types] == [True] * len(types)


def test_page_names_every_setting() -> None:
    page = PAGE.read_text("utf-8")
    manifest = json.loads((CLIENT.parent / "vscode-client" / "package.json").read_text("utf-8"))
    settings = manifest["contributes"]["configuration"]["properties"]
    ours = [name for name in settings if not name.startswith(("hlo.server.", "hlo.trace."))]
    for kind in HintKind:
        assert f"`{kind.value}`" in page
    for field in fields(CheckOptions):
        assert f"`{field.name}`" in page
    assert {name.split(".")[1] for name in ours} <= set(re.findall(r"`hlo\.(\w+)`", page))


def test_documented_defaults_are_real(neovim: Neovim, compile_v5e: Compile) -> None:
    shown = neovim.run(
        """
        nvim.open(path)
        nvim.lenses(18)
        nvim.answered('textDocument/diagnostic')
        nvim.wait('colors', function() return #nvim.drawn('semantic_tokens') > 0 end)
        return { hints = vim.lsp.inlay_hint.is_enabled(), folds = vim.wo.foldmethod }
        """,
        path=compile_v5e.path("-buffer-assignment"),
    )
    assert shown == {"hints": False, "folds": "manual"}
