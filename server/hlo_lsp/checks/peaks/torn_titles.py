"""Rows of the stack traces over several lines, from an ``op_name`` with a line break.

``HloStackTrace`` (hlo_stack_trace.cc) escapes nothing; the module text and the entries under ``Used
values`` have the same name with ``\\n`` in it.
"""

from collections.abc import Iterator

from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.syntax.grammar import load_grammar
from hlo_lsp.syntax.metadata import metadata_fields
from hlo_lsp.syntax.records import BrokenRecord

_MAX_BREAKS = 8  # in one title


def is_torn(dump: DumpSet, file: DumpFile, broken: BrokenRecord) -> bool:
    """Return whether an unreadable line is part of a row whose title has a line break."""
    return any(
        title in dump.derived(_names_with_breaks, dump.files)
        for title in _titles(file, broken.line)
    )


def _titles(file: DumpFile, line: int) -> Iterator[str]:
    """Yield the titles of rows that the line may be part of, together with those next to it."""
    row = load_grammar("live_range").expression("breakdown_row")
    first, last = line, line
    while first > 0 and line - first < _MAX_BREAKS and _is_unreadable(file, first - 1):
        first -= 1
    while (
        last + 1 < len(file.lines) and last - line < _MAX_BREAKS and _is_unreadable(file, last + 1)
    ):
        last += 1
    for start in range(first, line + 1):
        for end in range(max(start + 1, line), last + 1):
            text = "\n".join(file.lines[start : end + 1])
            match = row.fullmatch(text.replace("\n", " "))
            if match is not None:
                yield text[slice(*match.span("TITLE"))]


def _is_unreadable(file: DumpFile, line: int) -> bool:
    return isinstance(file.records.at(line), BrokenRecord)


def _names_with_breaks(dump: DumpSet) -> frozenset[str]:
    """Return each ``op_name`` with a line break, of all instructions of a compile."""
    return frozenset(
        field.value
        for file in dump.files
        for line in file.lines
        if "\\n" in line
        for field in metadata_fields(line)
        if field.name == "op_name" and "\n" in field.value
    )
