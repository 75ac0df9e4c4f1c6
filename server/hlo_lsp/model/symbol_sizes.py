"""The sizes of buffers for the symbols of a compile, which are in several files."""

from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import NamedTuple, Protocol

from hlo_lsp.model.backend import backend_from_file_name, space_name
from hlo_lsp.model.display import format_short_bytes
from hlo_lsp.model.file_names import FileRole, split_suffix


class BufferSize(NamedTuple):
    """The size of a buffer in bytes, and the number of its memory space."""

    bytes: int
    space: int


NO_BUFFER = BufferSize(0, 0)


class FileWithSizes(Protocol):
    """A file of a compile; ``sizes`` are those of its values, by name with and without index."""

    uri: str
    title: str
    sizes: Mapping[str, BufferSize]


def compile_key(file: FileWithSizes) -> str:
    """Return a key that the compiled module and its memory files have in common."""
    name = PurePath(file.title).name
    front, suffix = split_suffix(name)
    if suffix.role.is_memory or suffix.role is FileRole.AFTER_OPTIMIZATIONS:
        return f"{file.uri.rpartition('/')[0]}/{front}.{suffix.architecture}"
    return f"{file.uri}#{file.title}"


def pass_rank(file: FileWithSizes) -> int:
    """Return 0 for a compiled module and its memory files, 1 for texts of other passes."""
    role = split_suffix(PurePath(file.title).name)[1].role
    is_text = role.is_module_text and role is not FileRole.AFTER_OPTIMIZATIONS
    return int(is_text or role is FileRole.PASS)


class SizesOfCompiles:
    """The sizes of buffers by the file of a symbol and its name."""

    def __init__(self, files: Iterable[FileWithSizes]) -> None:
        self._by_compile: dict[str, Mapping[str, BufferSize]] = {}
        self._keys: dict[FileWithSizes, str] = {}
        for file in files:
            if file.sizes:
                self._by_compile.setdefault(compile_key(file), file.sizes)

    def size(self, file: FileWithSizes, name: str) -> BufferSize:
        """Return the size of the largest buffer of a name; 0 bytes if there is none."""
        return self._by_compile.get(self.key(file), {}).get(name, NO_BUFFER)

    def key(self, file: FileWithSizes) -> str:
        """Return what the files of a compile have in common."""
        key = self._keys.get(file)
        if key is None:
            key = self._keys[file] = compile_key(file)
        return key

    def describe(self, file: FileWithSizes, name: str) -> str | None:
        """Return ``4.00 MiB HBM``, or None without a buffer."""
        size = self.size(file, name)
        if not size.bytes:
            return None
        backend = backend_from_file_name(PurePath(file.title).name)
        space = space_name(size.space, backend)
        return f"{format_short_bytes(size.bytes)}{f' {space}' if space else ''}"
