"""The operands in the text of an instruction, found by brackets only."""

import re

_LAST_WORD = re.compile(r"%?([\w.\-]+)\s*$")


def operand_names(line: str) -> list[tuple[str, int]]:
    """Return the names between the parentheses after the opcode, each with its column."""
    start = _after_shape(line, line.index(" = ") + 3)
    end = _after_shape(line, start)
    opening = line.index("(", start)
    if line[start:opening].strip() in {"parameter", "constant"}:
        return []
    found = []
    for begin, stop in _pieces(line, opening + 1, line.rindex(")", opening, end)):
        match = _LAST_WORD.search(line, begin, stop)
        if match is not None:
            found.append((match[1], match.start(1)))
    return found


def _after_shape(line: str, start: int) -> int:
    """Return the column after the first blank, comma, or line end outside of brackets."""
    depth = 0
    for column in range(start, len(line)):
        character = line[column]
        depth += (character in "([{") - (character in ")]}")
        if depth == 0 and character in " ," and column > start:
            return column + 1
    return len(line)


def _pieces(line: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return the spans between the commas outside of brackets."""
    depth = 0
    pieces = []
    for column in range(start, end):
        character = line[column]
        depth += (character in "([{") - (character in ")]}")
        if depth == 0 and character == ",":
            pieces.append((start, column))
            start = column + 1
    return [*pieces, (start, end)]
