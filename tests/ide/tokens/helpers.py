"""Semantic tokens as text."""

from collections.abc import Iterable

from hlo_lsp.ide.tokens.line_tokens import SemanticToken, TokenModifier
from hlo_lsp.ide.tokens.semantic_tokens import semantic_tokens
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile


def all_tokens(file: DumpFile, first: int = 0, end: int | None = None) -> list[SemanticToken]:
    """Return the tokens of a file without companion files."""
    return [token for some in semantic_tokens(Compile([file]), file, first, end) for token in some]


def words_by_line(file: DumpFile, found: Iterable[SemanticToken]) -> dict[int, str]:
    """Return the tokens of each line: ``f32/element_type %x/instruction+declaration``."""
    lines: dict[int, list[str]] = {}
    for token in found:
        text = file.lines[token.line][token.start : token.end]
        names = [each.name or "" for each in TokenModifier if each and token.modifiers & each]
        word = "/".join([text, "+".join([token.type.name, *names]).lower()])
        lines.setdefault(token.line, []).append(word)
    return {line: " ".join(found) for line, found in lines.items()}


def tokens_by_line(text: str) -> list[str]:
    """Return the tokens of a text, one string per line."""
    file = DumpFile.of_text(text)
    found = words_by_line(file, all_tokens(file))
    return [found.get(line, "") for line in range(len(file.lines))]


def declared_modifiers(file: DumpFile, dump: Compile) -> dict[str, str]:
    """Return the declared names of a file with their other modifiers."""
    found = (token for some in semantic_tokens(dump, file) for token in some)
    return {
        file.lines[token.line][token.start : token.end]: str(
            TokenModifier(token.modifiers & ~TokenModifier.DECLARATION).name
        ).lower()
        for token in found
        if token.modifiers & TokenModifier.DECLARATION
    }
