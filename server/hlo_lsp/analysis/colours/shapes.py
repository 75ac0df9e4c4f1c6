"""The parts of a shape: element types, dimensions, tiles ``T(8,128)(2,1)``, spaces ``S(1)``."""

from functools import lru_cache

from hlo_lsp.analysis.colours.token import Modifier, Piece, TokenType
from hlo_lsp.syntax.grammar import load

_TYPES = {
    "ELEMENT_TYPE": TokenType.ELEMENT_TYPE,
    "TILES": TokenType.TILE,
    "MEMORY_SPACE": TokenType.MEMORY_SPACE,
    "NUMBER": TokenType.NUMBER,
    "COMMENT": TokenType.COMMENT,
}


@lru_cache(maxsize=1 << 12)
def array_pieces(text: str) -> tuple[Piece, ...]:
    """The parts of an array shape; remembered, as a module has few and prints them often."""
    return tuple(shape_pieces(text))


def shape_pieces(text: str, end: int | None = None) -> list[Piece]:
    """The parts of a shape, or of a list of them, in its first ``end`` characters."""
    lexemes = load("lexemes").expression("shape_lexeme")
    return [
        (match.start(), match.end(), _TYPES[match.lastgroup or ""], Modifier.NONE)
        for match in lexemes.finditer(text, 0, len(text) if end is None else end)
    ]
