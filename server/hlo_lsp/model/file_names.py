"""The names of dump files and the roles that they imply (XLA: dump.cc and its callers)."""

import re
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from re import Match

from hlo_lsp.protos.names import is_converted


class FileRole(Enum):
    """The content of a file according to its name.

    The roles of module texts are in pipeline order.
    """

    BEFORE_OPTIMIZATIONS = "before_optimizations"
    PASS = "pass"
    AFTER_SPMD_PARTITIONER = "after_spmd_partitioner"
    AFTER_OPTIMIZATIONS_BEFORE_BUFFER_ASSIGNMENT = "after_optimizations_before_buffer_assignment"
    AFTER_OPTIMIZATIONS = "after_optimizations"
    AFTER_OPTIMIZATIONS_AFTER_BUFFER_ASSIGNMENT = "after_optimizations_after_buffer_assignment"
    AFTER_CODEGEN = "after_codegen"
    ASSIGNMENT = "buffer-assignment"
    VALUES = "buffer-assignment-values"
    LIVE_RANGE = "live-range"
    REPORT = "memory-usage-report"
    THUNKS = "thunk_sequence"
    THUNK_METADATA = "thunk_metadata"
    MODULE_FOLDER = "folder"
    OTHER = "other"

    @property
    def is_module_text(self) -> bool:
        """True if the file is the HLO text of a whole module."""
        return self in _MODULE_TEXT_ROLES

    @property
    def is_memory(self) -> bool:
        """True for the four memory files."""
        return self in _MEMORY_ROLES

    @property
    def is_compiled(self) -> bool:
        """True for the compiled module and its memory files."""
        return self in _MEMORY_ROLES or self is FileRole.AFTER_OPTIMIZATIONS


_MEMORY_ROLES = frozenset(
    {FileRole.ASSIGNMENT, FileRole.VALUES, FileRole.LIVE_RANGE, FileRole.REPORT}
)
_MODULE_TEXT_ROLES = frozenset(
    {
        FileRole.BEFORE_OPTIMIZATIONS,
        FileRole.PASS,
        FileRole.AFTER_SPMD_PARTITIONER,
        FileRole.AFTER_OPTIMIZATIONS_BEFORE_BUFFER_ASSIGNMENT,
        FileRole.AFTER_OPTIMIZATIONS,
        FileRole.AFTER_OPTIMIZATIONS_AFTER_BUFFER_ASSIGNMENT,
        FileRole.AFTER_CODEGEN,
    }
)


@dataclass(frozen=True, slots=True)
class NameSuffix:
    """The part of a file name that describes the content.

    ``architecture`` is the part before ``after_optimizations``: ``cpu_``, ``sm_8.9_gpu_``, empty
    for TPU. Texts from inside of a pipeline have its name, or that of a pass, and a ``number``,
    which counts the dumps of a module. If ``is_known`` is False, the suffix is not one of XLA's,
    and the split from the module name may be at a wrong dot. ``tail`` is the number of characters
    after the stem: ``.txt``, ``-live-range.txt``; 0 for files that are not text.
    """

    text: str
    role: FileRole
    architecture: str = ""
    pipeline: str = ""
    number: int = 0
    is_known: bool = True
    tail: int = 0


