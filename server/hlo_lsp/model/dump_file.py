"""A dump file: its text, records and indexes."""

from collections.abc import Hashable
from math import inf
from pathlib import Path
from typing import Any
from weakref import WeakSet

from hlo_lsp.background_jobs import Job, checkpoint, current_job
from hlo_lsp.model.memory_index import MemoryIndex
from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.model.query_cache import Input, Memo, Query, Result
from hlo_lsp.syntax.embedded_hlo import HostLanguage
from hlo_lsp.syntax.file_kinds import DECISIVE_LINES, FileKind, detect_file_kind
from hlo_lsp.syntax.memory_records import AssignedValue
from hlo_lsp.syntax.record_sequence import RecordDelta, RecordSequence, Scanner
from hlo_lsp.syntax.records import Record
from hlo_lsp.syntax.scanners import memory_scanner, module_scanner, thunk_scanner
from hlo_lsp.syntax.used_value import UsedValue
from hlo_lsp.text.document import Document, LineChange
from hlo_lsp.text.remote import shown

_RECORDS_PER_CHECKPOINT = 500  # about 1 ms of indexing


class DumpFile:
    """A file whose records and indexes follow edits of its text.

    ``changed`` records an edit, and ``refresh`` updates records and indexes. The edit makes all
    jobs outdated that have refreshed the file. Kind, text, module, and the parts of ``memory`` are
    inputs of queries.
    """

    def __init__(
        self, uri: str, path: Path | None, document: Document, host: HostLanguage | None = None
    ) -> None:
        """Create a file; ``host`` is the language of a text that may contain HLO texts."""
        self.host = host
        self.uri = uri
        self.path = path
        self.document = document
        self.query_results: dict[Query[..., Any], Result] = {}
        self.memos: dict[Memo[Any], tuple[Hashable, Any]] = {}
        self._kind = FileKind.OTHER
        self._kind_input, self._text_input, self._module_input = Input(), Input(self), Input(self)
        self.edited_line = 0  # the first line of the last edit
        self._scanner: Scanner | None = None
        self._pending: LineChange | None = LineChange(0, 0, len(document.lines))
        self._job: Job[None] | None = None  # a paused update
        self._readers: WeakSet[Job[Any]] = WeakSet()
        self._reset()

    @classmethod
    def of_text(cls, text: str, path: str = "dump.txt") -> "DumpFile":
        """Return an up-to-date file of a text, without companion files."""
        file = cls(Path("/", path).as_uri(), Path(path), Document(text))
        file.refresh()
        return file

    @property
    def version(self) -> int:
        """The number of refreshes that changed something."""
        return self._text_input.version

    @property
    def kind(self) -> FileKind:
        """The kind of the file according to its text."""
        self._kind_input.read()
        return self._kind

    @property
    def records(self) -> RecordSequence:
        """The records of all lines."""
        self._text_input.read()
        return self._records

    @property
    def module(self) -> ModuleIndex:
        """The indexes of a module text."""
        self._module_input.read()
        return self._module

    @property
    def lines(self) -> list[str]:
        """The current lines."""
        return self.document.lines

    @property
    def first_line(self) -> int:
        """The first line in the text of ``uri``, from 0; nonzero in sections of stdout dumps."""
        return 0

    @property
    def label(self) -> str:
        """The path, the URL of a remote file, or the URI of a file without a path."""
        return self.uri if self.path is None else shown(self.path)

    @property
    def title(self) -> str:
        """The name without its folder."""
        return self.uri.rpartition("/")[2] if self.path is None else self.path.name

    @property
    def is_fresh(self) -> bool:
        """True if records and indexes match the text."""
        return self._pending is None and self._job is None

    def depend_on_text(self) -> None:
        """Record that the current query depends on the whole text, line numbers included."""
        self._text_input.read()

    def depend_on_module(self) -> None:
        """Record that the current query depends on the module text."""
        self._module_input.read()

    def record_at(self, line: int, column: int) -> Record | None:
        """Return the record at a line and column (code points, from 0).

        The part of a line before the column of an entry header belongs to the previous entry.
        """
        record = self.records.at(line)
        if isinstance(record, UsedValue) and line == record.line and column < record.column:
            return self.records.at(line - 1)
        return record

    def changed(self, change: LineChange) -> None:
        """Record an edit that is already applied to the document."""
        if self._pending is None:  # a paused update has taken the last change, and must end
            self._pending = change
        else:
            self._pending = self._pending.then(change)
            self._cancel_update()
        self._outdate_readers()

    def refresh(self) -> None:
        """Update records and indexes, and let a later edit make the current job outdated.

        Several jobs may call this method alternately.
        """
        job = current_job()
        if job is not None:
            self._readers.add(job)
        while not self.is_fresh:
            if self._job is None:
                self._job = Job(self._update)
            if self._job.step(inf):
                self._job = None
            else:
                checkpoint()

    def close(self) -> None:
        """End all work on the file, which must not be used afterwards."""
        self._cancel_update()
        self._outdate_readers()

    def _cancel_update(self) -> None:
        if self._job is not None:
            self._job.cancel()
            self._job = None

    def _outdate_readers(self) -> None:
        job = current_job()  # it reads the changed text: of a section that it has updated
        for reader in [*self._readers]:
            if reader is not job:
                reader.outdate()
                self._readers.discard(reader)

    def _update(self) -> None:
        """Take the pending change: find its records, then update the indexes.

        An edit during the first part cancels the update, so that part changes nothing.
        """
        change = self._pending
        assert change is not None
        kind = self._kind
        if change.first < DECISIVE_LINES:
            kind = FileKind.EMBEDDED if self.host else detect_file_kind(self.lines)
        scanner = _scanner_for(kind)
        if scanner is not self._scanner:
            self.memory.close()
            if not self._module_input.is_empty:
                self._module_input.change(is_empty=True)
            self._reset()
            self._scanner = scanner
            change = self._pending = LineChange(0, 0, len(self.lines))
        if kind is not self._kind:
            self._kind = kind
            self._kind_input.change()
        if scanner is None:
            self._pending = None
            self._text_input.change()
            return
        delta = self._records.update(scanner, self.lines, change)
        self._pending = None
        self.edited_line = change.first
        self._update_index(delta, change)
        self._note_change(delta)

    def _note_change(self, delta: RecordDelta) -> None:
        """Report the changed parts to the queries that read them."""
        sizes_only = _changes_sizes_only(delta)
        self._text_input.change(sizes_only=sizes_only)
        if self._kind.is_memory:
            kinds = {*map(type, delta.removed), *map(type, delta.added)}
            self.memory.changed(kinds, sizes_only=sizes_only)
        else:
            self._module_input.change()

    def _update_index(self, delta: RecordDelta, change: LineChange) -> None:
        index: MemoryIndex | ModuleIndex = self.memory if self._kind.is_memory else self._module
        for count, record in enumerate(delta.removed):
            index.remove(record)
            if count % _RECORDS_PER_CHECKPOINT == _RECORDS_PER_CHECKPOINT - 1:
                checkpoint()
        for count, record in enumerate(delta.added):
            index.add(record)
            if count % _RECORDS_PER_CHECKPOINT == _RECORDS_PER_CHECKPOINT - 1:
                checkpoint()
        if isinstance(index, ModuleIndex):
            last = change.first + change.new_count
            ends = (*delta.added[:1], *delta.added[-1:])
            lines = (change.first, last, *(record.line for record in ends))
            index.forget_computations(min(lines), max(lines))

    def _reset(self) -> None:
        self._records = RecordSequence()
        self.memory = MemoryIndex(self)
        self._module = ModuleIndex(self._records)


def _changes_sizes_only(delta: RecordDelta) -> bool:
    """Return True if only sizes and offsets of values changed."""
    return len(delta.removed) == len(delta.added) and all(
        isinstance(old, AssignedValue)
        and isinstance(new, AssignedValue)
        and old.differs_only_in_place(new)
        for old, new in zip(delta.removed, delta.added, strict=True)
    )


def _scanner_for(kind: FileKind) -> Scanner | None:
    if kind.is_memory:
        return memory_scanner()
    if kind is FileKind.MODULE:
        return module_scanner()
    if kind is FileKind.THUNKS:
        return thunk_scanner()
    return None
