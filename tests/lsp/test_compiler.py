"""Compiles of open texts: what is compiled, what the answer compares, and errors in the text."""

import asyncio
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from lsprotocol import types

from compiling.stand_in import RESULT, UNOPTIMIZED, StandIn, write_dump
from hlo_lsp.compiling.compiler_process import CompilerProcess
from hlo_lsp.lsp import comparison, compile_results, compiler
from hlo_lsp.lsp.client import Client, Json, path_of
from hlo_lsp.lsp.code_lenses import code_lenses
from hlo_lsp.lsp.comparison import answer_comparison
from hlo_lsp.lsp.compiler import Compiler
from hlo_lsp.lsp.custom_requests import (
    COMPILE_CHOICES_METHOD,
    COMPILE_METHOD,
    CompareParams,
    CompileChanges,
    CompileParams,
    CompilePlace,
    FileParams,
)
from hlo_lsp.lsp.findings import check_text
from hlo_lsp.lsp.loading import SessionListener
from hlo_lsp.lsp.progress import Progress, RequestFailedError
from hlo_lsp.lsp.session import Session
from hlo_lsp.text.inert import printable
from lsp.opened import context_in, item
from lsp.test_session_edits import edit, whole_document
from reports.example import ASSIGNMENT

EDITED = UNOPTIMIZED.replace("add(x, y)", "multiply(x, y)")


class CancelledProgress(Progress):
    """The progress of a task that the user has cancelled."""

    is_cancelled = True


class Listener(SessionListener):
    """A listener that returns the progress of a harness."""

    def __init__(self, harness: "Harness") -> None:
        self._harness = harness

    def progress(self, title: str, *, is_indefinite: bool = False) -> Progress:  # noqa: ARG002
        return self._harness.progress


