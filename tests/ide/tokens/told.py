"""The tokens of a text in words."""

from collections.abc import Iterable

from hlo_lsp.ide.tokens.line_tokens import SemanticToken, TokenModifier
from hlo_lsp.ide.tokens.semantic_tokens import semantic_tokens
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet


def opened(text: str) -> DumpFile:
    """A file of which is known who names whom."""
    file = DumpFile.of_text(text)
    file.module.build_mention_index()
    return file


def all_tokens(file: DumpFile, first: int = 0, end: int | None = None) -> list[SemanticToken]:
    """The tokens of a file without neighbours."""
    return [token for some in semantic_tokens(DumpSet([file]), file, first, end) for token in some]


def words(file: DumpFile, found: Iterable[SemanticToken]) -> dict[int, str]:
    """For each line its tokens: ``f32/element_type %x/instruction+declaration``."""
    lines: dict[int, list[str]] = {}
    for token in found:
        text = file.lines[token.line][token.start : token.end]
        names = [each.name or "" for each in TokenModifier if each and token.modifiers & each]
        word = "/".join([text, "+".join([token.type.name, *names]).lower()])
        lines.setdefault(token.line, []).append(word)
    return {line: " ".join(found) for line, found in lines.items()}


def told(text: str) -> list[str]:
    """The tokens of a text, a line each."""
    file = opened(text)
    found = words(file, all_tokens(file))
    return [found.get(line, "") for line in range(len(file.lines))]


def said(file: DumpFile, dump: DumpSet) -> dict[str, str]:
    """The names that are declared in a file, each with what else is said of it."""
    found = (token for some in semantic_tokens(dump, file) for token in some)
    return {
        file.lines[token.line][token.start : token.end]: str(
            TokenModifier(token.modifiers & ~TokenModifier.DECLARATION).name
        ).lower()
        for token in found
        if token.modifiers & TokenModifier.DECLARATION
    }
