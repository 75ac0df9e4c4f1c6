"""Edited files equal fresh files.

Blocks and steps are made so small that short files have many of them.
"""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edits import DUMPS, JOINED, WRITTEN, Edit, Texts, edits
from hlo_lsp.background_jobs import Job, Outdated
from hlo_lsp.model import dump_file
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.syntax import record_sequence as sequence
from hlo_lsp.syntax.scanners import memory_scanner, module_scanner, thunk_scanner
from model.snapshots import differences, fresh

_QUICK = settings(max_examples=15, deadline=None, derandomize=True, report_multiple_bugs=False)


@pytest.fixture(scope="module", autouse=True)
def _small_blocks_and_steps() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sequence, "_RECORDS_PER_BLOCK", 7)
        patch.setattr(sequence, "_RECORDS_PER_CHECKPOINT", 5)
        patch.setattr(dump_file, "_RECORDS_PER_CHECKPOINT", 3)
        yield


@pytest.fixture(scope="module")
def texts(corpus_small: Path) -> Texts:
    return Texts(corpus_small)


def _file(text: str) -> DumpFile:
    """Return a file read by new scanners, so that examples are independent."""
    for scanner in (memory_scanner, module_scanner, thunk_scanner):
        scanner.cache_clear()
    return DumpFile.of_text(text)


@pytest.mark.parametrize("name", [*DUMPS, JOINED, WRITTEN])
@_QUICK
@given(data=st.data())
def test_edited_file_equals_a_fresh_file(name: str, texts: Texts, data: st.DataObject) -> None:
    """Some edits come while the file is read again: after the given number of steps."""
    steps = st.one_of(st.none(), st.integers(0, 12))
    script: list[tuple[Edit, int | None]] = data.draw(
        st.lists(st.tuples(edits(texts), steps), min_size=1, max_size=8)
    )
    file = _file(texts[name])
    for edit, count in script:
        file.changed(edit.apply(file.document))
        reading = Job(file.refresh)
        for _ in range(count or 0):
            reading.step(0)
        if count is None:
            file.refresh()
        if file.is_fresh:
            assert differences(file, fresh(file)) == []
    file.refresh()
    assert differences(file, fresh(file)) == []


@pytest.mark.parametrize("name", ["one file", "module"])
@_QUICK
@given(data=st.data())
def test_two_may_take_turns_in_reading(name: str, texts: Texts, data: st.DataObject) -> None:
    file = _file(texts[name])
    readers = [Job(file.refresh), Job(file.refresh)]
    turns = st.sampled_from([0, 1])
    for move in data.draw(st.lists(st.one_of(edits(texts), turns, turns), max_size=30)):
        if not isinstance(move, int):
            file.changed(move.apply(file.document))
            continue
        try:
            if readers[move].step(0):
                assert file.is_fresh
                readers[move] = Job(file.refresh)
        except Outdated:
            readers[move] = Job(file.refresh)
    for reader in readers:
        with suppress(Outdated):
            reader.step(60)
    file.refresh()
    assert differences(file, fresh(file)) == []
