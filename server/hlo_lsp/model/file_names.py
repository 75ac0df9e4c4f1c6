"""What a dump file holds, by the last part of its name (XLA: dump.cc and the compilers' calls)."""

import re
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache


class Role(Enum):
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
        return self in _MODULE_TEXTS

    @property
    def is_memory(self) -> bool:
        """Whether it is one of the four memory files."""
        return self in _MEMORY


_MODULE_TEXTS = frozenset(
    {
        Role.BEFORE_OPTIMIZATIONS,
        Role.PASS,
        Role.AFTER_SPMD_PARTITIONER,
        Role.AFTER_OPTIMIZATIONS_BEFORE_BUFFER_ASSIGNMENT,
        Role.AFTER_OPTIMIZATIONS,
        Role.AFTER_OPTIMIZATIONS_AFTER_BUFFER_ASSIGNMENT,
        Role.AFTER_CODEGEN,
    }
)
_MEMORY = frozenset({Role.ASSIGNMENT, Role.VALUES, Role.LIVE_RANGE, Role.REPORT})


@dataclass(frozen=True, slots=True)
class BetweenPasses:
    """A text written between two passes of a pipeline. ``number`` counts the dumps of a module."""

    number: int
    pipeline: str
    after: str
    before: str


@dataclass(frozen=True, slots=True)
class DuringPass:
    """A text that a pass wrote while it ran; ``step`` is its own word for where it was."""

    number: int
    name: str
    step: str


@dataclass(frozen=True, slots=True)
class Suffix:
    """The part of a file name that says what the file holds.

    ``architecture`` is what stands in front of ``after_optimizations``: ``cpu_``, ``sm_8.9_gpu_``,
    nothing for TPU. ``is_known`` is False where nobody but its author knows the suffix, so that it
    may have been cut from the module name at a wrong dot. ``tail`` counts the characters at the
    end of a name that files of one stem differ in: ``.txt``, ``-live-range.txt``; 0 for no text.
    """

    text: str
    role: Role
    architecture: str = ""
    step: BetweenPasses | DuringPass | None = None
    is_known: bool = True
    tail: int = 0


_TXT = ".txt"
_AFTER = "after_optimizations"
_MEMORY_TAILS = {
    "-buffer-assignment": Role.ASSIGNMENT,
    "-buffer-assignment-values": Role.VALUES,
    "-live-range": Role.LIVE_RANGE,
    "-memory-usage-report": Role.REPORT,
}
_TEXTS = {
    "before_optimizations": Role.BEFORE_OPTIMIZATIONS,
    "after_spmd_partitioner": Role.AFTER_SPMD_PARTITIONER,
    f"{_AFTER}_before_buffer_assignment": Role.AFTER_OPTIMIZATIONS_BEFORE_BUFFER_ASSIGNMENT,
    f"{_AFTER}_after_buffer_assignment": Role.AFTER_OPTIMIZATIONS_AFTER_BUFFER_ASSIGNMENT,
    # Where libtpu finds too little memory it stops behind buffer assignment and writes this.
    "oom_intermediate_module": Role.AFTER_OPTIMIZATIONS_AFTER_BUFFER_ASSIGNMENT,
    "after_codegen": Role.AFTER_CODEGEN,
    "after_codegen_after_hlo_sanitization": Role.AFTER_CODEGEN,
    "thunk_sequence": Role.THUNKS,
    "thunk_sequence_after_thunk_passes": Role.THUNKS,
    "thunk_metadata": Role.THUNK_METADATA,
    "basic_compiler_metadata": Role.OTHER,
    "execution_options": Role.OTHER,
    "hlo_module_config": Role.OTHER,
    "host_executions": Role.OTHER,
    "host_transfers": Role.OTHER,
    "priority_fusion_dump": Role.OTHER,
    "sparse_core_specific_metadata": Role.OTHER,
    "target_arguments": Role.OTHER,
    "tpu_comp_env": Role.OTHER,
    "transfer_stats": Role.OTHER,
}
_PLAIN = (
    "autotune_results.pbtxt",
    "config.pbtxt",
    "debug_options",
    "flagfile",
    "gpu_target_config.pbtxt",
    "metadata.textproto",
)
# Files that are neither text of ours nor known by their whole suffix.
_EXTENSIONS = frozenset(
    {
        "txt", "hlo", "ll", "s", "o", "bc", "asm", "ptx", "cubin", "hsaco", "ttir", "mlir", "bin",
        "dot", "url", "html", "pyz", "pb", "gz", "riegeli", "fdo_profile", "json", "csv", "pbtxt",
        "txtpb", "textproto", "hlo_unoptimized_snapshot",
    }
)  # fmt: skip
_NUMBER = re.compile(r"0[0-9]{3}|[1-9][0-9]{3,}")  # "%04d"
_CL = re.compile(r"cl_[0-9]+")
_CL_INSIDE = re.compile(r"(?:^|\.)cl_[0-9]+\.")
# A compute capability holds the one dot that a suffix of XLA's has inside a word.
_CAPABILITY = re.compile(r"(?:^|\.)(sm_[0-9]+)$")
_CAPABILITY_END = re.compile(r"[0-9]+[a-z]*_gpu_after_optimizations")


