"""Random damage to texts: deleted, doubled, inserted, replaced, and moved parts."""

import random
from collections.abc import Sequence

_INSERTED = (
    "é", "𝔸", "\u202e", "\0", "\ufeff", "\u2028", "{", "}", "(", ")", '"', "\\", "/*", "*/",
    "\n", "\t", "%", "=", "<", "->", "│", "9" * 30, "*** Begin module_0001.f.txt ***\n",
)  # fmt: skip
_LENGTHS = (1, 2, 5, 20, 100, 1000)


def damage(rng: random.Random, text: str, others: Sequence[str]) -> str:
    """Return a text with one random damage, possibly with a part of another text."""
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
            return flip_bit(rng, text[:start]) + text[start:]
        case _:
            return change_digit(rng, text)
    return "\n".join(lines)


def flip_bit(rng: random.Random, text: str) -> str:
    """Return a text with one flipped bit, decoded like a file."""
    data = bytearray(text.encode("utf-8", "surrogatepass"))
    if data:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return data.decode("utf-8", "replace").replace("\r", "")  # A carriage return would end a line.


def change_digit(rng: random.Random, text: str) -> str:
    """Return a text with one changed digit, which most lines still accept."""
    digits = [place for place, character in enumerate(text) if "0" <= character <= "9"]
    if not digits:
        return text
    place = rng.choice(digits)
    return text[:place] + rng.choice("0123456789") + text[place + 1 :]
