"""The help page: Neovim accepts it, and every link in it leads somewhere."""

import re
import shutil
from pathlib import Path

import pytest

from editors.neovim import CLIENT, Neovim

pytestmark = pytest.mark.editors

PAGE = CLIENT / "doc" / "hlo_lsp.txt"


def test_helptags_accepts_the_page(neovim: Neovim, tmp_path: Path) -> None:
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


def test_the_page_names_every_file_type_of_the_client(neovim: Neovim) -> None:
    types = neovim.run("return vim.lsp.config.hlo_lsp.filetypes")
    assert types == ["hlo", "xla_memory", "xla_thunks", "xla_stdout"]
    page = PAGE.read_text("utf-8")
    assert [f"*ft-{name}*" in page for name in types] == [True] * len(types)