_AFTER_OPTIMIZATIONS = "after_optimizations"
_MEMORY_SUFFIX_ROLES = {f"-{role.value}": role for role in _MEMORY_ROLES}
_TEXT_SUFFIX_ROLES = {
    **{
        role.value: role
        for role in (*_MODULE_TEXT_ROLES, FileRole.THUNKS, FileRole.THUNK_METADATA)
        if role is not FileRole.PASS
    },
    # If memory is insufficient, libtpu stops after buffer assignment and writes this file.
    "oom_intermediate_module": FileRole.AFTER_OPTIMIZATIONS_AFTER_BUFFER_ASSIGNMENT,
    "after_codegen_after_hlo_sanitization": FileRole.AFTER_CODEGEN,
    "thunk_sequence_after_thunk_passes": FileRole.THUNKS,
    **dict.fromkeys(
        (
            "basic_compiler_metadata", "execution_options", "hlo_module_config", "host_executions",
            "host_transfers", "priority_fusion_dump", "sparse_core_specific_metadata",
            "target_arguments", "tpu_comp_env", "transfer_stats",
        ),
        FileRole.OTHER,
    ),
}  # fmt: skip
_FIXED_SUFFIXES = (
    *("autotune_results.pbtxt", "config.pbtxt", "debug_options", "flagfile"),
    *("gpu_target_config.pbtxt", "metadata.textproto"),
)
# Files that are neither supported text nor recognized by their whole suffix.
_KNOWN_EXTENSIONS = frozenset(
    {
        *("txt", "hlo", "ll", "s", "o", "bc", "asm"),
        *("ptx", "cubin", "hsaco", "ttir", "mlir", "bin"),
        *("dot", "url", "html", "pyz", "pb", "gz"),
        *("riegeli", "fdo_profile", "json", "csv", "pbtxt"),
        *("txtpb", "textproto", "hlo_unoptimized_snapshot"),
    }
)
_READ_ENDINGS = (".hlo", ".log", ".trace.json")  # whatever the rest of the name is
_NUMBER_AND_PIPELINE = (
    r"(?:(?P<front>.*)\.)?(?P<number>0[0-9]{3}|[1-9][0-9]{3,})\."  # the number is "%04d"
    r"(?P<pipeline>(?!cl_[0-9]+\.)[^.]*)\."
)
_BETWEEN_PASSES = re.compile(rf"{_NUMBER_AND_PIPELINE}after_.*\.before_.*\.txt", re.DOTALL)
_INSIDE_PASS = re.compile(rf"{_NUMBER_AND_PIPELINE}[^.]*\.txt", re.DOTALL)
_CL_BEFORE_SUFFIX = re.compile(r"(?:^|\.)cl_[0-9]+\.")
# A compute capability is the only part of a suffix with a dot inside.
_CAPABILITY = re.compile(r"(?:^|\.)(sm_[0-9]+)$")
_AFTER_CAPABILITY = re.compile(r"[0-9]+[a-z]*_gpu_after_optimizations")


def split_suffix(name: str) -> tuple[str, NameSuffix]:
    """Split a name into the part before the suffix, without the dot, and the suffix.

    The search starts from the right, as a module name may contain dots.
    """
    if name.endswith(".txt"):
        return (
            _split_pass(_BETWEEN_PASSES.fullmatch(name))
            or _split_text(name)
            or _split_pass(_INSIDE_PASS.fullmatch(name))
            or _split_unknown(name)
        )
    for known in _FIXED_SUFFIXES:
        if name.endswith(known):
            front = name[: -len(known)]
            if not front or front[-1] == ".":
                return front[:-1], NameSuffix(known, FileRole.OTHER)
    return _split_unknown(name)


def _split_pass(match: Match[str] | None) -> tuple[str, NameSuffix] | None:
    if match is None:
        return None
    text, number = match.string[match.start("number") :], int(match["number"])
    suffix = NameSuffix(text, FileRole.PASS, pipeline=match["pipeline"], number=number, tail=4)
    return match["front"] or "", suffix


def _split_text(name: str) -> tuple[str, NameSuffix] | None:
    front, _, last = name[:-4].rpartition(".")
    if _AFTER_CAPABILITY.match(last):
        capability = _CAPABILITY.search(front)
        if capability is not None:
            front, last = front[: capability.start()], f"{capability[1]}.{last}"
    suffix = _text_suffix(last)
    return None if suffix is None else (front, suffix)


@lru_cache(maxsize=256)  # a folder has a few dozen
def _text_suffix(last: str) -> NameSuffix | None:
    text = f"{last}.txt"
    base, dash, _ = last.partition("-")
    memory = _MEMORY_SUFFIX_ROLES.get(last[len(base) :]) if dash else None
    if memory is None:
        base = last
    tail = len(text) - len(base)
    if base.endswith(_AFTER_OPTIMIZATIONS):
        role = memory or FileRole.AFTER_OPTIMIZATIONS
        return NameSuffix(text, role, base[: -len(_AFTER_OPTIMIZATIONS)], tail=tail)
    if memory is not None:
        return NameSuffix(text, memory, is_known=False, tail=tail)
    known = _TEXT_SUFFIX_ROLES.get(base)
    return None if known is None else NameSuffix(text, known, tail=tail)


