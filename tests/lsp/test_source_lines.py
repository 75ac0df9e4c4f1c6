"""The lines of Python files that own memory at the peak of a compile."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from lsprotocol import types

from hlo_lsp.lsp import compile_index, source_lines, source_notes, times
from hlo_lsp.lsp.client import Json
from hlo_lsp.lsp.custom_requests import SOURCE_LINES_CHANGED_METHOD, SourceLinesParams
from hlo_lsp.lsp.session import Session
from hlo_lsp.lsp.settings import Settings
from hlo_lsp.lsp.source_lines import SourceLines
from lsp.opened import item
from lsp.test_session_edits import edit, whole_document
from lsp.test_workspace_symbols import serve
from stats.test_measured_programs import written_profile

_MODULE = """\
HloModule {name}, is_scheduled=true

ENTRY %main {{
  %x = f32[4096]{{0}} parameter(0)
  %y = f32[4096]{{0}} exponential(%x), metadata={{source_file="{file}" source_line=7}}
  %s = f32[8]{{0}} slice(%y), slice={{[0:8]}}, metadata={{source_file="{file}" source_line=9}}
  ROOT %r = f32[4096]{{0}} add(%y, %y), metadata={{source_file="{file}" source_line=8}}
}}
"""
_ASSIGNMENT = """\
BufferAssignment:
allocation 0: size 16384, parameter 0, shape |f32[4096]| at ShapeIndex {{}}:
 value: <1 x @0> (size=16384,offset=0): f32[4096]{{0}}
allocation 1: size 16384, output shape is |f32[4096]|, maybe-live-out:
 value: <4 r @0> (size=16384,offset=0): f32[4096]{{0}}
allocation 2: size {total}, preallocated-temp:
 value: <2 y @0> (size={size},offset=0): f32[4096]{{0}}
 value: <3 s @0> (size=32,offset={size}): f32[8]{{0}}
"""
_LIVE_RANGE = """\
HloLiveRange (max 4):
  InstructionSequence:
    0:x
    1:y
    2:s
    3:r
  BufferLiveRange:
    x{}:0-4
    y{}:1-3
    s{}:2-3
    r{}:3-4
"""


class SourceLinesHarness:
    """The lines of Python files in a session with one workspace folder."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(source_lines, "_REFRESH_INTERVAL_SECONDS", 0)
        monkeypatch.setattr(source_notes.AssignmentKind, "max_scan_age_seconds", 0)
        self.folder = folder
        self.python = folder / "model.py"
        self.python.write_text("\n" * 20, "utf-8")
        workspace = SimpleNamespace(folders={folder.as_uri(): None}, root_uri=None)
        self.server = SimpleNamespace(
            workspace=workspace,
            client_capabilities=types.ClientCapabilities(),
            work_done_progress=None,
        )
        self.session = Session()
        self.notified: list[str] = []
        serve(self.session, self.server)
        self.lines = SourceLines(self.session, self._notify)

    def _notify(self, method: str, _: Json) -> None:
        self.notified.append(method)

    def set(self, **settings: object) -> None:
        self.session.settings = Settings.of([settings])[0]

    def dump(self, folder: str, name: str = "jit_f", *, size: int = 16384, time: int = 0) -> Path:
        """Write a compile in which line 7 owns this many bytes at the peak, and line 8 16,384."""
        stem = self.folder / folder / f"module_0001.{name}.cpu_after_optimizations"
        stem.parent.mkdir(exist_ok=True)
        text = _MODULE.format(name=name, file=self.python.as_posix())
        Path(f"{stem}.txt").write_text(text, "utf-8")
        Path(f"{stem}-live-range.txt").write_text(_LIVE_RANGE, "utf-8")
        assignment = Path(f"{stem}-buffer-assignment.txt")
        assignment.write_text(_ASSIGNMENT.format(size=size, total=size + 32), "utf-8")
        if time:
            os.utime(assignment, (time, time))
        return assignment

    async def ask(self, text: str | None = None) -> list[Json]:
        params = SourceLinesParams(self.python.as_uri(), text)
        answer = await self.lines.answer(params)
        assert answer is not None
        found: list[Json] = answer["lines"]
        return found

    async def read(self) -> list[Json]:
        await self.ask()
        await self.settled()
        return await self.ask()

    async def settled(self) -> None:
        while self.lines._refresh.task is not None:
            await asyncio.wait([self.lines._refresh.task])


