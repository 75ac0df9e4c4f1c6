"""The names that XLA gives to dump files, taken apart and told apart."""

import re
from dataclasses import dataclass

from hlo_lsp.model.suffixes import BetweenPasses, DuringPass, Role, Suffix, split_suffix

# FilenameFor in xla/service/dump.cc: TIMESTAMP.module_ID.NAME.cl_N.SUFFIX
_START = re.compile(r"(?:([0-9]+)\.)?(module_([0-9]{4,}))(?:\.|$)")
_CL = re.compile(r"(?:^|\.)cl_([0-9]+)$")
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
        cl = _CL.search(front)
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
