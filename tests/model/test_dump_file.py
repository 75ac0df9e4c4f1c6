"""Dump files with edits."""

from pathlib import Path

from hlo_lsp.background_jobs import Job
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.memory_records import LiveRangeLabel, TotalLine
from hlo_lsp.text.document import Document, LineChange

_LIVE = """HloLiveRange (max 2):
  InstructionSequence:
    0:a
    1:b
  BufferLiveRange:
    a{}:0-2
"""
_MODULE = "HloModule m\n\nENTRY %main (a: f32[2]) -> f32[2] {\n  ROOT %a = f32[2] parameter(0)\n}\n"


def _edit(file: DumpFile, *edits: tuple[tuple[int, int], tuple[int, int], str]) -> None:
    for edit in edits:
        file.changed(file.document.edit(*edit))
    file.refresh()


def test_first_refresh_reads_the_file() -> None:
    file = DumpFile("file:///dumps/live.txt", Path("/dumps/live.txt"), Document(_LIVE))
    assert (file.is_fresh, file.kind, file.version) == (False, FileKind.OTHER, 0)
    file.refresh()
    assert (file.is_fresh, file.kind, file.version) == (True, FileKind.LIVE_RANGE, 1)
    assert file.memory.ranges.first("a{}") is not None


def test_edit_makes_stale_and_refresh_increments_version() -> None:
    file = DumpFile.of_text(_LIVE)
    version = file.version
    file.refresh()
    assert file.version == version
    file.changed(file.document.edit((2, 6), (2, 7), "c"))
    assert not file.is_fresh
    file.refresh()
    assert file.is_fresh
    assert file.version > version
    assert (file.memory.step_names.first("a"), file.memory.steps.first(0)) == (
        None,
        file.memory.step_names.first("c"),
    )


def test_several_edits_are_read_together() -> None:
    file = DumpFile.of_text(_LIVE)
    version = file.version
    _edit(file, ((2, 6), (2, 7), "c"), ((5, 4), (5, 5), "c"), ((0, 18), (0, 19), "7"))
    assert file.version == version + 1
    assert file.memory.ranges.first("c{}") is not None
    label = file.memory.label(LiveRangeLabel)
    assert label is not None
    assert label.max == 7


def test_changed_kind_discards_old_records() -> None:
    file = DumpFile.of_text(_LIVE)
    _replace(file, _MODULE, FileKind.MODULE)
    assert list(file.memory.ranges) == []
    assert file.module.instructions.first("a") is not None
    _replace(file, "Lorem ipsum\n", FileKind.OTHER)
    assert list(file.records) == []
    assert list(file.module.instructions) == []
    _replace(file, _LIVE, FileKind.LIVE_RANGE)
    assert file.memory.ranges.first("a{}") is not None


def _replace(file: DumpFile, text: str, kind: FileKind) -> None:
    file.changed(file.document.replace(text))
    file.refresh()
    assert file.kind is kind


def test_duplicate_key_returns_first_record() -> None:
    file = DumpFile.of_text(
        "Total bytes used: 1 (1B)\n\nUsed values:\n\nTotal bytes used: 2 (2B)\n"
    )
    first = file.memory.label(TotalLine)
    assert first is not None
    assert first.total == 1
    _edit(file, ((0, 0), (1, 0), ""))
    second = file.memory.label(TotalLine)
    assert second is not None
    assert second.total == 2
    _edit(file, ((0, 0), (0, 0), "Total bytes used: 3 (3B)\n"))
    third = file.memory.label(TotalLine)
    assert third is not None
    assert third.total == 3


def test_damaged_records_are_indexed() -> None:
    file = DumpFile.of_text(_LIVE)
    assert list(file.memory.damaged) == []
    _edit(file, ((3, 0), (3, 4), "??"))
    [broken] = file.memory.damaged
    assert broken.line == 3
    _edit(file, ((3, 0), (3, 2), "    "))
    assert list(file.memory.damaged) == []
    assert file.memory.steps.first(1) is not None


def test_dropped_refresh_is_continued_by_the_next() -> None:
    file = DumpFile("file:///live.txt", None, Document(_LIVE + "    b{}:1-2\n" * 20000))
    reader = Job(file.refresh)
    assert not reader.step(0)
    reader.cancel()
    assert not file.is_fresh
    file.refresh()
    assert file.is_fresh
    assert len(file.memory.ranges.all("b{}")) == 20000


def test_file_labels_titles_and_uris(tmp_path: Path) -> None:
    path = tmp_path / "a b.txt"
    file = DumpFile(path.as_uri(), path, Document())
    assert file.label == str(path)
    assert DumpFile("untitled:1", None, Document()).label == "untitled:1"
    assert file.lines == [""]


def test_change_before_first_refresh() -> None:
    file = DumpFile("untitled:1", None, Document(_LIVE))
    file.changed(file.document.edit((0, 0), (1, 0), ""))
    assert file.document.lines[0] == "  InstructionSequence:"
    file.refresh()
    assert [record.line for record in file.records] == list(range(len(file.lines)))
    assert LineChange(0, 1, 1) == file.document.edit((0, 0), (0, 0), "")
