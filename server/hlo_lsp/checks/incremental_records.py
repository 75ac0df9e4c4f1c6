"""Records without findings, which are checked again only if something changes that rules read.

A rule of pace LINE reads only its record. A rule of pace FILE on a module text also reads the
computation of the record and the computations that it calls. Records that no edit touches keep
their order, so only names show what changed for them.
"""

from collections.abc import Iterator, Sequence, Set
from itertools import chain
from typing import Any

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.checks.framework.rule import Pace, RecordContext, Rule
from hlo_lsp.checks.module.names import has_all_computations
from hlo_lsp.model.computation import Computation
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.padded_sizes import Target
from hlo_lsp.model.query_cache import Memo
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.module_records import (
    ComputationEnd,
    ComputationLine,
    InlineComputation,
    InnerInstruction,
    InstructionLine,
    ModuleHeader,
)
from hlo_lsp.syntax.records import Record

_MAX_CHANGED_NAMES = 20  # a search for more takes longer than a check
_SEARCHES_PER_CHECKPOINT = 5000  # about 1 ms


class CleanRecords:
    """The records of a file in which the rules of a pace found nothing.

    They are compared with the file, not with the edits: it does not matter which edits a check saw.

    Attributes:
        records: The records that need no check.
    """

    def __init__(self, file: DumpFile, pace: Pace) -> None:
        self._file = file
        self._pace = pace
        self.records: set[Record] = set()
        self._state: _ModuleState | None = None
        self._is_of_module = False

    def refresh(self) -> None:
        """Remove the records that edits have removed, or that must be checked again."""
        self._is_of_module = self._pace is Pace.FILE and self._file.kind is FileKind.MODULE
        if self._is_of_module:
            state = _ModuleState(self._file)
            if self._state is None or self._state.facts != state.facts:
                self.records.clear()
            else:
                self.records -= state.outdated(self._state)
            self._state = state

    def add(self, context: "RecordContext[Any]") -> None:
        """Add a record without findings, unless nothing would show that it needs a check again."""
        if self._pace is Pace.LINE or (self._is_of_module and _can_stay_clean(context)):
            self.records.add(context.record)

    def trim(self, count: int) -> None:
        """Remove the records that left the file, if there are more than its ``count`` records."""
        if len(self.records) > count:
            self.records.intersection_update(self._file.records)


_clean_records = Memo[dict[Pace, CleanRecords]]()


def clean_records(
    file: DumpFile, rules: "tuple[Rule[Any], ...]", target: Target
) -> dict[Pace, CleanRecords]:
    """Return the records that the last check with these rules and this target found clean.

    Each check brings them up to date, and adds its own.
    """
    known = _clean_records.get(file, (rules, target))
    if known is None:
        new = {pace: CleanRecords(file, pace) for pace in Pace}
        known = _clean_records.keep(file, (rules, target), new)
    return known


class _ModuleState:
    """The facts that rules on a module text read besides their record."""

    def __init__(self, file: DumpFile) -> None:
        module = self._module = file.module
        heads = [
            head for head in module.all_computations() if not isinstance(head, InlineComputation)
        ]
        self.computations: dict[ComputationLine, Computation] = {}
        for head in heads:
            self.computations[head] = module.computation(head)
            checkpoint()
        # Of several computations of one name, calls refer to the first one.
        self.callees = {head.name: self.computations[head] for head in reversed(heads)}
        self.header = module.header
        self.entry = None if module.entry is None else self.computations[module.entry]
        frames = module.tables.table("StackFrames")
        self.facts = (
            None if frames is None else frames.highest,
            has_all_computations(file),
            module.is_compact,
        )

    def outdated(self, before: "_ModuleState") -> set[Record]:
        """Return the earlier records that were removed or must be checked again."""
        callees = _changed_names(before.callees.items(), self.callees.items())
        if len(callees) > _MAX_CHANGED_NAMES:
            return set(before.records())
        found: set[Record] = set()
        if (self.header, self.entry) != (before.header, before.entry) and self.entry is not None:
            found.add(self.entry.head)  # a rule compares it with the header
        for name in callees:
            checkpoint()
            found.update(self._module.computations.all(name))
            found.update(map(_holder, self._module.calling(name)))
        for head, old in before.computations.items():
            new = self.computations.get(head)
            if new is old:
                continue
            if new is None or old.closing is not new.closing:
                found.update(_records_of(old))
                continue
            found.add(head)
            found.update(set(old.members).difference(new.members))
            changed = _changed_names(old.names.items(), new.names.items())
            changed |= old.broken ^ new.broken
            if len(changed) > _MAX_CHANGED_NAMES:
                found.update(new.members)
            elif changed:
                found.update(_mentioning(new.members, changed))
        return found

    def records(self) -> Iterator[Record]:
        """Yield the records of all computations."""
        return chain.from_iterable(map(_records_of, self.computations.values()))


def _records_of(computation: Computation) -> Iterator[Record]:
    closing = () if computation.closing is None else (computation.closing,)
    return chain((computation.head,), computation.members, closing)


def _holder(instruction: InstructionLine) -> Record:
    """Return the record that contains an instruction, which is nearly always the instruction."""
    holder = instruction.holder if isinstance(instruction, InnerInstruction) else None
    return holder or instruction


def _changed_names(old: Set[tuple[str, Any]], new: Set[tuple[str, Any]]) -> set[str]:
    return {name for name, _ in old ^ new}


def _mentioning(members: Sequence[InstructionLine], names: set[str]) -> Iterator[InstructionLine]:
    """Yield the instructions with one of the names in their text."""
    for count, member in enumerate(members):
        if count % _SEARCHES_PER_CHECKPOINT == 0:
            checkpoint()
        text = member.text
        for name in names:
            if name in text:
                yield member
                break


def _can_stay_clean(context: "RecordContext[Any]") -> bool:
    """Return whether all that rules of pace FILE read for a record is compared after an edit."""
    record = context.record
    if isinstance(record, InstructionLine):
        # A broken line that may define any name makes unknown names look clean.
        return context.form is not None or (
            context.scope is not None and context.scope.has_all_names
        )
    if isinstance(record, ComputationEnd):  # a broken head makes a brace look clean
        return isinstance(context.file.records.head_of(record), ComputationLine)
    return isinstance(record, ComputationLine | ModuleHeader)
