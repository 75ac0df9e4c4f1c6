"""The instructions of a module text that mention each name, and that call each computation."""

import re
from bisect import insort
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from operator import attrgetter

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.hlo.vocabulary import vocabulary
from hlo_lsp.model.memory_index import MultiMap, RecordChange
from hlo_lsp.syntax.instruction_text import (
    attributes_column,
    attributes_of,
    tuples_of_element,
)
from hlo_lsp.syntax.module_records import InstructionLine
from hlo_lsp.syntax.records import Record

EVERYWHERE = Record()  # in place of a computation, for names that are not defined
_MANY_INSTRUCTIONS = 64  # of a computation; a search through the texts of fewer takes 5 µs
_LONG_TEXT = 2_000  # code points of an instruction; reading the names in it takes 0.1 ms
_MAX_SEARCHES = 10  # through more texts than that; then the names in them are indexed
_INSTRUCTIONS_PER_CHECKPOINT = 100  # less than 1 ms
_MAX_CALLER_SEARCHES = 10  # of 1 ms in a large text; for more, all callers are indexed
_line = attrgetter("line")
_PERCENT_NAME = re.compile(r"%([\w.\-]+)")

_Scope = Record | None  # the head of a computation; None for what is above the first one


class NameIndex:
    """The instructions of each computation by the names in their texts.

    The names in a large computation are indexed after some searches, and updated from then on until
    a computation begins or ends somewhere. ``instructions_in`` returns the instructions of a
    computation in order, or all instructions for ``EVERYWHERE``.
    """

    def __init__(self, instructions_in: Callable[[_Scope], Sequence[InstructionLine]]) -> None:
        self._instructions_in = instructions_in
        self._known: dict[_Scope, dict[str, list[InstructionLine]]] = {}
        self._searches: dict[_Scope, int] = {}

    def __len__(self) -> int:
        """Return the number of computations that are indexed."""
        return len(self._known)

    def mentioning(
        self, scope: _Scope, name: str, besides: InstructionLine | None = None
    ) -> Iterator[InstructionLine]:
        """Yield the instructions of a computation that mention a name, in order."""
        found = self.containing(scope, name)
        is_indexed = scope in self._known
        if not is_indexed and any(len(one.text) > _LONG_TEXT for one in found):
            # Otherwise, the long text is read for each name.
            found = self.index(scope).get(name, [])
            is_indexed = True
        for one in found:
            if one is not besides and (is_indexed or name in mentioned_names(one)):
                yield one

    def containing(
        self, scope: _Scope, name: str, searches: int | None = None
    ) -> list[InstructionLine]:
        """Return the instructions of a computation whose text contains a name, in order.

        The names in a large one are indexed after so many ``searches``. Until then, the name may be
        a part of another one.
        """
        known = self._known.get(scope)
        if known is not None:
            return known.get(name, [])
        members = self._instructions_in(scope)
        if len(members) > _MANY_INSTRUCTIONS:
            count = self._searches.get(scope, 0)
            if count >= (_MAX_SEARCHES if searches is None else searches):
                return self.index(scope).get(name, [])
            self._searches[scope] = count + 1
        return _containing(name, members)

    def index(self, scope: _Scope) -> dict[str, list[InstructionLine]]:
        """Return the instructions of a computation by name, which takes as long as 20 searches."""
        known = self._known.get(scope)
        if known is None:
            known = {}
            for record in self._instructions_in(scope):
                checkpoint()
                for name in mentioned_names(record):
                    known.setdefault(name, []).append(record)
            self._known[scope] = known
        return known

    def add(self, record: InstructionLine, scope: _Scope) -> None:
        """Add an instruction of a computation."""
        for each in (scope, EVERYWHERE):
            known = self._known.get(each)
            if known is not None:
                for name in mentioned_names(record):
                    insort(known.setdefault(name, []), record, key=_line)

    def remove(self, record: InstructionLine) -> None:
        """Remove an instruction."""
        names = mentioned_names(record)
        for known in self._known.values():
            for name in names:
                if record in known.get(name, ()):
                    known[name].remove(record)

    def clear(self) -> None:
        """Remove all instructions, because they may be in other computations now."""
        self._known.clear()
        self._searches.clear()


def _containing(name: str, records: Iterable[InstructionLine]) -> list[InstructionLine]:
    """Return the instructions whose text contains a name."""
    found: list[InstructionLine] = []
    for count, record in enumerate(records):
        if count % _INSTRUCTIONS_PER_CHECKPOINT == 0:
            checkpoint()
        if name in record.text:
            found.append(record)
    return found


def mentioned_names(record: InstructionLine) -> set[str]:
    """Return all names after the opcode; for an element of a tuple, also that of the tuple."""
    text, opened = record.text, record.opened
    end = attributes_column(text, opened)
    names = {*_PERCENT_NAME.findall(text, opened, end), *attributes_of(text[end:]).mentioned}
    if text.find("#", opened, end) >= 0:
        for element in (each for each in record.reads if "#" in each):
            names.update((element, *tuples_of_element(element)))
    # Nearly all names have a percent sign; reading the others takes five times as long.
    operands = text[opened : end - 1]
    if "(" in operands or operands.count("%") <= operands.count(","):
        names.update(record.reads)
    return names


class CallerIndex:
    """The callers of computations, found on request and updated from then on."""

    def __init__(self, instructions: MultiMap[str, InstructionLine]) -> None:
        self._instructions = instructions
        self._calling: dict[InstructionLine, None] | None = None  # all that may call something
        self._by_name: MultiMap[str, InstructionLine] | None = None
        self._searches = 0

    def update(self, record: InstructionLine, change: RecordChange) -> None:
        """Add or remove an instruction."""
        if self._calling is None or not _may_call(record):
            return
        if change is MultiMap.add:
            self._calling[record] = None
        else:
            self._calling.pop(record, None)
        if self._by_name is not None:
            for name in set(record.called):
                change(self._by_name, name, record)

    def callers(self, name: str) -> list[InstructionLine]:
        """Return the instructions that call a computation by name, in the order of the file."""
        if self._by_name is None and self._searches < _MAX_CALLER_SEARCHES:
            self._searches += 1
            found = [one for one in self._find_calling() if name in one.text and name in one.called]
            return sorted(found, key=lambda one: one.line)
        return self.index().all(name)

    def index(self) -> MultiMap[str, InstructionLine]:
        """Return the instructions that call each computation."""
        if self._by_name is None:
            by_name: MultiMap[str, InstructionLine] = MultiMap()
            for record in self._find_calling():
                checkpoint()
                for called in set(record.called):
                    by_name.add(called, record)
            self._by_name = by_name
        return self._by_name

    def _find_calling(self) -> dict[InstructionLine, None]:
        """Return the instructions that may call a computation: one of ten in a TPU program."""
        if self._calling is None:
            found: dict[InstructionLine, None] = {}
            for count, record in enumerate(self._instructions.records()):
                if count % _INSTRUCTIONS_PER_CHECKPOINT == 0:
                    checkpoint()
                if _may_call(record):
                    found[record] = None
            self._calling = found
        return self._calling


@lru_cache(maxsize=1 << 10)
def _is_calling(opcode: str) -> bool:
    known = vocabulary().opcode(opcode)
    return known is None or bool(known.calls)


def _may_call(record: InstructionLine) -> bool:
    """Return False if an instruction certainly calls no computation, without reading most texts."""
    text = record.text
    return _is_calling(record.opcode) or "=%" in text or "={%" in text
