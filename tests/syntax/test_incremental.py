"""Incremental updates of record sequences."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edits import JOINED, WRITTEN, Texts, edits
from hlo_lsp.syntax import record_sequence as sequence
from hlo_lsp.syntax.record_sequence import RecordDelta, RecordSequence, Scanner
from hlo_lsp.syntax.records import Record
from hlo_lsp.syntax.scanners import MemoryScanner, ModuleScanner
from hlo_lsp.text.document import Document, LineChange
from jobs import started

_QUICK = settings(max_examples=25, deadline=None, derandomize=True)
_SCANNERS: dict[str, type[MemoryScanner] | type[ModuleScanner]] = {
    "one file": MemoryScanner,
    JOINED: MemoryScanner,
    "values": MemoryScanner,
    "report": MemoryScanner,
    "module": ModuleScanner,
    WRITTEN: ModuleScanner,
}


@pytest.fixture(scope="module", params=[7, 512])
def block(request: pytest.FixtureRequest) -> Iterator[int]:
    size: int = request.param
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sequence, "_RECORDS_PER_BLOCK", size)
        patch.setattr(sequence, "_RECORDS_PER_CHECKPOINT", 5)
        yield size


@pytest.fixture(scope="module")
def texts(corpus_small: Path) -> Texts:
    return Texts(corpus_small)


class Followed:
    """Return a document and its records."""

    def __init__(self, text: str, scanner: Scanner) -> None:
        self.scanner = scanner
        self.document = Document(text)
        self.records = RecordSequence()
        self.update(LineChange(0, 0, len(self.document.lines)))

    def update(self, change: LineChange) -> RecordDelta:
        delta = self.records.update(self.scanner, self.document.lines, change)
        assert delta is not None
        return delta


def _tile(records: Sequence[Record], lines: Sequence[str]) -> bool:
    """Assert that every line is in exactly one record."""
    at = 0
    for record in records:
        if record.line != at:
            return False
        at += record.line_count
    return at == len(lines)


@pytest.mark.parametrize("name", _SCANNERS)
@_QUICK
@given(data=st.data())
def test_records_outside_an_edit_are_kept(
    name: str, block: int, texts: Texts, data: st.DataObject
) -> None:
    followed = Followed(texts[name], _SCANNERS[name]())
    for edit in data.draw(st.lists(edits(texts), min_size=1, max_size=5)):
        old = [
            (record.line, record.line + record.line_count, record) for record in followed.records
        ]
        change = edit.apply(followed.document)
        delta = followed.update(change)
        new = list(followed.records)
        assert _tile(new, followed.document.lines)
        starts = {record.line: record for record in new}
        in_front = [record for _, end, record in old if end <= change.first]
        assert new[: max(0, len(in_front) - 2)] == in_front[:-2]  # the last two may have grown
        shift = change.new_count - change.old_count
        for line, _, record in old:
            if line >= change.first + change.old_count and line + shift in starts:
                assert starts[line + shift] is record
        before = {id(record) for _, _, record in old}
        removed, added = set(map(id, delta.removed)), set(map(id, delta.added))
        assert removed <= before
        assert added.isdisjoint(before)
        assert before - removed | added == set(map(id, new))


@pytest.mark.parametrize("name", _SCANNERS)
@_QUICK
@given(data=st.data())
def test_records_return_next_records_and_head(
    name: str, block: int, texts: Texts, data: st.DataObject
) -> None:
    followed = Followed(texts[name], _SCANNERS[name]())
    for edit in data.draw(st.lists(edits(texts), max_size=4)):
        followed.update(edit.apply(followed.document))
    records = list(followed.records)
    heads = [record for record in records if record.is_head]
    head: Record | None = None
    for place, record in enumerate(records):
        head = record if record.is_head else head
        assert followed.records.head_of(record) is head
        for line in range(record.line, record.line + record.line_count):
            assert followed.records.at(line) is record
        if place % 5 == 0:
            assert list(followed.records.after(record)) == records[place + 1 :]
    for head in heads:
        place = records.index(head)
        behind = next((n for n in range(place + 1, len(records)) if records[n].is_head), None)
        assert list(followed.records.members(head)) == records[place + 1 : behind]


def test_empty_sequence_has_no_records() -> None:
    records = RecordSequence()
    assert records.at(0) is None
    assert list(records) == []


def test_keystroke_rescans_few_records(texts: Texts, block: int) -> None:
    followed = Followed(texts["one file"] * 20, MemoryScanner())
    total = len(list(followed.records))
    for line in range(0, len(followed.document.lines), 97):
        delta = followed.update(followed.document.edit((line, 3), (line, 3), "x"))
        assert len(delta.removed) <= 4 < total
        assert len(delta.added) <= 5


def test_unfinished_update_changes_nothing(texts: Texts, block: int) -> None:
    followed = Followed(texts["one file"], MemoryScanner())
    before = [(id(record), record.line) for record in followed.records]
    lines = Document(texts["values"] + texts["one file"]).lines
    change = LineChange(0, len(followed.document.lines), len(lines))
    with started(partial(followed.records.update, followed.scanner, lines, change)) as job:
        assert not job.step(0)
    assert [(id(record), record.line) for record in followed.records] == before


def test_blocks_stay_of_about_equal_size(texts: Texts, block: int) -> None:
    followed = Followed(texts["one file"], MemoryScanner())
    for _ in range(60):
        change = followed.document.edit((5, 0), (5, 0), "\n")
        followed.update(change)
    assert max(len(part.records) for part in followed.records._blocks) <= 2 * block
    for _ in range(60):
        followed.update(followed.document.edit((5, 0), (6, 0), ""))
    assert max(len(part.records) for part in followed.records._blocks) <= 2 * block
    assert len(followed.records._blocks) <= 4 * (1 + len(list(followed.records)) // block)


def test_records_can_be_walked_from_any_line_on(texts: Texts, block: int) -> None:
    followed = Followed(texts["one file"], MemoryScanner())
    records = list(followed.records)
    for place in (0, 1, len(records) // 2, len(records) - 1):
        line = records[place].line
        walked = list(followed.records.beginning_at(line))
        assert walked == [*records[place:], *records[:place]]
    behind = followed.records.beginning_at(len(followed.document.lines) + 5)
    assert sorted(map(id, behind)) == sorted(map(id, records))
    assert list(RecordSequence().beginning_at(0)) == []
