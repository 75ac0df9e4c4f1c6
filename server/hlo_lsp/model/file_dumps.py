"""The compiles of one file, and messages about a file without one."""

from collections.abc import Iterator
from pathlib import Path

from hlo_lsp.model.compile import Compile
from hlo_lsp.model.file_names import FileRole, suffix_of
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.protos.reading import damage_in
from hlo_lsp.text.disk import BinaryFileError, UnreadableError
from hlo_lsp.text.remote import shown

NOT_A_DUMP = "not an HLO module or XLA memory dump"


def dumps_of(
    workspace: DumpWorkspace, path: Path, errors: list[str], *, is_named: bool
) -> Iterator[Compile]:
    """Yield the compiles of a file, or of others of its stem if the file itself is not a dump.

    Args:
        workspace: The workspace that reads the files.
        path: A file.
        errors: The list to which a message about each unreadable file is added.
        is_named: The user named the file, so that others do not replace it.
    """
    is_dump_name = suffix_of(path.name).role is not FileRole.OTHER
    compile_ = workspace.compile_files(path)
    others = () if is_named or not is_dump_name else compile_.files
    error_count = len(errors)
    for each in (path, *(other for other in others if other != path)):
        if each is not path and workspace.compile_files(each).stem != compile_.stem:
            continue
        try:
            file = workspace.file(each)
        except UnreadableError as error:
            if is_named or not isinstance(error, BinaryFileError):
                errors.append(str(error))
            if is_named:
                return
            continue
        damage = damage_in(each, file.lines)
        if damage is not None:
            errors.append(damage)
        if file.kind.is_dump:
            yield from workspace.compiles(file)
            return
    if (is_named or is_dump_name) and len(errors) == error_count:
        errors.append(f"{shown(path)}: {NOT_A_DUMP}")
