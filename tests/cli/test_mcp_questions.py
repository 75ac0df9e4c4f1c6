"""Questions about a real compile, one for each tool, answered within 4 kB each."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from hlo_lsp.cli.mcp import create_server

_STEM = "module_0000.jit_mlp_train.cl_1003875606.after_optimizations"
_FOLDER, _MODULE, _ASSIGNMENT = "", f"{_STEM}.txt", f"{_STEM}-buffer-assignment.txt"
_MAX_BYTES = 4_000
_QUESTIONS: tuple[tuple[str, str, dict[str, Any], str], ...] = (
    ("How large is the peak of HBM?", "summary", {}, "peak of HBM 1.61 MiB at step 33 of 72"),
    ("Which compiles are there?", "modules", {}, "jit_mlp_train · 249 instructions"),
    ("What owns line 41?", "find", {"query": "programs.py:41"}, "13 buffers, 258.0 KiB of 1.85"),
    ("What is fusion.40?", "inspect", {"path": _MODULE, "name": "fusion.40"}, "bitcast_fusion.1"),
    (
        "Why is copy-start.1 alive?",
        "inspect",
        {"path": _ASSIGNMENT, "name": "copy-start.1"},
        "the caller: it is an output",
    ),
    (
        "Is the dump consistent?",
        "check",
        {"severity": "warning"},
        "no findings",
    ),
    ("What has changed?", "diff", {"before": _FOLDER, "after": _FOLDER}, "no differences"),
)


@pytest.fixture
def folder(corpus_small: Path, tmp_path: Path) -> Path:
    """Return a folder with one compile."""
    for path in (corpus_small / "tpu_v5e").glob(f"{_STEM.partition('.after')[0]}.*"):
        shutil.copy(path, tmp_path)
    return tmp_path


@pytest.mark.e2e  # The tools run a process for each question.
async def test_questions_are_answered_within_limit(folder: Path) -> None:
    assert len(_QUESTIONS) == 7
    wrong = []
    async with Client(create_server()) as client:
        for question, tool, given, expected in _QUESTIONS:
            arguments = {"path": _FOLDER, **given} if "before" not in given else dict(given)
            for name in {"path", "before", "after"} & arguments.keys():
                arguments[name] = str(folder / arguments[name])
            result = await client.call_tool(tool, arguments)
            answer = "".join(getattr(one, "text", "") for one in result.content)
            if expected not in answer or len(answer.encode()) > _MAX_BYTES:
                wrong.append((question, answer))
    assert wrong == []
