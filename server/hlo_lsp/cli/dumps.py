"""The dumps at the paths of a command line."""

import argparse
from collections.abc import Container, Iterable, Iterator, Sequence
from difflib import get_close_matches
from functools import partial
from pathlib import Path

from hlo_lsp.cli.progress_note import progress_note
from hlo_lsp.model.backend import space_title
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.compile_files import CompileFiles, FolderSnapshot, compiles_below
from hlo_lsp.model.file_dumps import dumps_of
from hlo_lsp.model.file_names import FileRole, suffix_of
from hlo_lsp.model.source import FrameChoice
from hlo_lsp.model.workspace import ROLES_WITHOUT_SIZES, DumpWorkspace
from hlo_lsp.protos.names import is_converted
from hlo_lsp.syntax.file_kinds import FileKind, detect_file_kind
from hlo_lsp.text.disk import UnreadableError, read_first_lines
from hlo_lsp.text.remote import read_ahead, shown


def dumps_at(
    paths: Sequence[Path],
    errors: list[str],
    *,
    unread: Container[FileRole] = (),
    frames: FrameChoice | None = None,
) -> Iterator[Compile]:
    """Yield the compiles of files and of everything below folders, each once.

    Args:
        paths: Files and folders.
        errors: The list to which a message about each path without a dump is added.
        unread: Companion files that are not read.
        frames: The frames that can be the Python line of a buffer; by default, those in the current
            folder precede others.
    """
    frames = frames or current_folder_frames()
    folders = FolderSnapshot()
    seen: set[tuple[Path, str]] = set()
    with progress_note() as note:
        for path in paths:
            error_count, is_empty = len(errors), True
            for one in read_ahead(compiles_below(path, folders), partial(files_read, unread)):
                folder = one.path.parent
                if (folder, one.stem) in seen:
                    is_empty = False
                    continue
                note(f"Reading {one.stem}")
                # Of one compile, so that it needs less memory.
                own = FolderSnapshot.of_compile(folder, one.names())
                workspace = DumpWorkspace(unread, frames, own)
                for dump in dumps_of(workspace, one.path, errors, is_named=one.path == path):
                    seen.add((folder, one.stem))
                    is_empty = False
                    yield dump
            if is_empty and len(errors) == error_count:
                errors.append(no_dumps_message(path))


def files_read(unread_roles: Container[FileRole], compile_: CompileFiles) -> Iterator[Path]:
    """Yield the files that reading a compile needs."""
    for file in compile_.files_read_together():
        if suffix_of(file.name).role not in unread_roles:
            yield file
    if compile_.target is not None:
        yield compile_.target


def no_dumps_message(path: Path) -> str:
    """Return the message about a folder without a dump; it can have a profile."""
    # A late import, because most runs need no reader of profiles.
    from hlo_lsp.profiles.files import profile_run  # noqa: PLC0415

    message = f"{shown(path)}: no dumps in this folder"
    try:
        profile = profile_run(path).files[0]
    except UnreadableError:
        return message
    return f"{message}; name the file of a profile to read the modules in it: {shown(profile)}"


def compiles_at(path: Path, names: Iterable[str], errors: list[str]) -> Iterator[Compile]:
    """Yield the compiles of a file, without their values; several for a stdout dump.

    Args:
        path: A file.
        names: The names of the files of its compile.
        errors: The list to which a message about an unreadable file is added.
    """
    own = FolderSnapshot.of_compile(path.parent, names)
    workspace = DumpWorkspace(ROLES_WITHOUT_SIZES, current_folder_frames(), own)
    yield from dumps_of(workspace, path, errors, is_named=False)


def is_log(path: Path) -> bool:
    """Return whether a path is a file that is no dump, such as a log."""
    if is_converted(path.name):
        return False
    try:
        return detect_file_kind(read_first_lines(path)) in {FileKind.OOM, FileKind.OTHER}
    except UnreadableError:
        return False


def current_folder_frames() -> FrameChoice:
    """Return the default choice: lines of the current folder precede other lines of the program."""
    return FrameChoice((str(Path.cwd()),))


def dumps_with_place(
    options: argparse.Namespace, dumps: Iterable[Compile], errors: list[str]
) -> Iterator[tuple[Compile, int | None]]:
    """Yield the dumps that have the step ``--at`` and the memory space ``--space``.

    Args:
        options: The options of the command.
        dumps: The dumps.
        errors: The list to which a message about each other dump is added.

    Yields:
        Each dump with the number of the memory space, None without ``--space``.
    """
    for dump in dumps:
        space = None if options.space is None else space_number(dump, options.space)
        last = dump.last_step
        if options.space is not None and space is None:
            errors.append(f"{dump.files[0].label}: no memory space {options.space}")
        elif options.at is not None and last is not None and not 0 <= options.at <= last:
            steps = f"the schedule has the steps 0 to {last:,}"
            errors.append(f"{dump.files[0].label}: no step {options.at:,}: {steps}")
        else:
            yield dump, space


def space_number(dump: Compile, name: str) -> int | None:
    """Return the memory space with this number or name, or None if the dump has none."""
    numbers = {allocation.record.color for allocation in dump.allocations()}
    for number in sorted(numbers):
        if name == str(number) or name.casefold() == space_title(number, dump.backend).casefold():
            return number
    return None


def near_names(name: str, names: Iterable[str]) -> str:
    """Return a hint with similar names, empty if there are none."""
    near = get_close_matches(name, list(names), 3)
    return f"; did you mean {', '.join(f'`{one}`' for one in near)}?" if near else ""
