"""A cache of dump sets, which keeps the cached queries of each set."""

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from hlo_lsp.model.compiles import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.syntax.file_kinds import FileKind

_KIND_ORDER = list(FileKind)


class CompanionFinder(Protocol):
    """A function that finds a companion file of a compile."""

    def __call__(self, path: Path, compile_: Compile, /, *, patient: bool) -> DumpFile | None:
        """Return the up-to-date file, or None.

        Unless ``patient``, also return None for a large file that is not read yet.
        """


class DumpSetCache:
    """Dump sets by their files.

    Unless sets may be ``overlapping``, a new set evicts the sets that share a file with it, as they
    may keep outdated versions of other files in memory.
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
        """Return the set of an up-to-date file: the files of its compile, or itself without one."""
        files = [file]
        others: list[DumpFile] = []
        thunk_names: DumpFile | None = None
        if compile_ is not None:
            for path in compile_.files_read_together()[1:]:
                companion = find(path, compile_, patient=patient)
                if companion is not None and companion.kind.has_records:
                    files.append(companion)
            for path in compile_.comparison_texts():
                companion = find(path, compile_, patient=patient)
                if companion is not None and companion.kind is FileKind.MODULE:
                    others.append(companion)
            if file.kind is FileKind.THUNKS and compile_.thunk_metadata is not None:
                thunk_names = find(compile_.thunk_metadata, compile_, patient=True)
        # Of two files with the same fact, the first one in the order of `FileKind` provides it.
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
        """Drop the sets with at least one of these files."""
        gone = set(map(id, files))
        self._sets = {
            key: old for key, old in self._sets.items() if gone.isdisjoint(map(id, old.files))
        }

    def retain(self, files: Iterable[DumpFile]) -> None:
        """Drop the sets with files other than these."""
        used = set(map(id, files))
        self._sets = {key: old for key, old in self._sets.items() if used.issuperset(key)}
