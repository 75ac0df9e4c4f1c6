"""The names in a whole text, for a search over many files: of one dump, or of several in a row."""

from collections.abc import Iterable, Sequence
from pathlib import PurePath

from hlo_lsp.model.symbol_index import Entry, FileSymbols, SymbolKind
from hlo_lsp.model.symbol_reading import NAMING, read_symbols
from hlo_lsp.syntax.bundle import sections
from hlo_lsp.syntax.kinds import FileKind, sniff
from hlo_lsp.text.checkpoint import checkpoint

_VALUES, _ASSIGNMENT = "-buffer-assignment-values.txt", "-buffer-assignment.txt"


def has_names(kind: FileKind) -> bool:
    """Whether a text of this kind is worth reading for its names."""
    return kind in NAMING or kind is FileKind.BUNDLE


def repeats_names(name: str, names: Iterable[str]) -> bool:
    """Whether a file is the values of an assignment among ``names``.

    All of them are in the assignment, at a hundredth of the size.
    """
    return name.endswith(_VALUES) and name.removesuffix(_VALUES) + _ASSIGNMENT in names


def read_text(uri: str, title: str, lines: Sequence[str]) -> list[FileSymbols]:
    """The names in a text.

    Of the output of ``--xla_dump_to=-`` those in each of its files, under the name of that.
    """
    kind = sniff(lines)
    if kind is not FileKind.BUNDLE:
        return [(read_symbols(uri, title, kind, lines))]
    found = [FileSymbols(uri, title, [Entry(PurePath(title).name, SymbolKind.FILE, 0, 0, 0)])]
    parts = sections(lines)
    names = {part.name for part in parts}
    for part in parts:
        text = lines[part.first : part.first + part.count]
        kind = sniff(text)
        if kind in NAMING and not repeats_names(part.name, names):
            found.append(read_symbols(uri, part.name, kind, text, part.first))
        checkpoint()
    return found
