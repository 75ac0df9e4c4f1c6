"""The sizes of buffers for the symbols of a compile, which are in several files."""

from pathlib import PurePath
from typing import NamedTuple

from hlo_lsp.model.backend import backend_from_file_name, space_name
from hlo_lsp.model.display import format_short_bytes
from hlo_lsp.model.file_names import FileRole, split_suffix


class BufferSize(NamedTuple):
    """The size of a buffer in bytes, and the number of its memory space."""

    bytes: int
    space: int

    def describe(self, title: str) -> str | None:
        """Return ``4.00 MiB HBM`` for a buffer of the file with this title, None for 0 bytes."""
        if not self.bytes:
            return None
        space = space_name(self.space, backend_from_file_name(PurePath(title).name))
        return f"{format_short_bytes(self.bytes)}{f' {space}' if space else ''}"


NO_BUFFER = BufferSize(0, 0)


def compile_key(uri: str, title: str) -> str:
    """Return a key that the compiled module and its memory files have in common."""
    front, suffix = split_suffix(PurePath(title).name)
    if suffix.role.is_memory or suffix.role is FileRole.AFTER_OPTIMIZATIONS:
        return f"{uri.rpartition('/')[0]}/{front}.{suffix.architecture}"
    return f"{uri}#{title}"


def pass_rank(title: str) -> int:
    """Return 0 for a compiled module and its memory files, 1 for texts of other passes."""
    role = split_suffix(PurePath(title).name)[1].role
    is_text = role.is_module_text and role is not FileRole.AFTER_OPTIMIZATIONS
    return int(is_text or role is FileRole.PASS)
