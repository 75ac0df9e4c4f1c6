"""Snippets in the notation of the protocol: what is left to fill in, numbered in order."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from itertools import chain, islice
from typing import NamedTuple

from hlo_lsp.hlo.entries import Attribute, AttributeKind, Opcode
from hlo_lsp.hlo.vocabulary import Vocabulary

_SPECIAL = re.compile(r"[\\$}]")
_CHOICES = {AttributeKind.FLAG, AttributeKind.ENUM}
# Names in an example are of another module: what to say instead, and whether it is in braces.
_NAMES = {
    AttributeKind.COMPUTATION: ("computation", False),
    AttributeKind.COMPUTATIONS: ("computations", True),
    AttributeKind.INSTRUCTIONS: ("instructions", True),
}


def stop(number: int, text: str) -> str:
    """A place to fill in that shows a text."""
    return f"${{{number}:{_SPECIAL.sub(_escaped, text)}}}"


def of_opcode(opcode: Opcode, vocabulary: Vocabulary, literal: str = "") -> str:
    """An opcode with its operands and the attributes that it cannot be without.

    ``literal`` stands in the parentheses of an opcode that takes no operands.
    """
    names = [operand.name for operand in opcode.operands if not operand.optional]
    number = 0
    operands = []
    for name in names or ([literal] if literal else []):
        number += 1
        operands.append(stop(number, name))
    text = f"{opcode.name}({', '.join(operands)})"
    for name in dict.fromkeys(group[0] for group in opcode.required):
        attribute = vocabulary.attribute(name, opcode.name)
        if attribute is not None:
            number += 1
            text += f", {name}={of_value(attribute, number)}"
    return text


def of_value(attribute: Attribute, number: int) -> str:
    """The value of an attribute: a choice of words, or the example to be written over."""
    if attribute.kind in _CHOICES and attribute.values:
        return f"${{{number}|{','.join(attribute.values)}|}}"
    if attribute.kind in _NAMES:
        name, in_braces = _NAMES[attribute.kind]
        return f"{{{stop(number, name)}}}" if in_braces else stop(number, name)
    example = attribute.example
    for opening, end in (("{", "}"), ('"', '"')):
        if example.startswith(opening) and example.endswith(end) and len(example) > 2:
            return opening + stop(number, example[1:-1]) + end
    return stop(number, example)


def _escaped(match: re.Match[str]) -> str:
    return "\\" + match[0]


LIMIT = 200  # candidates in one list; of more, those that match what is typed


class Kind(Enum):
    """What a candidate is."""

    OPCODE = auto()
    INSTRUCTION = auto()
    COMPUTATION = auto()
    ATTRIBUTE = auto()
    VALUE = auto()
    KEY = auto()
    TYPE = auto()
    SHAPE = auto()
    KEYWORD = auto()
    TABLE = auto()
    EXAMPLE = auto()


class Candidate(NamedTuple):
    """``snippet`` is what to insert into an editor that knows snippets, ``insert`` elsewhere.

    ``about`` is what the explanation is looked up by: a name, and whose it is.
    """

    label: str
    kind: Kind
    insert: str
    snippet: str | None = None
    detail: str = ""
    about: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Offer:
    """Candidates, the likely first, for the columns ``start`` to ``end`` of the cursor's line.

    ``complete`` is False where more characters would bring up others.
    """

    candidates: Sequence[Candidate]
    start: int
    end: int
    complete: bool = True


def word(
    text: str, kind: Kind, detail: str = "", about: tuple[str, str] | None = None
) -> Candidate:
    """A candidate that is inserted as it is shown."""
    return Candidate(text, kind, text, None, detail, about)


def best(candidates: Iterable[Candidate], typed: str) -> tuple[list[Candidate], bool]:
    """At most LIMIT candidates in their order, and whether these are all.

    A short list goes to the editor as it is, which knows best how to narrow it down. Of a longer
    one those are chosen that match what is typed: its beginnings first, then the beginnings of
    words inside, then any that hold its characters in this order.
    """
    rest = iter(candidates)
    found = list(islice(rest, LIMIT + 1))
    if len(found) <= LIMIT:
        return found, True
    if not typed.removeprefix("%"):
        return found[:LIMIT], False
    match = matcher(typed)
    ranked: list[list[Candidate]] = [[], [], []]
    for candidate in chain(found, rest):
        rank = match(candidate.label)
        if rank is not None:
            ranked[rank].append(candidate)
    chosen = [candidate for group in ranked for candidate in group]
    return chosen[:LIMIT], False


def matcher(typed: str) -> Callable[[str], int | None]:
    """How well a label matches what is typed: 0 is best, None not at all."""
    signs = [re.escape(sign) for sign in typed.removeprefix("%")]
    whole, spread = "".join(signs), ".*?".join(signs)
    expression = re.compile(rf"%?(?:({whole})|.*?[^a-z0-9]({whole})|.*?{spread})", re.IGNORECASE)

    def match(label: str) -> int | None:
        found = expression.match(label)
        return None if found is None else (found.lastindex or 3) - 1

    return match
