"""The module text from which the memory files of a compile were printed."""

from hlo_lsp.analysis.files.ending import ending
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.naming import suffix_of
from hlo_lsp.model.suffixes import Role
from hlo_lsp.syntax.kinds import FileKind

# Texts of the same names from before or after, in which layouts or operands may be others.
_OTHER_MOMENTS = frozenset(
    {
        Role.BEFORE_OPTIMIZATIONS,
        Role.PASS,
        Role.AFTER_SPMD_PARTITIONER,
        Role.AFTER_OPTIMIZATIONS_BEFORE_BUFFER_ASSIGNMENT,
        Role.AFTER_CODEGEN,
    }
)


def printed_module(dump: DumpSet) -> DumpFile | None:
    """The text from the moment at which buffers were assigned; None without one."""
    for file in dump.files:
        if file.kind is FileKind.MODULE and _role(file) not in _OTHER_MOMENTS:
            return file
    return None


def running_module(dump: DumpSet) -> DumpFile | None:
    """The scheduled text; None where there is a later one, of which the same can be said."""
    if any(_role(other) is Role.AFTER_OPTIMIZATIONS for other in dump.others):
        return None
    for file in dump.files:
        if file.kind is FileKind.MODULE and file.module.header is not None:
            return file if "is_scheduled=true" in file.module.header.text else None
    return None


def original_module(dump: DumpSet) -> DumpFile | None:
    """Return the text before optimizations; None without one that is whole and up to date."""
    for file in dump.others:
        if _role(file) is Role.BEFORE_OPTIMIZATIONS and file.is_fresh and is_whole(file):
            return file
    return None


def is_whole(module: DumpFile) -> bool:
    """Whether every line of a module text can be read and none is known to be missing."""
    return not module.module.damaged and ending(module) is None


def _role(file: DumpFile) -> Role | None:
    return None if file.path is None else suffix_of(file.path.name).role
