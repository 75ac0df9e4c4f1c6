"""What completion offers: one word or piece of text, and why it stands where in the list."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from itertools import chain, islice
from typing import NamedTuple

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