class Harness:
    """A session whose compiler is a program that answers from a list."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, stand_in: StandIn) -> None:
        async def run(work: Callable[[], object]) -> object:
            return work()

        monkeypatch.setattr(CompilerProcess, "script", stand_in.script)
        monkeypatch.setattr(compiler, "find_python", lambda _: sys.executable)
        for module in (compiler, comparison):
            monkeypatch.setattr(module, "run_in_process", run)
        self.session = Session()
        self.session.client = Client(can_compile=True)
        self.shown: list[str] = []
        self.progress = Progress("")
        self.session.listener = Listener(self)
        self._requests = Compiler(self.session, self.shown.append).requests()

    def open(self, uri: str, text: str) -> None:
        self.session.open(item(uri, text))

    async def compile(self, uri: str, changes: CompileChanges | None = None) -> Json | None:
        found: Json | None = await self._requests[COMPILE_METHOD](CompileParams(uri, changes))
        return found

    async def choices(self, uri: str) -> Json:
        found: Json = await self._requests[COMPILE_CHOICES_METHOD](FileParams(uri))
        return found

    async def lenses(self, uri: str) -> list[Any]:
        context = await context_in(self.session, types.TextDocumentIdentifier(uri))
        assert context is not None
        return [lens["command"] for lens in code_lenses(context) if "command" in lens]

    async def diagnostics(self, uri: str) -> list[tuple[int, str]]:
        checked = await check_text(self.session, types.TextDocumentIdentifier(uri))
        found = [one for one in checked.diagnostics if one["source"] == "XLA"]
        return [(one["range"]["start"]["line"], one["message"]) for one in found]


def _refusal(line: int, message: str) -> dict[str, Any]:
    text = f"INVALID_ARGUMENT: Syntax error: was parsing {line}:3: error: {message}"
    return {"error": text, "type": "XlaRuntimeError", "failed": "parse", "seconds": {}}


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    """Return the module text before optimizations of a dump."""
    return next(write_dump(tmp_path / "dump").glob("*.before_optimizations.txt"))


@pytest.fixture
def larger(tmp_path: Path) -> Path:
    """Return a dump with a larger buffer."""
    folder = write_dump(tmp_path / "larger")
    assignment = ASSIGNMENT.replace("size=2048,offset=0", "size=4096,offset=0").replace(
        "size=1024,offset=2048", "size=1024,offset=4096"
    )
    path = next(folder.glob("*-buffer-assignment.txt"))
    path.write_text(assignment.replace("size 3072", "size 5120"), "utf-8")
    return folder


def _edited(
    monkeypatch: pytest.MonkeyPatch, folder: Path, dump: Path, after: Path
) -> tuple[StandIn, Harness]:
    """Open an edited text, whose program before the edit is compiled as well."""
    stand_in = StandIn(folder, {**RESULT, "is_original": False}, dumps=(after, dump.parent))
    harness = Harness(monkeypatch, stand_in)
    harness.open(dump.as_uri(), EDITED)
    return stand_in, harness


async def test_answer_has_both_sides(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, dump: Path, larger: Path
) -> None:
    harness = Harness(monkeypatch, StandIn(tmp_path, dumps=(larger,)))
    found = await harness.compile(dump.as_uri())
    assert found is not None
    before, after = path_of(found["before"]), path_of(found["after"])
    assert before is not None
    assert after is not None
    assert before.parent == dump.parent
    assert any(after.iterdir())
    assert found["title"].startswith("allocated ")
    assert " -> " in found["title"]
    assert harness.shown == [dump.as_uri()]


async def test_unsaved_text_is_compiled(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, dump: Path, larger: Path
) -> None:
    stand_in, harness = _edited(monkeypatch, tmp_path, dump, larger)
    await harness.compile(dump.as_uri(), CompileChanges(chip="v6e", flags={"xla_a": "1"}))
    edited, unedited = stand_in.requests
    assert (edited["text"], unedited["text"]) == (EDITED, UNOPTIMIZED)
    assert (edited["topology"], edited["options"]) == ("v6e:2x2", {"xla_a": "1"})


async def test_program_before_the_edits_is_compiled_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, dump: Path, larger: Path
) -> None:
    stand_in, harness = _edited(monkeypatch, tmp_path, dump, larger)
    first = await harness.compile(dump.as_uri())
    edit(harness.session, whole_document(EDITED.replace("(x, y)", "(y, x)")), uri=dump.as_uri())
    second = await harness.compile(dump.as_uri())
    assert first is not None
    assert second is not None
    assert first["before"] == second["before"]
    assert ["(x, y)" in one["text"] for one in stand_in.requests] == [True, True, False]


async def test_shared_dump_stays_while_a_comparison_needs_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, dump: Path, larger: Path
) -> None:
    _, harness = _edited(monkeypatch, tmp_path, dump, larger)
    monkeypatch.setattr(compile_results, "_MAX_KEPT", 2)
    found = [await harness.compile(dump.as_uri()) for _ in range(4)]
    sides = [{side: path_of(one[side]) for side in ("before", "after")} for one in found if one]
    assert len({one["before"] for one in sides}) == 1
    assert all(path is not None and path.exists() for path in sides[-1].values())
    assert [one["after"] is not None and one["after"].exists() for one in sides] == [
        True,  # in the folder of the dump that all compare with
        False,
        True,
        True,
    ]


async def test_snippet_is_compared_with_its_last_compile(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, dump: Path
) -> None:
    harness = Harness(monkeypatch, StandIn(tmp_path, dumps=(dump.parent,)))
    harness.open("untitled:Untitled-1", UNOPTIMIZED.replace(":T(256)", ""))
    first = await harness.compile("untitled:Untitled-1")
    second = await harness.compile("untitled:Untitled-1")
    assert first is not None
    assert second is not None
    assert first["before"] is None
    module = path_of(first["after"])
    assert module is not None
    assert path_of(second["before"]) == module.parent


async def test_lens_compiles_and_shows_the_result(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, dump: Path, larger: Path
) -> None:
    harness = Harness(monkeypatch, StandIn(tmp_path, dumps=(larger,)))
    uri = dump.as_uri()
    harness.open(uri, UNOPTIMIZED)
    compile_ = {"title": "compile", "command": "hlo.compile", "arguments": [uri]}
    assert await harness.lenses(uri) == [compile_]
    found = await harness.compile(uri)
    assert found is not None
    sides = [found["before"], found["after"], "jit_f"]
    title = f"compiled: {found['title']}"
    shown = {"title": title, "command": "hlo.showCompiled", "arguments": sides}
    assert await harness.lenses(uri) == [compile_, shown]
    edit(harness.session, whole_document(EDITED), uri=uri)
    assert (await harness.lenses(uri))[1]["title"].startswith("compiled before the last edit: ")


async def test_compile_of_the_first_text_is_current(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, dump: Path, larger: Path
) -> None:
    harness = Harness(monkeypatch, StandIn(tmp_path, dumps=(larger,)))
    harness.open(dump.as_uri(), UNOPTIMIZED)
    await harness.compile(dump.as_uri())  # before anything has read the text
    assert (await harness.lenses(dump.as_uri()))[1]["title"].startswith("compiled: ")


async def test_reopened_text_can_be_another_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, dump: Path, larger: Path
) -> None:
    harness = Harness(monkeypatch, StandIn(tmp_path, dumps=(larger,)))
    await harness.compile(dump.as_uri())
    harness.open(dump.as_uri(), EDITED)
    title = (await harness.lenses(dump.as_uri()))[1]["title"]
    assert title.startswith("compiled before the last edit: ")


async def test_several_modules_have_no_lens(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    harness = Harness(monkeypatch, StandIn(tmp_path))
    text = UNOPTIMIZED.replace(":T(256)", "")
    harness.open("untitled:1", f"{text}\n// -----\n\n{text}")
    assert await harness.lenses("untitled:1") == []


async def test_lens_shows_the_new_dump_without_the_old_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, dump: Path
) -> None:
    harness = Harness(monkeypatch, StandIn(tmp_path, dumps=(dump.parent,)))
    harness.open("untitled:1", UNOPTIMIZED.replace(":T(256)", ""))
    await harness.compile("untitled:1")
    found = await harness.compile("untitled:1")
    assert found is not None
    before = path_of(found["before"])
    assert before is not None
    shutil.rmtree(before)
    assert (await harness.lenses("untitled:1"))[1]["arguments"][0] is None


async def test_compiled_text_has_no_lens(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, dump: Path
) -> None:
    harness = Harness(monkeypatch, StandIn(tmp_path))
    path = next(dump.parent.glob("*.after_optimizations.txt"))
    harness.open(path.as_uri(), path.read_text("utf-8"))
    assert await harness.lenses(path.as_uri()) == []


async def test_error_is_a_diagnostic_until_its_line_changes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, dump: Path
) -> None:
    harness = Harness(monkeypatch, StandIn(tmp_path, _refusal(6, "expected a shape")))
    uri = dump.as_uri()
    harness.open(uri, EDITED)
    with pytest.raises(RequestFailedError, match=r"before_optimizations\.txt:6: expected a shape"):
        await harness.compile(uri)
    assert await harness.diagnostics(uri) == [(5, "expected a shape")]
    repaired = EDITED.replace("multiply(x, y)", "add(y, y)")
    edit(harness.session, whole_document(repaired), uri=uri)
    assert await harness.diagnostics(uri) == []


async def test_error_in_another_text_has_no_diagnostic(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, dump: Path
) -> None:
    harness = Harness(monkeypatch, StandIn(tmp_path, _refusal(2, "expected a shape")))
    path = next(dump.parent.glob("*.after_optimizations.txt"))
    harness.open(path.as_uri(), path.read_text("utf-8"))
    with pytest.raises(RequestFailedError, match="line 2 of the text before optimizations: exp"):
        await harness.compile(path.as_uri())
    assert await harness.diagnostics(path.as_uri()) == []


async def test_cancelled_compile_has_no_answer(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, dump: Path
) -> None:
    harness = Harness(monkeypatch, StandIn(tmp_path, then="time.sleep(60)"))
    harness.progress = CancelledProgress("")
    assert await harness.compile(dump.as_uri()) is None


async def test_later_compile_ends_the_earlier_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, dump: Path, larger: Path
) -> None:
    marker = tmp_path / "first"
    wait = f"os.path.exists({str(marker)!r}) or (open({str(marker)!r}, 'w'), time.sleep(60))"
    harness = Harness(monkeypatch, StandIn(tmp_path, dumps=(larger,), then=wait))
    first = asyncio.ensure_future(harness.compile(dump.as_uri()))
    while not marker.exists():
        await asyncio.sleep(0.01)
    assert await harness.compile(dump.as_uri()) is not None
    assert await first is None


async def test_comparison_begins_with_the_notes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, dump: Path, larger: Path
) -> None:
    harness = Harness(monkeypatch, StandIn(tmp_path, dumps=(larger,)))
    found = await harness.compile(dump.as_uri())
    assert found is not None
    before, after = (CompilePlace(found[side], None) for side in ("before", "after"))
    page = (await answer_comparison(harness.session, CompareParams(before, after)))["markdown"]
    assert page.split("\n\n")[1].startswith("compiled with jax 0.12.0, libtpu 0.0.50")


async def test_choices_are_those_of_the_dump(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, dump: Path
) -> None:
    harness = Harness(monkeypatch, StandIn(tmp_path))
    assert await harness.choices(dump.as_uri()) == {
        "options": [
            {"name": "xla_tpu_limit", "value": "5"},
            {"name": "xla_tpu_name", "value": "AUTO"},
        ],
        "arguments": [
            {"number": 0, "name": "p['w']", "isUsable": True},
            {"number": 1, "name": "x", "isUsable": False},
        ],
    }


async def test_choices_are_those_of_an_open_text(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    harness = Harness(monkeypatch, StandIn(tmp_path))
    harness.open("untitled:1", UNOPTIMIZED.replace(":T(256)", ""))
    found = await harness.choices("untitled:1")
    assert [one["name"] for one in found["arguments"]] == ["p['w']", "x"]
    assert await harness.choices("untitled:2") == {"options": [], "arguments": []}


@pytest.mark.parametrize("name", ["untitled:Untitled-1", "untitled:" + "a" * 300, "untitled:a%00"])
async def test_error_names_the_document(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    harness = Harness(monkeypatch, StandIn(tmp_path))
    harness.open(name, "x")
    title = printable(unquote(name.partition(":")[2]))
    with pytest.raises(RequestFailedError) as failed:
        await harness.compile(name)
    assert str(failed.value) == f"{title}: not an HLO module"


async def test_unknown_document_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    harness = Harness(monkeypatch, StandIn(tmp_path))
    with pytest.raises(RequestFailedError, match="not on disk and not open"):
        await harness.compile("untitled:2")