def split_suffix(name: str) -> tuple[str, Suffix]:
    """The part of a name in front of its suffix, without the dot between them, and the suffix.

    Suffixes are looked for from the right, as a module name may hold dots and anything else.
    """
    if name.endswith(_TXT):
        return _between_passes(name) or _text(name) or _during_pass(name) or _unknown(name)
    for known in _PLAIN:
        if name.endswith(known):
            front = name[: -len(known)]
            if not front or front[-1] == ".":
                return front[:-1], Suffix(known, Role.OTHER)
    return _unknown(name)


def _between_passes(name: str) -> tuple[str, Suffix] | None:
    before = name.rfind(".before_")
    after = name.rfind(".after_", 0, before) if before > 0 else -1
    if after < 0:
        return None
    front, _, pipeline = name[:after].rpartition(".")
    front, _, number = front.rpartition(".")
    if not _NUMBER.fullmatch(number):
        return None
    step = BetweenPasses(int(number), pipeline, name[after + 7 : before], name[before + 8 : -4])
    text = name[len(front) + 1 if front else 0 :]
    return front, Suffix(text, Role.PASS, step=step, tail=4)


def _text(name: str) -> tuple[str, Suffix] | None:
    front, _, last = name[:-4].rpartition(".")
    if _CAPABILITY_END.match(last):
        capability = _CAPABILITY.search(front)
        if capability is not None:
            front, last = front[: capability.start()], f"{capability[1]}.{last}"
    suffix = _suffix_of_text(last)
    return None if suffix is None else (front, suffix)


@lru_cache(maxsize=256)  # a folder has a few dozen
def _suffix_of_text(last: str) -> Suffix | None:
    text = f"{last}{_TXT}"
    base, dash, _ = last.partition("-")
    memory = _MEMORY_TAILS.get(last[len(base) :]) if dash else None
    if memory is None:
        base = last
    tail = len(text) - len(base)
    if base.endswith(_AFTER):
        role = memory or Role.AFTER_OPTIMIZATIONS
        return Suffix(text, role, base[: -len(_AFTER)], tail=tail)
    if memory is not None:
        return Suffix(text, memory, is_known=False, tail=tail)
    known = _TEXTS.get(base)
    return None if known is None else Suffix(text, known, tail=tail)


def _during_pass(name: str) -> tuple[str, Suffix] | None:
    parts = name[:-4].rsplit(".", 2)
    if len(parts) < 3 or _CL.fullmatch(parts[1]):
        return None
    front, _, number = parts[0].rpartition(".")
    if not _NUMBER.fullmatch(number):
        return None
    text = name[len(front) + 1 if front else 0 :]
    return front, Suffix(text, Role.PASS, step=DuringPass(int(number), *parts[1:]), tail=4)


def _unknown(name: str) -> tuple[str, Suffix]:
    """A suffix that is not in the tables: what stands behind ``cl_`` is it for certain."""
    tail = 4 if name.endswith(_TXT) else 0
    inside = list(_CL_INSIDE.finditer(name)) if "cl_" in name else []
    if inside:
        end = inside[-1].end()
        return name[: end - 1], Suffix(name[end:], Role.OTHER, tail=tail)
    if tail:
        front, _, last = name[:-4].rpartition(".")
        return front, Suffix(f"{last}{_TXT}", Role.OTHER, is_known=False, tail=tail)
    if _EXTENSIONS.isdisjoint(name.rsplit(".", 2)[1:]):
        return name, Suffix("", Role.MODULE_FOLDER)
    front, _, rest = name.partition(".")  # names by jax have no dot
    return front, Suffix(rest, Role.OTHER, is_known=False)


# FilenameFor in xla/service/dump.cc: TIMESTAMP.module_ID.NAME.cl_N.SUFFIX
_START = re.compile(r"(?:([0-9]+)\.)?(module_([0-9]{4,}))(?:\.|$)")
_NAMING_CL = re.compile(r"(?:^|\.)cl_([0-9]+)$")
_MAX_NAME = 255  # bytes; beyond it XLA leaves the module name out


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
    suffix: Suffix

    @classmethod
    def of(cls, filename: str) -> "DumpName | None":
        """The parts of a name, None if it is not of this form."""
        start = _START.match(filename)
        if start is None:
            return None
        timestamp, head, number = start.groups()
        front, suffix = split_suffix(filename[start.end() :])
        if front:
            head = f"{head}.{front}"
        cl = _NAMING_CL.search(front)
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
    def role(self) -> Role:
        """What the file holds."""
        return self.suffix.role

    @property
    def step(self) -> BetweenPasses | DuringPass | None:
        """Where in the pipeline the text of a pass was written."""
        return self.suffix.step

    @property
    def module(self) -> str:
        """``module_ID`` as written."""
        return self.head.partition(".")[0]

    def may_be_of(self, module_name: str) -> bool:
        """Whether XLA would have left this module name out of the file name for its length."""
        return len(self.filename.encode()) + 1 + len(module_name.encode()) > _MAX_NAME


def suffix_of(filename: str) -> Suffix:
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
    if suffix.is_known and suffix.role is not Role.MODULE_FOLDER:
        return front
    return filename[: -suffix.tail] if suffix.tail else filename
