"""The operands in the text of an instruction, from its brackets alone."""

import re

_LAST_WORD = re.compile(r"%?([\w.\-]+)\s*$")


def operand_names(line: str) -> list[tuple[str, int]]:
    """Return the names between the parentheses after the opcode, each with its column."""
    start = _behind_shape(line, line.index(" = ") + 3)
    end = _behind_shape(line, start)
    opened = line.index("(", start)
    if line[start:opened].strip() in {"parameter", "constant"}:
        return []
    found = []
    for begin, stop in _pieces(line, opened + 1, line.rindex(")", opened, end)):
        match = _LAST_WORD.search(line, begin, stop)
        if match is not None:
            found.append((match[1], match.start(1)))
    return found


def _behind_shape(line: str, start: int) -> int:
    """Return the column after the first blank, comma, or line end outside of brackets."""
    depth = 0
    for column in range(start, len(line)):
        sign = line[column]
        depth += (sign in "([{") - (sign in ")]}")
        if depth == 0 and sign in " ," and column > start:
            return column + 1
    return len(line)


def _pieces(line: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return the spans between the commas outside of brackets."""
    depth = 0
    pieces = []
    for column in range(start, end):
        sign = line[column]
        depth += (sign in "([{") - (sign in ")]}")
        if depth == 0 and sign == ",":
            pieces.append((start, column))
            start = column + 1
    return [*pieces, (start, end)]
