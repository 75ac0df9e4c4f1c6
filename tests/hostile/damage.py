"""Damage to texts: parts deleted, doubled, inserted, replaced, moved, or of another text."""

import random
from collections.abc import Sequence

_INSERTED = (
    "é", "𝔸", "\u202e", "\0", "\ufeff", "\u2028", "{", "}", "(", ")", '"', "\\", "/*", "*/",
    "\n", "\t", "%", "=", "<", "->", "│", "9" * 30, "*** Begin module_0001.f.txt ***\n",
)  # fmt: skip
_LENGTHS = (1, 2, 5, 20, 100, 1000)


def damaged(rng: random.Random, text: str, others: Sequence[str]) -> str:
    """Return a text with one damage, which may be a part of another text."""
    start = rng.randrange(len(text) + 1)
    end = min(len(text), start + rng.choice(_LENGTHS))
    other = rng.choice(others)
    at = rng.randrange(len(other) + 1)
    lines = text.split("\n")
    first, second = (rng.randrange(len(lines)) for _ in range(2))
    match rng.randrange(12):
        case 0:
            return text[:start] + text[end:]
        case 1:
            return text[:end] + text[start:]
        case 2:
            return text[:start] + rng.choice(_INSERTED) + text[start:]
        case 3:
            return text[:start] + other[at : at + rng.choice(_LENGTHS)] + text[end:]
        case 4:
            lines[first], lines[second] = lines[second], lines[first]
        case 5:
            lines.insert(first, lines[second])
        case 6:
            del lines[first : first + rng.choice((1, 1, 2, 5, 20))]
        case 7 if rng.random() < 0.2:
            return text[:start]
        case 8 if rng.random() < 0.2:
            return text[:start] + other[at:]
        case 9:
            return flipped(rng, text[:start]) + text[start:]
        case _:
            return with_changed_digit(rng, text)
    return "\n".join(lines)


def flipped(rng: random.Random, text: str) -> str:
    """Return a text with one flipped bit, decoded as a file is."""
    data = bytearray(text.encode("utf-8", "surrogatepass"))
    if data:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return data.decode("utf-8", "replace").replace("\r", "")  # else it is a line end


def with_changed_digit(rng: random.Random, text: str) -> str:
    """Return a text with another digit in one place, which most lines still accept."""
    digits = [place for place, character in enumerate(text) if "0" <= character <= "9"]
    if not digits:
        return text
    place = rng.choice(digits)
    return text[:place] + rng.choice("0123456789") + text[place + 1 :]
