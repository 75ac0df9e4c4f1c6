"""The answers on the page *What if*, compiled again.

As ``tests/oracles/test_advice.py``, the test needs a Python with jax and libtpu, by default this
one, otherwise that of the environment variable ``HLO_LSP_JAX_PYTHON``. The page has the answers of
one release; of others, only the form is compared.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from cli.command import run
from dumps import CORPUS_PROGRAMS

_PAGE = Path(__file__).parents[2] / "docs" / "what_if.md"
_PYTHON = os.environ.get("HLO_LSP_JAX_PYTHON", sys.executable)
_WALK = re.compile(r"```text\n\$ hlo-lsp (compile dumps[^\n]*)\n(.*?)```", re.DOTALL)
_COMPILED = re.compile(r"^compiled with (jax [^ ]*, libtpu [^ ]*) ", re.MULTILINE)
_AMOUNT = re.compile(r"[-+]?\d[\d.,]*")
_SECONDS = 1200

pytestmark = pytest.mark.corpus


def _walks() -> dict[str, list[str]]:
    """Return the lines of the answers on the page, by their commands."""
    return {
        command: [line for line in answer.split("\n") if line.strip(". ")]
        for command, answer in _WALK.findall(_PAGE.read_text("utf-8"))
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the dump of the page."""
    probe = subprocess.run([_PYTHON, "-c", "import jax, libtpu"], check=False, capture_output=True)
    if probe.returncode:
        pytest.skip(f"{_PYTHON} has no jax and libtpu")
    found = tmp_path_factory.mktemp("walks")
    command = [_PYTHON, str(CORPUS_PROGRAMS / "what_if.py"), str(found / "dumps")]
    subprocess.run(command, check=True, timeout=_SECONDS)
    return found


def test_page_has_the_walks() -> None:
    assert [command.partition(" dumps")[2] for command in _walks()] == [
        "",
        " --donate",
        " --chip v6e",
        " --flag xla_tpu_scoped_vmem_limit_kib=65536",
    ]


@pytest.mark.parametrize("command", _walks())
def test_answer_is_that_of_the_page(
    monkeypatch: pytest.MonkeyPatch, folder: Path, command: str
) -> None:
    monkeypatch.chdir(folder)
    found = run(*shlex.split(command), "--python", _PYTHON)
    assert found.err == ""
    documented = _walks()[command]
    ours, theirs = map(_COMPILED.search, ("\n".join(_walks()["compile dumps"]), found.out))
    assert ours is not None
    assert theirs is not None
    printed = found.out.split("\n")
    if ours[1] != theirs[1]:
        documented, printed = (
            [_AMOUNT.sub("N", line) for line in one] for one in (documented, printed)
        )
        documented = [line.partition(": ")[0] for line in documented]
    assert [
        line
        for line in documented
        if not line.startswith("compiled with ")
        and not any(each.startswith(line.removesuffix("...").rstrip()) for each in printed)
    ] == []
