"""The dumps at the paths of a command line."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from hlo_lsp.model.backend import space_title
from hlo_lsp.model.dump_search import compiles_below
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.text.disk import UnreadableError


def dumps_at(paths: Sequence[Path], errors: list[str]) -> Iterator[DumpSet]:
    """Yield the compiles of files and of everything below folders, each once.

    Args:
        paths: Files and folders.
        errors: The list to which a message about each path without a dump is added.
    """
    seen: set[tuple[Path, str]] = set()
    for path in paths:
        files = list(compiles_below(path))
        if not files:
            errors.append(f"{path}: no dumps in this folder")
        for file_path in files:
            workspace = DumpWorkspace()  # of one compile, so that folders need little memory
            compile_ = file_path.parent, workspace.stem(file_path)
            if compile_ not in seen:
                seen.add(compile_)
                yield from _dumps_of(workspace, file_path, errors, is_named=file_path is path)


def _dumps_of(
    workspace: DumpWorkspace, path: Path, errors: list[str], *, is_named: bool
) -> Iterator[DumpSet]:
    try:
        file = workspace.file(path)
    except UnreadableError as error:
        errors.append(str(error))
        return
    if not file.kind.is_dump:
        if is_named:
            errors.append(f"{path}: not an HLO module or XLA memory dump")
        return
    seen: set[DumpSet] = set()
    for part in workspace.parts(file):
        dump = workspace.set_of(part) if part.kind.has_records else None
        if dump is not None and dump not in seen:
            seen.add(dump)
            yield dump


def space_number(dump: DumpSet, name: str) -> int | None:
    """Return the memory space with this number or name, or None if the dump has none."""
    numbers = {allocation.record.color for allocation in dump.allocations()}
    for number in sorted(numbers):
        if name == str(number) or name.casefold() == space_title(number, dump.backend).casefold():
            return number
    return None
