"""Out-of-memory messages of real compilers, and a dump that belongs to one of them."""

import re
from pathlib import Path

from hlo_lsp.model.compile import Compile
from hlo_lsp.model.oom_message import OomMessage
from hlo_lsp.model.oom_reader import read_oom_messages
from hlo_lsp.model.workspace import DumpWorkspace

OOM = Path(__file__).parent / "oom"
DUMP = OOM / "dump"
CPU_DUMP = OOM / "cpu_dump"
LONG = "libtpu_0.0.52_hbm_long"
SHORT = "libtpu_0.0.52_hbm_short"
NAMES = sorted(path.stem for path in OOM.glob("*.txt"))

GPU = """\
jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate \
6291456 bytes.
BufferAssignment OOM Debugging.
BufferAssignment stats:
             parameter allocation:    6.00MiB
              constant allocation:         0B
        maybe_live_out allocation:    6.00MiB
     preallocated temp allocation:         0B
                 total allocation:   12.00MiB
              total fragmentation:         0B (0.00%)
Peak buffers:
\tBuffer 1:
\t\tSize: 6.00MiB
\t\tOperator: op_name="jit(concatenate)/concatenate" source_file="/home/user/m.py" source_line=6
\t\tXLA Label: concatenate
\t\tShape: f32[4096,128,3]
\t\t==========================

\tBuffer 2:
\t\tSize: 384.0KiB
\t\tEntry Parameter Subshape: f32[256,128,3]
\t\t==========================
"""
REMATERIALIZATION = (
    "W0000 00:00:17.4 5 r.cc:3] Can't reduce memory use below 10.64GiB (11428802214 bytes) by "
    "rematerialization; only reduced to 71.27GiB (76523901244 bytes), down from 73.51GiB"
)
PROGRAM_LOAD = (
    "RESOURCE_EXHAUSTED: Error loading program 'jit__forward': Attempting to allocate 1.13G. "
    "That was not possible. There are 528.72M free.; (0x0x0_HBM0)"
)


def text_of(name: str) -> str:
    """Return the text of a message of a compiler."""
    return (OOM / f"{name}.txt").read_text("utf-8")


def messages(text: str) -> list[OomMessage]:
    """Return the messages in a text."""
    return read_oom_messages(text.split("\n"))


def message(text: str) -> OomMessage:
    """Return the only message in a text."""
    (found,) = messages(text)
    return found


def dump() -> Compile:
    """Return the dump that belongs to the long message of libtpu 0.0.52."""
    workspace = DumpWorkspace()
    (path,) = DUMP.glob("*-buffer-assignment.txt")
    return workspace.compile_of(workspace.file(path))


def facts(found: OomMessage) -> object:
    """Return the content of a message with single blanks, without its place."""
    entries = [
        (
            entry.rank,
            entry.section,
            None if entry.size is None else entry.size.text,
            entry.shape,
            None if entry.unpadded is None else entry.unpadded.text,
            entry.op_name,
            entry.source,
            re.sub(r"\s+", "", entry.label or ""),
            entry.allocation_type,
            entry.notes,
        )
        for entry in found.entries
    ]
    rows = [(row.name, row.size) for row in (*found.usage_rows, *found.requirement_rows)]
    sizes = (found.needed, found.limit, found.excess, found.output, found.requirement)
    return found.kind, found.module, sizes, rows, entries
