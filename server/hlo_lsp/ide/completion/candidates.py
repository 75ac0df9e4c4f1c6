"""Completion candidates: their snippets, their order, and their number."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from itertools import chain, islice
from typing import NamedTuple

from hlo_lsp.hlo.specs import AttributeKind, AttributeSpec, OpcodeSpec
from hlo_lsp.hlo.vocabulary import Vocabulary

_SNIPPET_SPECIAL_CHARACTER = re.compile(r"[\\$}]")
_CHOICE_KINDS = {AttributeKind.FLAG, AttributeKind.ENUM}
# The names in the examples belong to other modules. These placeholders replace them; the flag is
# True if the value is in braces.
_NAME_PLACEHOLDERS = {
    AttributeKind.COMPUTATION: ("computation", False),
    AttributeKind.COMPUTATIONS: ("computations", True),
    AttributeKind.INSTRUCTIONS: ("instructions", True),
}


def placeholder(number: int, text: str) -> str:
    """Return a snippet placeholder with default text."""
    return f"${{{number}:{_SNIPPET_SPECIAL_CHARACTER.sub(_escape, text)}}}"


def opcode_snippet(opcode: OpcodeSpec, vocabulary: Vocabulary, literal: str = "") -> str:
    """Return the snippet of an opcode with its operands and required attributes.

    Args:
        opcode: The opcode to insert.
        vocabulary: The vocabulary that describes the attributes.
        literal: The text in the parentheses of an opcode without operands.
    """
    names = [operand.name for operand in opcode.operands if not operand.optional]
    number = 0
    operands = []
    for name in names or ([literal] if literal else []):
        number += 1
        operands.append(placeholder(number, name))
    text = f"{opcode.name}({', '.join(operands)})"
    for name in dict.fromkeys(group[0] for group in opcode.required):
        attribute = vocabulary.attribute(name, opcode.name)
        if attribute is not None:
            number += 1
            text += f", {name}={value_snippet(attribute, number)}"
    return text


def value_snippet(attribute: AttributeSpec, number: int) -> str:
    """Return the snippet of an attribute value: a choice, or an example to overwrite."""
    if attribute.kind in _CHOICE_KINDS and attribute.values:
        return f"${{{number}|{','.join(attribute.values)}|}}"
    if attribute.kind in _NAME_PLACEHOLDERS:
        name, in_braces = _NAME_PLACEHOLDERS[attribute.kind]
        return f"{{{placeholder(number, name)}}}" if in_braces else placeholder(number, name)
    example = attribute.example
    for opening, end in (("{", "}"), ('"', '"')):
        if example.startswith(opening) and example.endswith(end) and len(example) > 2:
            return opening + placeholder(number, example[1:-1]) + end
    return placeholder(number, example)


def _escape(match: re.Match[str]) -> str:
    return "\\" + match[0]


MAX_CANDIDATES = 200


class CandidateKind(Enum):
    """The kind of a completion candidate."""

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
    """A completion candidate.

    ``snippet`` is inserted by editors that support snippets, ``insert`` by the others. ``about`` is
    the key of the documentation: a category with an owner, and a name.
    """

    label: str
    kind: CandidateKind
    insert: str
    snippet: str | None = None
    detail: str = ""
    about: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class CandidateList:
    """Candidates for the columns ``start`` to ``end`` of the line, most likely first.

    ``complete`` is False if more typed characters would yield other candidates.
    """

    candidates: Sequence[Candidate]
    start: int
    end: int
    complete: bool = True


def plain_candidate(
    text: str, kind: CandidateKind, detail: str = "", about: tuple[str, str] | None = None
) -> Candidate:
    """Return a candidate whose label is inserted as it is."""
    return Candidate(text, kind, text, None, detail, about)


def best_candidates(candidates: Iterable[Candidate], typed: str) -> tuple[list[Candidate], bool]:
    """Return at most MAX_CANDIDATES candidates in order, and whether these are all.

    A short list is returned whole, because the editor filters it. A longer list is reduced to the
    candidates that match the typed text: first labels that start with it, then labels with a word
    that starts with it, then labels that contain its characters in this order.
    """
    rest = iter(candidates)
    found = list(islice(rest, MAX_CANDIDATES + 1))
    if len(found) <= MAX_CANDIDATES:
        return found, True
    if not typed.removeprefix("%"):
        return found[:MAX_CANDIDATES], False
    match = label_matcher(typed)
    ranked: list[list[Candidate]] = [[], [], []]
    for candidate in chain(found, rest):
        rank = match(candidate.label)
        if rank is not None:
            ranked[rank].append(candidate)
    chosen = [candidate for group in ranked for candidate in group]
    return chosen[:MAX_CANDIDATES], False


def label_matcher(typed: str) -> Callable[[str], int | None]:
    """Return a function that ranks how well a label matches: 0 is best, None is no match."""
    signs = [re.escape(sign) for sign in typed.removeprefix("%")]
    whole, spread = "".join(signs), ".*?".join(signs)
    expression = re.compile(rf"%?(?:({whole})|.*?[^a-z0-9]({whole})|.*?{spread})", re.IGNORECASE)

    def match(label: str) -> int | None:
        found = expression.match(label)
        return None if found is None else (found.lastindex or 3) - 1

    return match
