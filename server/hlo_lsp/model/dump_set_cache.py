"""The sets that files make, remembered: a set that is asked again knows what it found out."""

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from hlo_lsp.model.compiles import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.syntax.file_kinds import FileKind

_KIND_ORDER = list(FileKind)


class CompanionFinder(Protocol):
    """Finds the files that a compile names."""

    def __call__(self, path: Path, compile_: Compile, /, *, patient: bool) -> DumpFile | None:
        """The file, up to date; None if there is none, or without patience, none so soon."""


class DumpSetCache:
    """One set for the same files.

    Unless sets may be ``overlapping`` one is forgotten when another has a file of it: it holds its
    files in memory, of which newer ones may have taken the place.
    """

    def __init__(self, *, overlapping: bool = False) -> None:
        self._overlapping = overlapping
        self._sets: dict[tuple[int, ...], DumpSet] = {}

    def set_of(
        self,
        file: DumpFile,
        compile_: Compile | None,
        find: CompanionFinder,
        *,
        patient: bool = True,
    ) -> DumpSet:
        """All files of the compile of a file that is up to date; without one itself only."""
        files = [file]
        others: list[DumpFile] = []
        thunk_names: DumpFile | None = None
        if compile_ is not None:
            for path in compile_.files_read_together()[1:]:
                neighbour = find(path, compile_, patient=patient)
                if neighbour is not None and neighbour.kind.has_records:
                    files.append(neighbour)
            for path in compile_.comparison_texts():
                neighbour = find(path, compile_, patient=patient)
                if neighbour is not None and neighbour.kind is FileKind.MODULE:
                    others.append(neighbour)
            if file.kind is FileKind.THUNKS and compile_.thunk_metadata is not None:
                thunk_names = find(compile_.thunk_metadata, compile_, patient=True)
        # A fact that two files hold is taken from the one that was made for it.
        files.sort(key=lambda one: (_KIND_ORDER.index(one.kind), one is not file))
        extra = [*others, *([] if thunk_names is None else [thunk_names])]
        key = tuple(map(id, (*files, *extra)))
        found = self._sets.get(key)
        if found is None or found.files != files:
            if not self._overlapping:
                self.forget(files)
            found = self._sets[key] = DumpSet(files, thunk_names, others)
        return found

    def forget(self, files: Iterable[DumpFile]) -> None:
        """Drop the sets that one of these files is in."""
        gone = set(map(id, files))
        self._sets = {
            key: old for key, old in self._sets.items() if gone.isdisjoint(map(id, old.files))
        }

    def keep(self, files: Iterable[DumpFile]) -> None:
        """Drop the sets that have other files in them than these."""
        used = set(map(id, files))
        self._sets = {key: old for key, old in self._sets.items() if used.issuperset(key)}
