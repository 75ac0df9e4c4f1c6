"""Findings in files on disk: one file, or all dumps of a folder."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from hlo_lsp.checks.finding import Finding
from hlo_lsp.checks.run import check
from hlo_lsp.model.compiles import Listing
from hlo_lsp.model.library import Library
from hlo_lsp.syntax.kinds import FileKind
from hlo_lsp.text.disk import BinaryFileError, UnreadableError
from hlo_lsp.text.steps import finish


@dataclass(slots=True)
class Checked:
    """A file that was looked at. ``note`` says why it was not, where it was not."""

    path: Path
    kind: FileKind = FileKind.OTHER
    findings: list[Finding] = field(default_factory=list)
    note: str | None = None
    unreadable: bool = False


def check_paths(paths: list[Path]) -> Iterator[Checked]:
    """Look at files, and at everything below folders, one compile after the other.

    A file that was named and cannot be read is reported; inside a folder whatever is no dump is
    passed over in silence, as a dump folder holds much else.
    """
    for path in paths:
        if path.is_dir():
            files = sorted(file for file in path.rglob("*") if file.is_file())
            yield from _check_all(files)
        else:
            yield _named(path)


def _check_all(files: list[Path]) -> Iterator[Checked]:
    names: dict[Path, list[str]] = {}
    for file in files:
        names.setdefault(file.parent, []).append(file.name)
    listings = {folder: Listing(folder, found) for folder, found in names.items()}
    compiles: dict[tuple[Path, str], list[Path]] = {}
    for file in files:
        stem = listings[file.parent].compile(file.name).stem
        compiles.setdefault((file.parent, stem), []).append(file)
    for members in compiles.values():
        library = Library()  # one for each compile: the files before are let go
        for file in members:
            try:
                yield _check_one(library, file)
            except BinaryFileError:
                yield Checked(file)
            except UnreadableError as error:
                yield Checked(file, note=str(error), unreadable=True)


def _named(path: Path) -> Checked:
    try:
        checked = _check_one(Library(), path)
    except UnreadableError as error:
        return Checked(path, note=str(error), unreadable=True)
    if checked.kind is FileKind.OTHER:
        empty = path.stat().st_size == 0
        what = "the file is empty" if empty else "this is no HLO or buffer-assignment dump"
        checked.note = f"{path}: {what}"
    return checked


def _check_one(library: Library, path: Path) -> Checked:
    file = library.file(path)
    if file.kind is FileKind.OTHER:
        return Checked(path)
    findings: list[Finding] = []
    for part in library.parts(file):
        dump = finish(library.set_of(part))
        findings += finish(check(dump, part))
    return Checked(path, file.kind, findings)
