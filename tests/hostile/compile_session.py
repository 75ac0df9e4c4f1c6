"""A client that edits, saves, and closes the files of a compile while they change on disk."""

import os
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from hlo_lsp.text.disk import decode
from hostile.asking import change_text, close_text, cursors, open_text, request, run_command
from hostile.damage import damage
from hostile.editor import Editor

_WHOLE = (
    "diagnostic", "documentSymbol", "semanticTokens/full", "foldingRange", "codeLens",
    "documentLink", "inlayHint",
)  # fmt: skip
_AT_CURSOR = (
    "hover", "definition", "typeDefinition", "documentHighlight", "references", "completion",
    "signatureHelp", "prepareRename",
)  # fmt: skip
_CURSORS = 4


class CompileSession:
    """An editor with some files of a folder open, and the texts that it has."""

    def __init__(self, folder: Path, rng: random.Random) -> None:
        self.editor = Editor()
        self.texts: dict[Path, str] = {}  # of open files
        self.steps: list[str] = []  # for messages of failed tests
        self._rng = rng
        self._paths = sorted(folder.iterdir())
        self._versions = 0
        self._on_disk = {path: path.read_bytes() for path in self._paths}
        self._others = [decode(data) for data in self._on_disk.values()]
        self._earlier: dict[Path, list[str]] = {}

    def close(self) -> None:
        """Close the editor."""
        self.editor.close()

    def some_files(self, count: int) -> list[Path]:
        """Return some files of the compile."""
        return self._rng.sample(self._paths, min(count, len(self._paths)))

    def step(self) -> None:
        """Perform a random action on a random file."""
        actions: Sequence[tuple[int, Callable[[Path], None]]] = (
            (3, self.open), (8, self.edit), (3, self.undo), (2, self.save), (1, self.close_file),
            (3, self.change_on_disk), (1, self.remove), (1, self.restore), (6, self.request),
        )  # fmt: skip
        weights = [weight for weight, _ in actions]
        [(_, action)] = self._rng.choices(actions, weights)
        path = self._rng.choice(self._paths)
        if action in (self.edit, self.undo, self.save, self.request) and self.texts:
            path = self._rng.choice(sorted(self.texts))
        self.steps.append(f"{action.__name__} {path.name}")
        action(path)

    def open(self, path: Path) -> None:
        """Open a file with its text on disk."""
        if path in self.texts or not path.exists():
            return
        text = decode(path.read_bytes())
        self.texts[path] = text
        open_text(self.editor, path.as_uri(), text)

    def edit(self, path: Path) -> None:
        """Damage an open text."""
        if path in self.texts:
            self._earlier.setdefault(path, []).append(self.texts[path])
            self._change(path, damage(self._rng, self.texts[path], self._others))

    def undo(self, path: Path) -> None:
        """Return to an earlier text."""
        if self._earlier.get(path) and path in self.texts:
            self._change(path, self._earlier[path].pop())

    def save(self, path: Path) -> None:
        """Write an open text to disk."""
        if path in self.texts:
            self._write(path, self.texts[path].encode("utf-8", "surrogatepass"))
            self.editor.notify("textDocument/didSave", {"textDocument": {"uri": path.as_uri()}})

    def close_file(self, path: Path) -> None:
        """Close an open file without saving it."""
        if path in self.texts:
            del self.texts[path]
            self._earlier.pop(path, None)
            close_text(self.editor, path.as_uri())

    def change_on_disk(self, path: Path) -> None:
        """Damage a file on disk, as another program would."""
        text = decode(path.read_bytes()) if path.exists() else ""
        self._write(path, damage(self._rng, text, self._others).encode("utf-8", "surrogatepass"))

    def remove(self, path: Path) -> None:
        """Delete a file from disk."""
        path.unlink(missing_ok=True)
        self._notify_of_change(path, 3)

    def restore(self, path: Path) -> None:
        """Write the first text of a file."""
        self._write(path, self._on_disk[path])

    def request(self, path: Path) -> None:
        """Send some requests, so that the server caches results before the next edit."""
        if path in self.texts:
            for method in self._rng.sample(_WHOLE, 2):
                request(self.editor, method, path.as_uri())
            for cursor in cursors(self._rng, self.texts[path], 1):
                request(self.editor, "hover", path.as_uri(), position=cursor)

    def results(self, editor: Editor) -> Iterator[tuple[str, Any]]:
        """Yield the results of all requests about the open texts, each with a description."""
        rng = random.Random(0)
        for path, text in self.texts.items():
            uri = path.as_uri()
            for method in _WHOLE:
                yield f"{method} of {path.name}", request(editor, method, uri)
            for cursor in cursors(rng, text, _CURSORS):
                for method in _AT_CURSOR:
                    description = (
                        f"{method} at {cursor['line']}:{cursor['character']} of {path.name}"
                    )
                    yield description, request(editor, method, uri, position=cursor)
                yield f"summary of {path.name}", run_command(editor, "summary", uri, cursor["line"])

    def fresh_editor(self) -> Editor:
        """Return an editor that has just opened the same texts."""
        editor = Editor()
        for path, text in self.texts.items():
            open_text(editor, path.as_uri(), text)
        return editor

    def _change(self, path: Path, after: str) -> None:
        before = self.texts[path]
        self.texts[path] = after
        change_text(self.editor, path.as_uri(), before, after)

    def _write(self, path: Path, data: bytes) -> None:
        path.write_bytes(data)
        self._versions += 1  # Two writes within one clock tick would have the same time.
        os.utime(path, ns=(0, self._versions * 10**9))
        self._notify_of_change(path, 2)

    def _notify_of_change(self, path: Path, kind: int) -> None:
        if self._rng.random() < 0.7:
            changes = {"changes": [{"uri": path.as_uri(), "type": kind}]}
            self.editor.notify("workspace/didChangeWatchedFiles", changes)
