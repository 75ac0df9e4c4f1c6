"""The names of ``get-tuple-element`` instructions that a module text omits.

Since jaxlib 0.11, the module text has ``%tuple#1`` in place of such an instruction, but the memory
files still name it: in positions, uses, schedule, live ranges, and operands. The element
that a name means follows from them. The text after ``from instruction:`` names the operands of an
instruction, for which the module text has elements. For a name that is not an operand there, value
``tuple{1}`` has the position ``NAME``, and value ``tuple{}`` has the use ``NAME, operand 0 {}``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.model.query_cache import Subject, query
from hlo_lsp.model.unprinted_instructions import element_position
from hlo_lsp.syntax.instruction_text import tuples_of_element
from hlo_lsp.syntax.used_value import UsedValue, defining_text

if TYPE_CHECKING:
    from hlo_lsp.model.dump_file import DumpFile
    from hlo_lsp.model.place import LocatedRecord
    from hlo_lsp.syntax.memory_records import SequenceRow

_WHOLE = {None, "{}"}


class Companions(Subject, Protocol):
    """The files of a compile, as ``Compile`` has them."""

    files: list[DumpFile]

    @property
    def has_broken_used_values(self) -> bool:
        """True if the header of a used value is malformed or missing."""

    def step(self, name: str) -> LocatedRecord[SequenceRow] | None:
        """Return the schedule row of an instruction."""


@dataclass(frozen=True, slots=True)
class OmittedInstructions:
    """The omitted instructions of a compile.

    Attributes:
        elements: The element, such as ``tuple#1``, that each known name means.
        names: The names of each element, in the order of the schedule.
        readers: The names of all elements of each tuple.
        mentioned: All names in positions, uses, and operands that the module text lacks. Damage to
            a memory file can hide which element a name means.
        may_have_others: Whether other names can be omitted instructions: the module text omits
            some, and the compile has no complete list of positions and uses.
    """

    elements: Mapping[str, str]
    names: Mapping[str, Sequence[str]]
    readers: Mapping[str, Sequence[str]]
    mentioned: Set[str]
    may_have_others: bool

    def may_contain(self, name: str) -> bool:
        """Return whether a name that the module text lacks can be that of an omitted one."""
        return self.may_have_others or name in self.mentioned


NONE_OMITTED = OmittedInstructions({}, {}, {}, frozenset(), False)


@query
def omitted_instructions(dump: Companions) -> OmittedInstructions:
    """Return the instructions that the module text of a compile omits."""
    module = next((file for file in dump.files if file.module.is_compact), None)
    if module is None:
        return NONE_OMITTED
    entries = [entry for file in dump.files for entry in file.memory.entries.in_order()]
    is_whole = bool(entries) and not dump.has_broken_used_values
    is_whole = is_whole and all(entry.whole for entry in entries)
    found = _Search(dump, module, entries)
    elements = found.elements()
    names: defaultdict[str, list[str]] = defaultdict(list)
    readers: defaultdict[str, list[str]] = defaultdict(list)
    for name in sorted(elements, key=found.step):
        names[elements[name]].append(name)
        readers[elements[name].rpartition("#")[0]].append(name)
    return OmittedInstructions(elements, names, readers, found.names, not is_whole)


class _Search:
    """A search for the elements that names mean.

    ``owners`` has the value at each name that the module text lacks. ``_tuples`` has the positions
    of the tuple that each of them reads.
    """

    def __init__(self, dump: Companions, module: DumpFile, entries: list[UsedValue]) -> None:
        self._dump = dump
        self._instructions = module.module.instructions
        self._mentioned = set(_elements_in_text(module))
        self.owners: dict[str, UsedValue] = {}
        self._tuples: dict[str, list[str]] = {}
        self._found: dict[str, str | None] = {}
        self._operands: dict[str, str] = {}
        self.names: set[str] = set()
        seen: set[str] = set()
        for entry in entries:
            checkpoint()
            if entry.name is not None and entry.name not in seen:
                seen.add(entry.name)
                self._operands.update(self._named_operands(entry.name, entry))
            positions, users = entry.row_names()
            for name in positions:
                if name not in self._instructions and entry.has_position(name, None):
                    self.owners.setdefault(name, entry)
            omitted = [user for user in users if user not in self._instructions]
            self.names.update(omitted)
            if omitted:
                whole = [one.name for one in entry.positions if one.index in _WHOLE]
                for user in omitted:
                    self._tuples.setdefault(user, whole)

    def _named_operands(self, name: str, entry: UsedValue) -> Iterator[tuple[str, str]]:
        """Yield the names of omitted operands, each with the element in the module text."""
        record = self._instructions.first(name)
        if record is None or "#" not in record.text:
            return
        text = defining_text(entry)
        for span, operand in zip(
            () if text is None else text.operands, record.operands, strict=False
        ):
            if "#" in operand and span.text not in self._instructions:
                yield span.text, operand

    def elements(self) -> dict[str, str]:
        """Return the elements of all names that the module text lacks."""
        self.names.update(self.owners, self._operands)
        found = ((name, self.element(name)) for name in self.owners)
        return {name: element for name, element in found if element is not None}

    def step(self, name: str) -> int:
        """Return the step of an instruction, -1 if it is not scheduled."""
        row = self._dump.step(name)
        return -1 if row is None else row.record.step

    def element(self, name: str) -> str | None:
        """Return the element that an omitted name means, None if it is unknown.

        A tuple that loops and calls pass on is at several positions. The text mentions the element
        of the right one; of several, that is the last one that is scheduled before the name.
        """
        if name in self._found:
            return self._found[name]
        operand = self._operands.get(name)
        if operand is not None and self.owners[name].has_position(*element_position(operand, None)):
            self._found[name] = operand
        else:
            self._found[name] = None  # ends a search in a circle, which only damage can cause
            candidates = [key for _, key in self._candidates(name) if key in self._mentioned]
            if len(candidates) > 1:
                step = self.step(name)
                earlier = [one for one in self._candidates(name) if self.step(one[0]) <= step]
                earlier = [one for one in earlier if one[1] in self._mentioned]
                candidates = [max(earlier, key=lambda one: self.step(one[0]))[1]] if earlier else []
            self._found[name] = candidates[0] if candidates else None
        return self._found[name]

    def _candidates(self, name: str) -> Iterator[tuple[str, str]]:
        """Yield the tuples that an omitted instruction may read, each with the element of it."""
        owner = self.owners[name]
        tuples = set(self._tuples.get(name, ()))
        for position in owner.positions:
            holder, index = position.name, position.index
            if holder in tuples and index is not None and index[1:-1].isdigit():
                if holder in self._instructions:
                    yield holder, f"{holder}#{index[1:-1]}"
                elif holder in self.owners and (key := self.element(holder)) is not None:
                    yield holder, f"{key}#{index[1:-1]}"


def _elements_in_text(module: DumpFile) -> Iterator[str]:
    """Yield the elements that a module text mentions, with the tuples that are elements, too."""
    for reader in module.module.element_readers.records():
        checkpoint()
        for operand in reader.reads:
            if "#" in operand:
                yield operand
                yield from tuples_of_element(operand)