@pytest.fixture
def harness(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SourceLinesHarness:
    return SourceLinesHarness(tmp_path, monkeypatch)


def texts(lines: list[Json]) -> list[tuple[int, str]]:
    return [(line["line"], line["text"]) for line in lines]


async def test_lines_show_their_memory(harness: SourceLinesHarness) -> None:
    harness.dump("dump")
    assert texts(await harness.read()) == [
        (6, "16.0 KiB at the peak · 1 buffer"),
        (7, "16.0 KiB at the peak · 1 buffer"),
    ]


async def test_lines_show_their_time(
    harness: SourceLinesHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run(work: Callable[[], object]) -> object:
        return work()

    monkeypatch.setattr(times, "run_in_process", run)
    assignment = harness.dump("dump")
    module = assignment.with_name(assignment.name.replace("-buffer-assignment", ""))
    metadata = f'metadata={{source_file="{harness.python.as_posix()}" source_line=12}}'
    inserted = f"  %n = f32[8]{{0}} negate(%s), {metadata}\n  ROOT"
    module.write_text(module.read_text("utf-8").replace("  ROOT", inserted), "utf-8")
    folder = assignment.parent
    written_profile(folder / "host.xplane.pb", 1, "jit_f", y=30, n=60, r=10)
    found = await harness.read()
    assert texts(found) == [
        (6, "16.0 KiB at the peak · 1 buffer · 30.0 µs, 30%"),
        (7, "16.0 KiB at the peak · 1 buffer · 10.0 µs, 10%"),
        (11, "60.0 µs, 60%"),
    ]
    assert [(one["name"], one["text"]) for one in found[2]["buffers"]] == [("n", "60.0 µs, 60%")]
    written_profile(folder / "host.xplane.pb", 1, "jit_f", y=3000)
    harness.session.times.profiles.look_again()
    harness.lines.settings_changed()
    await harness.settled()
    assert texts(await harness.ask())[0] == (
        6,
        "16.0 KiB at the peak · 1 buffer · 3.00 ms, 100%",
    )


async def test_large_compiles_are_read_in_a_process(
    harness: SourceLinesHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compile_index, "MAX_KEPT_BYTES", 0)
    harness.dump("dump")
    assert len(await harness.read()) == 2


async def test_buffers_lead_to_their_instructions(harness: SourceLinesHarness) -> None:
    assignment = harness.dump("dump")
    line, _ = await harness.read()
    module = assignment.with_name(assignment.name.replace("-buffer-assignment", ""))
    (buffer,) = line["buffers"]
    assert (buffer["name"], buffer["text"]) == ("y{}", "16.0 KiB · f32[4096]{0}")
    assert buffer["location"] == {
        "uri": module.as_uri(),
        "range": {"start": {"line": 4, "character": 3}, "end": {"line": 4, "character": 4}},
    }


async def test_first_answer_does_not_wait(harness: SourceLinesHarness) -> None:
    harness.dump("dump")
    assert await harness.ask() == []
    await harness.settled()
    assert harness.notified == [SOURCE_LINES_CHANGED_METHOD]


async def test_unchanged_lines_send_no_notification(harness: SourceLinesHarness) -> None:
    harness.dump("dump")
    await harness.read()
    await harness.settled()
    assert harness.notified == [SOURCE_LINES_CHANGED_METHOD]


async def test_all_lines_include_small_ones(harness: SourceLinesHarness) -> None:
    harness.dump("dump")
    harness.set(pythonNotes="all")
    assert (8, "32 B at the peak · 1 buffer") in texts(await harness.read())


async def test_off_shows_nothing(harness: SourceLinesHarness) -> None:
    harness.dump("dump")
    harness.set(pythonNotes="off")
    assert await harness.read() == []


async def test_newest_compile_of_a_module_applies(harness: SourceLinesHarness) -> None:
    harness.dump("old", size=65536, time=1_000_000_000)
    harness.dump("new", size=32768, time=1_100_000_000)
    line, _ = await harness.read()
    assert line["text"].startswith("32.0 KiB")
    assert "the newest of 2 compiles" in line["tooltip"]


async def test_open_compile_precedes_newer_ones(harness: SourceLinesHarness) -> None:
    old = harness.dump("old", size=65536, time=1_000_000_000)
    harness.dump("new", size=32768, time=1_100_000_000)
    harness.session.open(item(old.as_uri(), old.read_text("utf-8")))
    line = (await harness.read())[0]
    assert line["text"] == "64.0 KiB at the peak · 48.0 KiB padding · 1 buffer · old"
    assert "its dump is open; there are 2 compiles" in line["tooltip"]


async def test_closed_compile_outside_is_no_longer_shown(
    harness: SourceLinesHarness,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(source_notes.AssignmentKind, "max_scan_age_seconds", 1000)
    dump = harness.dump("dump")
    outside = tmp_path_factory.mktemp("outside") / "dump"
    dump.parent.rename(outside)
    path = outside / dump.name
    assert await harness.read() == []
    harness.session.open(item(path.as_uri(), path.read_text("utf-8")))
    assert len(await harness.read()) == 2
    harness.session.close(path.as_uri())
    assert await harness.read() == []


async def test_small_modules_have_notes_only_in_all_lines(harness: SourceLinesHarness) -> None:
    harness.dump("dump", "jit_helper", size=16384)
    harness.dump("dump", "jit_train", size=16384000)
    assert {line["module"] for line in await harness.read()} == {"jit_train"}
    harness.set(pythonNotes="all")
    assert {line["module"] for line in await harness.read()} == {"jit_train", "jit_helper"}


async def test_small_module_that_takes_the_time_has_notes(
    harness: SourceLinesHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run(work: Callable[[], object]) -> object:
        return work()

    monkeypatch.setattr(times, "run_in_process", run)
    harness.dump("load", "jit_load", size=16384000)
    folder = harness.dump("decode", "jit_decode", size=16384).parent
    written_profile(folder / "host.xplane.pb", 1, "jit_decode", y=30)
    assert {line["module"] for line in await harness.read()} == {"jit_load", "jit_decode"}


async def test_unsaved_dump_applies(harness: SourceLinesHarness) -> None:
    path = harness.dump("dump")
    await harness.read()
    harness.session.open(item(path.as_uri(), path.read_text("utf-8")))
    text = _ASSIGNMENT.format(size=32768, total=32800)
    edit(harness.session, whole_document(text), uri=path.as_uri())
    assert (await harness.read())[0]["text"].startswith("32.0 KiB")


async def test_several_modules_are_named(harness: SourceLinesHarness) -> None:
    harness.dump("dump", "jit_f")
    harness.dump("dump", "jit_g", size=32768)
    assert texts(await harness.read())[:2] == [
        (6, "jit_g: 32.0 KiB at the peak · 16.0 KiB padding · 1 buffer"),
        (6, "jit_f: 16.0 KiB at the peak · 1 buffer"),
    ]


async def test_source_map_applies(harness: SourceLinesHarness) -> None:
    harness.dump("dump")
    copy = harness.folder / "copy"
    copy.mkdir()
    harness.python = harness.python.rename(copy / "model.py")
    assert await harness.read() == []
    harness.set(sourceMap={str(harness.folder): str(copy)})
    assert len(await harness.read()) == 2


async def test_deleted_dump_removes_lines(harness: SourceLinesHarness) -> None:
    path = harness.dump("dump")
    await harness.read()
    path.unlink()
    assert await harness.read() == []


async def test_newer_python_file_is_marked(harness: SourceLinesHarness) -> None:
    harness.dump("dump", time=1_000_000_000)
    line, _ = await harness.read()
    assert "model.py is newer than the dump" in line["tooltip"]


async def test_dump_without_live_ranges_has_none(harness: SourceLinesHarness) -> None:
    path = harness.dump("dump")
    path.with_name(path.name.replace("buffer-assignment", "live-range")).unlink()
    assert await harness.read() == []


async def test_inserted_lines_move_notes(harness: SourceLinesHarness) -> None:
    text = number_lines(harness)
    harness.dump("dump")
    await harness.read()
    assert lines_of(await harness.ask("# new\n# new\n" + text)) == [8, 9]


async def test_deleted_lines_have_no_note(harness: SourceLinesHarness) -> None:
    text = number_lines(harness)
    harness.dump("dump")
    await harness.read()
    assert lines_of(await harness.ask(text.replace("line 6\n", ""))) == [6]


async def test_saved_edits_still_move_notes(harness: SourceLinesHarness) -> None:
    text = number_lines(harness)
    harness.dump("dump")
    await harness.read()
    harness.python.write_text("# new\n" + text, "utf-8")
    assert lines_of(await harness.ask("# new\n" + text)) == [7, 8]


async def test_new_compile_refers_to_saved_text(harness: SourceLinesHarness) -> None:
    text = number_lines(harness)
    harness.dump("dump")
    await harness.read()
    text = "# new\n" + text
    harness.python.write_text(text, "utf-8")
    harness.dump("dump", size=32768)
    await harness.read()
    assert lines_of(await harness.ask(text)) == [6, 7]
    assert lines_of(await harness.ask("# unsaved\n" + text)) == [7, 8]


def number_lines(harness: SourceLinesHarness) -> str:
    """Give the Python file distinct lines, and return its text."""
    text = "".join(f"line {number}\n" for number in range(20))
    harness.python.write_text(text, "utf-8")
    return text


def lines_of(notes: list[Json]) -> list[int]:
    return [note["line"] for note in notes]


async def test_no_file_has_no_answer(harness: SourceLinesHarness) -> None:
    assert await harness.lines.answer(SourceLinesParams("untitled:a.py")) is None
