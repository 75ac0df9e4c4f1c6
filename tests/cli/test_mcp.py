"""``hlo-lsp mcp``, driven by the client of the official SDK."""

import shutil
import sys
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters, stdio_client

from cli.command import run
from compiling.stand_in import StandIn, write_dump
from hlo_lsp.cli.agent_tools import TOOLS, AgentToolError, bounded, compile_tool
from hlo_lsp.cli.mcp import create_server
from reports.example import STEM

COMMAND = StdioServerParameters(command=sys.executable, args=["-m", "hlo_lsp", "mcp"])


async def _call(tool: str, **arguments: Any) -> tuple[bool, str]:
    async with Client(create_server()) as client:
        result = await client.call_tool(tool, arguments)
        return bool(result.is_error), "".join(getattr(one, "text", "") for one in result.content)


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
async def test_tools_are_described_in_each_protocol(version: str) -> None:
    mode = "legacy" if version < "2026" else version
    async with Client(stdio_client(COMMAND), mode=mode) as client:
        assert client.protocol_version == version
        tools = (await client.list_tools()).tools
    assert [tool.name for tool in tools] == [tool.__name__ for tool in TOOLS]
    assert all(tool.description for tool in tools)


@pytest.mark.parametrize(
    ("tool", "arguments", "answer"),
    [
        ("summary", {"answer": "padding"}, "0 B of padding at the peaks"),
        ("summary", {"answer": "timeline", "space": "HBM", "at": "2"}, "5.0 KiB at step 2"),
        ("cost", {"answer": "collectives"}, "jit_f"),
        ("cost", {"chip": "v5e", "by": "opcode"}, "least time on TPU v5e"),
    ],
)
async def test_tool_answers(dump: Path, tool: str, arguments: dict[str, str], answer: str) -> None:
    is_error, text = await _call(tool, path=str(dump), **arguments)
    assert not is_error
    assert answer in text


@pytest.mark.parametrize("tool", ["summary", "diff", "find", "inspect"])  # of each kind of argument
async def test_argument_is_no_option(tool: str) -> None:
    names = signature({one.__name__: one for one in TOOLS}[tool]).parameters
    required = {"path", "before", "after", "log", "query", "name"} & set(names)
    is_error, text = await _call(tool, **dict.fromkeys(required, "--executor=json:dumps"))
    assert is_error
    assert "--executor=json:dumps: No such file or directory" in text or "--compare" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [((), "unknown tool compile"), (("--allow-compile",), "missing a required argument: 'path'")],
)
def test_compile_is_offered_only_if_allowed(options: tuple[str, ...], message: str) -> None:
    assert message in run("mcp", *options, "--call", "compile").err


def test_agent_cannot_choose_the_python() -> None:
    assert "python" not in signature(compile_tool("python3")).parameters


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a shell script")
def test_compile_uses_the_python_of_the_server(tmp_path: Path) -> None:
    path = write_dump(tmp_path / "dump")
    stand_in = StandIn(tmp_path, dumps=(path,))
    tool = compile_tool(str(stand_in.python()))
    answer = tool(str(path), flag="xla_tpu_limit=6", donate="x")
    assert answer.endswith("jit_f: no differences")
    (request,) = stand_in.requests
    assert (request["options"], request["donated"]) == ({"xla_tpu_limit": "6"}, [1])


def test_compile_takes_no_option_with_a_path(tmp_path: Path) -> None:
    with pytest.raises(AgentToolError, match="could write to a path"):
        compile_tool(None)(str(tmp_path), flag="xla_tpu_log=/etc/x")


async def test_answer_is_sent_once(dump: Path) -> None:
    async with Client(create_server()) as client:
        result = await client.call_tool("modules", {"path": str(dump)})
    assert len(result.content) == 1
    assert result.structured_content is None


async def test_host_that_differs_is_an_answer(dump: Path, tmp_path: Path) -> None:
    for number in range(3):
        shutil.copytree(dump, tmp_path / "pod" / f"host_{number}")
    (text,) = (tmp_path / "pod" / "host_1").glob(f"{STEM}.txt")
    text.write_text(text.read_text("utf-8").replace("f32[256]", "f32[255]"), "utf-8")
    is_error, answer = await _call("modules", answer="hosts", path=str(tmp_path / "pod"))
    assert not is_error
    assert "hosts that differ: host_1" in answer


async def test_profile_is_compared(corpus_profiles: Path) -> None:
    path = str(corpus_profiles / "jax_0_12" / "train")
    is_error, text = await _call("profile", path=path, before=path, by="phase")
    assert not is_error
    assert text.startswith("jit_train_step · median 392 µs → 392 µs")


async def test_check_gives_advice_unless_asked_for_errors(dump: Path) -> None:
    _, everything = await _call("check", path=str(dump), max_bytes=1_000_000)
    _, errors = await _call("check", path=str(dump), severity="error", max_bytes=1_000_000)
    assert "error: " in everything
    assert "information: " in everything
    assert "information: " not in errors


@pytest.mark.parametrize("name", ["1", "2:1"])
async def test_parts_of_a_dump_are_explained(dump: Path, name: str) -> None:
    (path,) = dump.glob("*-buffer-assignment.txt")
    is_error, text = await _call("inspect", path=str(path), name=name)
    assert not is_error, text


async def test_missing_path_is_an_error(tmp_path: Path) -> None:
    is_error, text = await _call("summary", path=str(tmp_path / "absent"))
    assert is_error
    assert "No such file" in text


@pytest.mark.parametrize("arguments", ["[1]", "{", "{}", '{"path": "absent"}'])
def test_wrong_arguments_have_a_message(arguments: str) -> None:
    found = run("mcp", "--call", "summary", "--arguments", arguments)
    assert found.status == 2
    assert found.err.startswith(("hlo-lsp: --arguments: ", "hlo-lsp: absent: "))


async def test_answers_are_bounded(compiled: Any) -> None:
    path = compiled("tpu").assignment
    is_error, text = await _call("find", query="fusion", path=str(path), top=1000, max_bytes=500)
    assert not is_error
    assert len(text.encode()) <= 500
    assert text.splitlines()[-1].startswith("[")


@pytest.mark.parametrize("text", ["", "short", "ü" * 900, "a\n" * 900, "x" * 150 + "\n" + "y" * 99])
def test_cut_text_has_at_most_the_bytes(text: str) -> None:
    cut = bounded(text, 200)
    assert len(cut.encode()) <= 200
    assert cut == text or "for more, pass a larger max_bytes" in cut
