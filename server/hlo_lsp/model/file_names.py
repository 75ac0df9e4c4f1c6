"""What a dump file holds, by the last part of its name (XLA: dump.cc and the compilers' calls)."""

import re
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache


class FileRole(Enum):
    """What XLA writes into a file of this name; the value is a word for it.

    Module texts stand in the order of the pipeline.
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
        """Whether such a file is HLO text of a whole module."""
        return self in _MODULE_TEXT_ROLES

    @property
    def is_memory(self) -> bool:
        """Whether it is one of the four memory files."""
        return self in _MEMORY_ROLES


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
_MEMORY_ROLES = frozenset(
    {FileRole.ASSIGNMENT, FileRole.VALUES, FileRole.LIVE_RANGE, FileRole.REPORT}
)


@dataclass(frozen=True, slots=True)
class PassBoundary:
    """A text written between two passes of a pipeline. ``number`` counts the dumps of a module."""

    number: int
    pipeline: str
    after: str
    before: str


@dataclass(frozen=True, slots=True)
class PassStep:
    """A text that a pass wrote while it ran; ``step`` is its own word for where it was."""

    number: int
    name: str
    step: str


@dataclass(frozen=True, slots=True)
class NameSuffix:
    """The part of a file name that says what the file holds.

    ``architecture`` is what stands in front of ``after_optimizations``: ``cpu_``, ``sm_8.9_gpu_``,
    nothing for TPU. ``is_known`` is False where nobody but its author knows the suffix, so that it
    may have been cut from the module name at a wrong dot. ``tail`` counts the characters at the
    end of a name that files of one stem differ in: ``.txt``, ``-live-range.txt``; 0 for no text.
    """

    text: str
    role: FileRole
    architecture: str = ""
    step: PassBoundary | PassStep | None = None
    is_known: bool = True
    tail: int = 0


_TEXT_EXTENSION = ".txt"
_AFTER_OPTIMIZATIONS = "after_optimizations"
_MEMORY_SUFFIX_ROLES = {
    "-buffer-assignment": FileRole.ASSIGNMENT,
    "-buffer-assignment-values": FileRole.VALUES,
    "-live-range": FileRole.LIVE_RANGE,
    "-memory-usage-report": FileRole.REPORT,
}
_TEXT_SUFFIX_ROLES = {
    "before_optimizations": FileRole.BEFORE_OPTIMIZATIONS,
    "after_spmd_partitioner": FileRole.AFTER_SPMD_PARTITIONER,
    f"{_AFTER_OPTIMIZATIONS}_before_buffer_assignment": FileRole.AFTER_OPTIMIZATIONS_BEFORE_BUFFER_ASSIGNMENT,
    f"{_AFTER_OPTIMIZATIONS}_after_buffer_assignment": FileRole.AFTER_OPTIMIZATIONS_AFTER_BUFFER_ASSIGNMENT,
    # Where libtpu finds too little memory it stops behind buffer assignment and writes this.
    "oom_intermediate_module": FileRole.AFTER_OPTIMIZATIONS_AFTER_BUFFER_ASSIGNMENT,
    "after_codegen": FileRole.AFTER_CODEGEN,
    "after_codegen_after_hlo_sanitization": FileRole.AFTER_CODEGEN,
    "thunk_sequence": FileRole.THUNKS,
    "thunk_sequence_after_thunk_passes": FileRole.THUNKS,
    "thunk_metadata": FileRole.THUNK_METADATA,
    "basic_compiler_metadata": FileRole.OTHER,
    "execution_options": FileRole.OTHER,
    "hlo_module_config": FileRole.OTHER,
    "host_executions": FileRole.OTHER,
    "host_transfers": FileRole.OTHER,
    "priority_fusion_dump": FileRole.OTHER,
    "sparse_core_specific_metadata": FileRole.OTHER,
    "target_arguments": FileRole.OTHER,
    "tpu_comp_env": FileRole.OTHER,
    "transfer_stats": FileRole.OTHER,
}
_FIXED_SUFFIXES = (
    "autotune_results.pbtxt",
    "config.pbtxt",
    "debug_options",
    "flagfile",
    "gpu_target_config.pbtxt",
    "metadata.textproto",
)
# Files that are neither text of ours nor known by their whole suffix.
_KNOWN_EXTENSIONS = frozenset(
    {
        "txt", "hlo", "ll", "s", "o", "bc", "asm", "ptx", "cubin", "hsaco", "ttir", "mlir", "bin",
        "dot", "url", "html", "pyz", "pb", "gz", "riegeli", "fdo_profile", "json", "csv", "pbtxt",
        "txtpb", "textproto", "hlo_unoptimized_snapshot",
    }
)  # fmt: skip
_DUMP_NUMBER = re.compile(r"0[0-9]{3}|[1-9][0-9]{3,}")  # "%04d"
_CL_PART = re.compile(r"cl_[0-9]+")
_CL_BEFORE_SUFFIX = re.compile(r"(?:^|\.)cl_[0-9]+\.")
# A compute capability holds the one dot that a suffix of XLA's has inside a word.
_CAPABILITY = re.compile(r"(?:^|\.)(sm_[0-9]+)$")
_AFTER_CAPABILITY = re.compile(r"[0-9]+[a-z]*_gpu_after_optimizations")


def split_suffix(name: str) -> tuple[str, NameSuffix]:
    """The part of a name in front of its suffix, without the dot between them, and the suffix.

    Suffixes are looked for from the right, as a module name may hold dots and anything else.
    """
    if name.endswith(_TEXT_EXTENSION):
        return (
            _split_pass_boundary(name)
            or _split_text(name)
            or _split_pass_step(name)
            or _split_unknown(name)
        )
    for known in _FIXED_SUFFIXES:
        if name.endswith(known):
            front = name[: -len(known)]
            if not front or front[-1] == ".":
                return front[:-1], NameSuffix(known, FileRole.OTHER)
    return _split_unknown(name)


def _split_pass_boundary(name: str) -> tuple[str, NameSuffix] | None:
    before = name.rfind(".before_")
    after = name.rfind(".after_", 0, before) if before > 0 else -1
    if after < 0:
        return None
    front, _, pipeline = name[:after].rpartition(".")
    front, _, number = front.rpartition(".")
    if not _DUMP_NUMBER.fullmatch(number):
        return None
    step = PassBoundary(int(number), pipeline, name[after + 7 : before], name[before + 8 : -4])
    text = name[len(front) + 1 if front else 0 :]
    return front, NameSuffix(text, FileRole.PASS, step=step, tail=4)


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
    text = f"{last}{_TEXT_EXTENSION}"
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


def _split_pass_step(name: str) -> tuple[str, NameSuffix] | None:
    parts = name[:-4].rsplit(".", 2)
    if len(parts) < 3 or _CL_PART.fullmatch(parts[1]):
        return None
    front, _, number = parts[0].rpartition(".")
    if not _DUMP_NUMBER.fullmatch(number):
        return None
    text = name[len(front) + 1 if front else 0 :]
    return front, NameSuffix(text, FileRole.PASS, step=PassStep(int(number), *parts[1:]), tail=4)


def _split_unknown(name: str) -> tuple[str, NameSuffix]:
    """A suffix that is not in the tables: what stands behind ``cl_`` is it for certain."""
    tail = 4 if name.endswith(_TEXT_EXTENSION) else 0
    inside = list(_CL_BEFORE_SUFFIX.finditer(name)) if "cl_" in name else []
    if inside:
        end = inside[-1].end()
        return name[: end - 1], NameSuffix(name[end:], FileRole.OTHER, tail=tail)
    if tail:
        front, _, last = name[:-4].rpartition(".")
        return front, NameSuffix(
            f"{last}{_TEXT_EXTENSION}", FileRole.OTHER, is_known=False, tail=tail
        )
    if _KNOWN_EXTENSIONS.isdisjoint(name.rsplit(".", 2)[1:]):
        return name, NameSuffix("", FileRole.MODULE_FOLDER)
    front, _, rest = name.partition(".")  # names by jax have no dot
    return front, NameSuffix(rest, FileRole.OTHER, is_known=False)


# FilenameFor in xla/service/dump.cc: TIMESTAMP.module_ID.NAME.cl_N.SUFFIX
_NAME_START = re.compile(r"(?:([0-9]+)\.)?(module_([0-9]{4,}))(?:\.|$)")
_CL_AT_END = re.compile(r"(?:^|\.)cl_([0-9]+)$")
_MAX_NAME_BYTES = 255  # bytes; beyond it XLA leaves the module name out


@dataclass(frozen=True, slots=True)
class DumpName:
    """A name of the form ``[TIMESTAMP.]module_ID[.NAME][.cl_N][.SUFFIX]``.

    ``timestamp`` (microseconds) is taken once for each module, not for each file, and some files
    (``debug_options``, ``thunk_sequence.txt``) do not carry it [dump.cc, TimestampFor].
    ``module_name`` is as in the file name: without characters unfit for one, and None where the
    whole name would have been longer than 255 bytes. ``cl`` is the change number that libtpu
    puts into its names. ``head`` is all in front of the suffix, without the timestamp.
    """

    filename: str
    timestamp: int | None
    module_id: int
    module_name: str | None
    cl: int | None
    head: str
    suffix: NameSuffix

    @classmethod
    def of(cls, filename: str) -> "DumpName | None":
        """The parts of a name, None if it is not of this form."""
        start = _NAME_START.match(filename)
        if start is None:
            return None
        timestamp, head, number = start.groups()
        front, suffix = split_suffix(filename[start.end() :])
        if front:
            head = f"{head}.{front}"
        cl = _CL_AT_END.search(front)
        if cl is not None:
            front = front[: cl.start()]
        return cls(
            filename,
            None if timestamp is None else int(timestamp),
            int(number),
            front or None,
            None if cl is None else int(cl[1]),
            head,
            suffix,
        )

    @property
    def role(self) -> FileRole:
        """What the file holds."""
        return self.suffix.role

    @property
    def step(self) -> PassBoundary | PassStep | None:
        """Where in the pipeline the text of a pass was written."""
        return self.suffix.step

    @property
    def module(self) -> str:
        """``module_ID`` as written."""
        return self.head.partition(".")[0]

    def may_be_of(self, module_name: str) -> bool:
        """Whether XLA would have left this module name out of the file name for its length."""
        return len(self.filename.encode()) + 1 + len(module_name.encode()) > _MAX_NAME_BYTES


def suffix_of(filename: str) -> NameSuffix:
    """What stands behind the name of the module; also of a file that somebody has renamed."""
    name = DumpName.of(filename)
    return split_suffix(filename)[1] if name is None else name.suffix


def group_key(filename: str) -> str:
    """What the names of all files of one module have in common, as far as names alone tell.

    Timestamps are not part of it: not all files of a module carry it. Files of several runs in
    one folder, and files without the module name, are told apart by ``model/compiles.py``, which
    sees the other names. A name that is not XLA's stands for itself, without a known suffix.
    """
    name = DumpName.of(filename)
    if name is not None:
        return name.head
    front, suffix = split_suffix(filename)
    if suffix.is_known and suffix.role is not FileRole.MODULE_FOLDER:
        return front
    return filename[: -suffix.tail] if suffix.tail else filename