def _split_unknown(name: str) -> tuple[str, NameSuffix]:
    """Split off a suffix that is not in the tables: the part after ``cl_``, if there is one."""
    tail = 4 if name.endswith(".txt") else 0
    inside = list(_CL_BEFORE_SUFFIX.finditer(name)) if "cl_" in name else []
    if inside:
        end = inside[-1].end()
        return name[: end - 1], NameSuffix(name[end:], FileRole.OTHER, tail=tail)
    if tail:
        front, _, last = name[:-4].rpartition(".")
        return front, NameSuffix(f"{last}.txt", FileRole.OTHER, is_known=False, tail=tail)
    if _KNOWN_EXTENSIONS.isdisjoint(name.rsplit(".", 2)[1:]):
        return name, NameSuffix("", FileRole.MODULE_FOLDER)
    front, _, rest = name.partition(".")  # names by jax have no dot
    return front, NameSuffix(rest, FileRole.OTHER, is_known=False)


def is_dump_file(filename: str) -> bool:
    """Return whether a name can be that of a dump, a log, a profile, or what XLA writes with them.

    Programs and their settings have other names, such as ``train.py`` and ``requirements.txt``.
    """
    if filename.startswith("."):
        return False
    if filename.endswith(_READ_ENDINGS) or is_converted(filename):
        return True
    if filename.endswith(".txt") and split_suffix(filename)[1].is_known:
        return True
    suffixes = (*_FIXED_SUFFIXES, *(f".{extension}" for extension in _KNOWN_EXTENSIONS))
    return DumpName.of(filename) is not None and filename.endswith(suffixes)


# FilenameFor in xla/service/dump.cc: TIMESTAMP.module_ID.NAME.cl_N.SUFFIX
_NAME_START = re.compile(r"(?:([0-9]+)\.)?(module_[0-9]{4,})(?:\.|$)")
_SANITIZED_CHARACTERS = re.compile(r"[/\\\[\] ]")
_CL_AT_END = re.compile(r"(?:^|\.)cl_([0-9]+)$")
_MAX_NAME_BYTES = 255  # XLA omits the module name from longer names


@dataclass(frozen=True, slots=True)
class DumpName:
    """A name of the form ``[TIMESTAMP.]module_ID[.NAME][.cl_N][.SUFFIX]``.

    All files of a module have the same ``timestamp`` (microseconds); some files such as
    ``debug_options`` and ``thunk_sequence.txt`` have none (``TimestampFor`` in dump.cc).
    ``module_name`` is sanitized as in the file name, and None if the whole name would exceed 255
    bytes. ``cl`` is the change number in names of libtpu. ``head`` is the part before the suffix,
    without the timestamp.
    """

    filename: str
    timestamp: int | None
    module_name: str | None
    cl: int | None
    head: str
    suffix: NameSuffix

    @classmethod
    def of(cls, filename: str) -> "DumpName | None":
        """Parse a name; return None if it has another form."""
        start = _NAME_START.match(filename)
        if start is None:
            return None
        timestamp, head = start.groups()
        front, suffix = split_suffix(filename[start.end() :])
        if front:
            head = f"{head}.{front}"
        cl = _CL_AT_END.search(front)
        if cl is not None:
            front = front[: cl.start()]
        return cls(
            filename,
            None if timestamp is None else int(timestamp),
            front or None,
            None if cl is None else int(cl[1]),
            head,
            suffix,
        )

    @property
    def role(self) -> FileRole:
        """The content of the file."""
        return self.suffix.role

    @property
    def module(self) -> str:
        """``module_ID`` as written."""
        return self.head.partition(".")[0]

    def may_be_of(self, module_name: str) -> bool:
        """Return True if the file name with this module name would be too long."""
        return len(self.filename.encode()) + 1 + len(module_name.encode()) > _MAX_NAME_BYTES


def sanitized_name(name: str) -> str:
    """Return the name of a module as XLA writes it in file names (SanitizeFileName in dump.cc)."""
    return _SANITIZED_CHARACTERS.sub("_", name)


@lru_cache(maxsize=1 << 10)
def suffix_of(filename: str) -> NameSuffix:
    """Return the suffix after the module name, also for files with other names than XLA's."""
    name = DumpName.of(filename)
    return split_suffix(filename)[1] if name is None else name.suffix


def group_key(filename: str) -> str:
    """Return the common part of the file names of a module.

    Timestamps are not part of it, as some files have none. ``model/compile_files.py`` separates
    several runs in one folder and assigns files without a module name, which requires all names.
    The key of a name that is not XLA's is the name without a known suffix.
    """
    name = DumpName.of(filename)
    if name is not None:
        return name.head
    front, suffix = split_suffix(filename)
    if suffix.is_known and suffix.role is not FileRole.MODULE_FOLDER:
        return front
    return filename[: -suffix.tail] if suffix.tail else filename
