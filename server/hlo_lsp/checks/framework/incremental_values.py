"""Values in which a rule on a whole compile found nothing, while other places are edited."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any, NamedTuple

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.computation import Computation
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.query_cache import Memo, query
from hlo_lsp.syntax.instruction_text import tuples_of_element
from hlo_lsp.syntax.memory_records import AssignedValue
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine
from hlo_lsp.syntax.used_value import UsedValue

ValueRecord = AssignedValue | UsedValue


class InstructionChanges(NamedTuple):
    """The instructions that edits removed and added; a former or new root is in both."""

    removed: set[InstructionLine]
    added: set[InstructionLine]


class CleanValues:
    """The records of values in which a rule found nothing.

    The rule reads only instructions of certain names for each value: these, their operands, and
    whether they are roots. It reads no assigned value but the record itself, which edits replace.

    Attributes:
        facts: What the rule derives from the module text, and updates after edits.
    """

    def __init__(self) -> None:
        self.records: set[ValueRecord] = set()
        self.facts: Any = None
        self._computations: dict[ComputationLine, Computation] = {}
        self._versions: list[int] = []

    def refresh(
        self,
        dump: Compile,
        module: DumpFile | None,
        reading: Callable[[set[str]], Iterable[ValueRecord]] | None = None,
    ) -> InstructionChanges | None:
        """Remove the records that must be checked again, and return the changes of the module.

        A result of None means that all must be checked, and that all facts are out of date.
        ``module`` is None if the compile has no module text. ``reading`` returns the records for
        which the rule reads an instruction with one of some names; by default the rule reads only
        the one that defines the value.
        """
        now, has_all = ({}, True) if module is None else _computations(module)
        checkpoint()
        versions = [
            file.version
            for file in (*dump.files, *dump.others)
            if file is not module and _has_other_facts(file)
        ]
        changes = None
        if has_all and bool(self._computations) is bool(now):
            changes = _changes(self._computations, now)
        outdated = self.records
        if changes is not None and versions == self._versions:
            changed = changes.removed | changes.added
            checkpoint()
            operands = set(chain.from_iterable(one.operands for one in changed))
            names = {one.name for one in changed} | operands
            names.update(chain.from_iterable(map(tuples_of_element, operands)))
            by_name = (one for one in self.records if one.name in names)
            outdated = set(by_name if reading is None else reading(names))
            checkpoint()
        self.records = self.records - outdated
        self._computations, self._versions = now, versions
        return changes


@query
def _computations(file: DumpFile) -> tuple[dict[ComputationLine, Computation], bool]:
    """Return the computations of a module text, and whether they have all of its instructions."""
    module = file.module
    found: dict[ComputationLine, Computation] = {}
    for head in module.all_computations():
        found[head] = module.computation(head)
        checkpoint()
    count = sum(len(one.members) + len(one.strays) for one in found.values())
    return found, count == module.instruction_count


def _has_other_facts(file: DumpFile) -> bool:
    """Return whether a file may contain what a rule reads for a value, besides assigned values.

    This does not read the assigned values, of which some rules are independent.
    """
    memory = file.memory
    has_others = len(memory.entries) or len(memory.ranges) or len(memory.steps)
    return has_others > 0 or not file.kind.is_memory


def _changes(
    before: dict[ComputationLine, Computation], now: dict[ComputationLine, Computation]
) -> InstructionChanges:
    removed, added = set[InstructionLine](), set[InstructionLine]()
    for head in {head for head, _ in before.items() ^ now.items()}:
        old, new = ([] if one is None else [one] for one in (before.get(head), now.get(head)))
        gone = set(chain.from_iterable((*one.members, *one.strays) for one in old))
        come = set(chain.from_iterable((*one.members, *one.strays) for one in new))
        roots = {one.root for one in old} ^ {one.root for one in new}
        same = (gone & come) - roots
        removed |= gone - same
        added |= come - same
    return InstructionChanges(removed, added)


_clean_values = Memo[defaultdict[str, CleanValues]]()  # by the code of the rule


def clean_values(dump: Compile, code: str) -> CleanValues:
    """Return the values that the rule with this code found clean, which it brings up to date."""
    known = _clean_values.get(dump, None)
    if known is None:
        known = _clean_values.keep(dump, None, defaultdict(CleanValues))
    return known[code]
