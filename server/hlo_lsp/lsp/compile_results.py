"""The results of compiles of texts, for comparisons, code lenses, and diagnostics."""

import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lsprotocol import types

from hlo_lsp.compiling.errors import CompileFailedError
from hlo_lsp.compiling.recompile import Recompiled
from hlo_lsp.lsp.client import Client, Json, shown_message
from hlo_lsp.model.dump_file import DumpFile

_MAX_KEPT = 10  # dumps
_SOURCE = "XLA"
_CODE = "compile"
_WORD = re.compile(r"[\w.-]+|.*")


def text_id(lines: Iterable[str]) -> int:
    """Return a number that is equal for equal texts in this process."""
    return hash(tuple(lines))


@dataclass(frozen=True, slots=True)
class FinishedCompile:
    """A compile that succeeded.

    Attributes:
        uri: The document.
        text_id: What was compiled; see ``text_id``.
        before: A file or a folder to compare with; None for the first compile of a lone text.
        found: The new dump, and the notes about it.
        change: How the program changed, such as ``peak 705.10 MiB -> 677.10 MiB``.
        name: The name of the module.
        module: The URI of its text in the new dump.
    """

    uri: str
    text_id: int
    before: Path | None
    found: Recompiled
    change: str
    name: str
    module: str

    @property
    def sides(self) -> tuple[str | None, str]:
        """The URIs of what to compare: before, None without it, and after.

        The dump before of a lone text is that of an earlier compile, which can be deleted.
        """
        if self.before is None or not self.before.exists():
            return None, self.module
        return self.before.as_uri(), self.found.after.as_uri()

    @property
    def as_json(self) -> Json:
        """The result of the request; see docs/editors.md."""
        before, after = self.sides
        return {
            "before": before,
            "after": after,
            "name": self.name,
            "title": self.change,
            "compiler": self.found.as_json,
        }


@dataclass(frozen=True, slots=True)
class FailedCompile:
    """An error at a line and a column (from 0) of a document, and the text of the line."""

    line: int
    column: int
    text: str
    message: str

    @classmethod
    def of(cls, file: DumpFile, error: CompileFailedError) -> "FailedCompile | None":
        """Return the error in a file, None if it names no line of it."""
        if error.line is None or error.line >= len(file.lines):
            return None
        text = file.lines[error.line]
        return cls(error.line, min(error.column, len(text)), text, str(error))

    def diagnostic(self, client: Client, file: DumpFile) -> Json:
        """Return the diagnostic in the file."""
        word = _WORD.match(self.text, self.column)
        end = self.column if word is None else word.end()
        return {
            "range": client.range_json(file, (self.line, self.column), (self.line, end)),
            "message": shown_message(self.message),
            "severity": types.DiagnosticSeverity.Error.value,
            "code": _CODE,
            "source": _SOURCE,
        }


class CompileResults:
    """The latest compiles with their dumps, and the last error of each document."""

    def __init__(self) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._finished: list[FinishedCompile] = []
        self._folders: list[Path] = []  # of finished compiles
        self._failed: dict[str, FailedCompile] = {}

    @contextmanager
    def new_folder(self) -> Iterator[Path]:
        """Yield a new folder for the dumps of a compile, which an error in the block deletes."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(
                prefix="hlo-compiles-", ignore_cleanup_errors=True
            )
        folder = Path(tempfile.mkdtemp(dir=self._folder.name))
        try:
            yield folder
        except BaseException:  # also a cancellation
            shutil.rmtree(folder, ignore_errors=True)
            raise

    def finished(self, found: FinishedCompile) -> None:
        """Keep a result, and delete the dumps that only older results compare."""
        self._finished = [*self._finished, found][-_MAX_KEPT:]
        self._folders.append(found.found.after.parent)
        sides = [side for one in self._finished for side in (one.before, one.found.after)]
        needed = {side.parent for side in sides if side is not None}
        for folder in [one for one in self._folders if one not in needed]:
            self._folders.remove(folder)
            shutil.rmtree(folder, ignore_errors=True)

    def failed(self, uri: str, found: FailedCompile | None) -> None:
        """Keep the error of a document, or forget the last one."""
        if found is None:
            self._failed.pop(uri, None)
        else:
            self._failed[uri] = found

    def last(self, uri: str) -> FinishedCompile | None:
        """Return the last result of a document."""
        return next((one for one in reversed(self._finished) if one.uri == uri), None)

    def notes(self, after: str) -> tuple[str, ...]:
        """Return the notes about the new dump at a URI, none about other places."""
        notes = (one.found.notes for one in self._finished if one.sides[1] == after)
        return next(notes, ())

    def failure(self, file: DumpFile) -> FailedCompile | None:
        """Return the error in a file as long as its line is what it was."""
        found, lines = self._failed.get(file.uri), file.lines
        is_there = found and found.line < len(lines) and lines[found.line] == found.text
        return found if is_there else None
