"""Strategies for sequences of edits.

An edit fits every text: its line numbers are modulo the number of lines, and negative ones count
from the end.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from hypothesis import strategies as st

from hlo_lsp.text import disk
from hlo_lsp.text.document import Document, LineChange
from joined_entries import join_entries

# One short file of each kind and generation.
DUMPS = {
    "one file": "samples/sample_001.txt",
    "one file with breakdown": "tpu_v5e_jax_0.9.2/module_0148.jit_don.cl_878335365.after_optimizations-buffer-assignment.txt",  # noqa: E501
    "assignment": "tpu_v5e/module_0047.jit_condp.cl_1003875606.after_optimizations-buffer-assignment.txt",  # noqa: E501
    "values": "tpu_v5e/module_0092.jit_don.cl_1003875606.after_optimizations-buffer-assignment-values.txt",  # noqa: E501
    "live ranges": "tpu_v5e/module_0040.jit_cond_fn.cl_1003875606.after_optimizations-live-range.txt",  # noqa: E501
    "report": "tpu_v5e/module_0062.jit_dt_fn.cl_1003875606.after_optimizations-memory-usage-report.txt",  # noqa: E501
    "old report": "gpu_h100_jax_0.4.38/module_0014.jit_scan_g.sm_9.0_gpu_after_optimizations-memory-usage-report.txt",  # noqa: E501
    "module": "cpu/module_0018.jit_cond_fn.cpu_after_optimizations.txt",
    "old module": "gpu_h100_jax_0.4.38/module_0020.jit_condp.sm_9.0_gpu_after_optimizations.txt",
    "thunks": "gpu_h100/module_1995.jit_scan_g.thunk_sequence.txt",
    "old thunks": "gpu_h100_jax_0.8.3/module_3978.jit_scan_g.thunk_sequence.txt",
    "oldest thunks": "gpu_h100_jax_0.4.38/module_0070.jit_rm.thunk_sequence.txt",
}
JOINED = "joined entries"  # a newer dump in the format of jax up to 0.4.35
WRITTEN = "written module"  # by hand, with broken lines, comments, and inline computations
_HEAD = re.compile(r"\S.*[:{>]$|\s+[\w ()]+:|HloModule|Total|[A-Z][a-z]+[A-Z][a-z]+$")


class Texts(dict[str, str]):
    """The texts of :data:`DUMPS` by name; a failing test does not print them."""

    def __init__(self, corpus: Path) -> None:
        super().__init__(
            (name, disk.read_document(corpus / path).text) for name, path in DUMPS.items()
        )
        self[JOINED] = join_entries(self["one file"])
        self[WRITTEN] = disk.read_document(Path(__file__).with_name("written.hlo")).text

    def __repr__(self) -> str:
        return "Texts(...)"


class Edit(Protocol):
    """An edit of a text."""

    def apply(self, document: Document) -> LineChange:
        """Edit a document."""


@dataclass(frozen=True)
class Type:
    """An insertion of a few characters or line ends in a line."""

    line: int
    column: int
    text: str

    def apply(self, document: Document) -> LineChange:
        line = self.line % len(document.lines)
        at = line, self.column % (len(document.lines[line]) + 1)
        return document.edit(at, at, self.text)


@dataclass(frozen=True)
class Erase:
    """A deletion of some characters of a line; length 0 joins it with the next line."""

    line: int
    column: int
    length: int

    def apply(self, document: Document) -> LineChange:
        line = self.line % len(document.lines)
        if not self.length:
            return document.edit((line, len(document.lines[line])), (line + 1, 0), "")
        column = self.column % (len(document.lines[line]) + 1)
        return document.edit((line, column), (line, column + self.length), "")


@dataclass(frozen=True)
class Delete:
    """A deletion of whole lines."""

    line: int
    count: int

    def apply(self, document: Document) -> LineChange:
        line = self.line % len(document.lines)
        return document.edit((line, 0), (line + self.count, 0), "")


@dataclass(frozen=True)
class Copy:
    """An insertion of copied lines at another line."""

    line: int
    count: int
    to: int

    def apply(self, document: Document) -> LineChange:
        line = self.line % len(document.lines)
        text = "".join(f"{copied}\n" for copied in document.lines[line : line + self.count])
        at = self.to % len(document.lines), 0
        return document.edit(at, at, text)


@dataclass(frozen=True)
class Break:
    """A damage of the first line of a section, entry, or computation, or its repair."""

    head: int

    def apply(self, document: Document) -> LineChange:
        heads = [
            number
            for number, line in enumerate(document.lines)
            if _HEAD.match(line) or line.startswith("~")
        ]
        line = heads[self.head % len(heads)] if heads else 0
        broken = document.lines[line].startswith("~")
        return document.edit((line, 0), (line, int(broken)), "" if broken else "~")


@dataclass(frozen=True)
class Paste:
    """An insertion of a whole text before a line, or a replacement of everything."""

    name: str
    text: str = field(repr=False)
    line: int | None

    def apply(self, document: Document) -> LineChange:
        if self.line is None:
            return document.replace(self.text)
        at = self.line % len(document.lines), 0
        return document.edit(at, at, self.text)


_LINES = st.one_of(st.integers(0, 160), st.integers(-3, 2))
_COLUMNS = st.one_of(st.integers(0, 60), st.integers(-3, 2))
_SIGNS = st.sampled_from(
    ["\n", " ", "  ", "\r", "\r\n", "x", "0", "<", ":", "{", " positions:\n", " uses:\n",
     "  (none)\n", " from instruction: ",
     " from instruction: %a.1 = f32[] add(%b)<7 a.1 @0>\n", "<7 a.1{} @0>\n",
     "  a.1, operand 0\n", "FileNames\n",
     "%c (p: f32[]) -> f32[] {\n", "/*", "*/", "//", "(", ")", "}", ", to_apply={", '"',
     "  %n = f32[] add(%a, %b)\n", " =", ",", "HloModule m\n", "\n\n", "\x0c", "│ "]
)  # fmt: skip


def edits(texts: Texts) -> st.SearchStrategy[Edit]:
    """Return a strategy for any edit, which pastes from ``texts``."""
    names = st.sampled_from(["nothing", *texts])
    paste = st.tuples(names, st.none() | _LINES).map(
        lambda drawn: Paste(drawn[0], texts.get(drawn[0], ""), drawn[1])
    )
    return st.one_of(
        st.builds(Type, _LINES, _COLUMNS, _SIGNS),
        st.builds(Erase, _LINES, _COLUMNS, st.integers(0, 4)),
        st.builds(Delete, _LINES, st.integers(1, 6)),
        st.builds(Copy, _LINES, st.integers(1, 6), _LINES),
        st.builds(Break, st.integers(-3, 30)),
        paste,
    )


def put_back(document: Document, lines: list[str]) -> LineChange:
    """Edit only the lines that differ from an earlier text."""
    now = document.lines
    least = min(len(now), len(lines))
    above = next((row for row in range(least) if now[row] != lines[row]), least)
    below = next((row for row in range(least - above) if now[~row] != lines[~row]), least - above)
    if not below or not above:
        return document.replace("\n".join(lines))
    text = "".join(f"{line}\n" for line in lines[above : len(lines) - below])
    return document.edit((above, 0), (len(now) - below, 0), text)
