"""Where the uses under ``Used values`` are not those that follow from the program."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary, ref

from hlo_lsp.analysis.values.entry_rows import NONE, parts_of, position_rows, use_rows
from hlo_lsp.analysis.values.positions import position_faults
from hlo_lsp.analysis.values.users import FORWARDS, READS_THE_TOP, Users, split_use, users_of_module
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet, defining_text
from hlo_lsp.program.passes import is_complete_module, module_at_buffer_assignment
from hlo_lsp.syntax.used_value import UsedValue
from hlo_lsp.text.checkpoint import checkpoint

_STEP = 1000  # entries, or instructions, between two breaths


@dataclass(frozen=True, slots=True)
class WrongUses:
    """An entry that lacks uses, or has too many; rows as printed, without the blanks."""

    entry: UsedValue
    surplus: tuple[str, ...]
    missing: tuple[str, ...]
    lacks_none: bool = False


@dataclass(frozen=True, slots=True)
class WrongOperand:
    """An operand in the program that no use agrees with, while the entries agree on another."""

    user: str
    operand: int
    printed: str


@dataclass(slots=True)
class UseFaults:
    """What is wrong with the uses in a file; ``module`` is None where there was no module text."""

    file: DumpFile
    module: DumpFile | None
    entries: list[WrongUses] = field(default_factory=list)
    operands: list[WrongOperand] = field(default_factory=list)


# Entries in which nothing was wrong, for a version of what they were compared with.
_Well = tuple[object, set[UsedValue]]
_WELL: "WeakKeyDictionary[DumpFile, _Well]" = WeakKeyDictionary()


def use_faults(dump: DumpSet) -> UseFaults | None:
    """What is wrong with the uses; None where no file has entries, one is two dumps, or the module
    text is damaged.

    They are compared with the module text; without it with the operands in the entries' own
    texts, which leave out the instructions that make no value.
    """
    positions = position_faults(dump)
    if positions is None:
        return None
    file, module = positions.file, module_at_buffer_assignment(dump)
    if module is not None and not is_complete_module(module):
        return None  # which instruction is a root, and who reads what, is not known then
    if module is None:
        users = _users_of_entries(file)
        basis: object = None
    else:
        users = users_of_module(module.module)
        basis = ref(module), module.version
    search = _Search(dump, file, module, users)
    before = _WELL.get(file)
    well = before[1] if before is not None and basis is not None and before[0] == basis else set()
    still = search.compare(well, positions.doubtful)
    _WELL[file] = basis, still
    if module is not None:
        search.compare_tuples(positions.owners, positions.doubtful)
    return search.result()


class _Search:
    def __init__(
        self, dump: DumpSet, file: DumpFile, module: DumpFile | None, users: Users
    ) -> None:
        self._dump = dump
        self._file = file
        self._module = module
        self._users = users
        self._surplus: dict[UsedValue, list[str]] = {}
        self._missing: dict[UsedValue, list[str]] = {}
        self._empty: list[UsedValue] = []
        self._nones = 0
        # Operands of tuples that are not the value with the position at that element.
        self._handed_on: dict[tuple[str, int], UsedValue] = {}

    def compare(self, well: set[UsedValue], doubtful: frozenset[UsedValue]) -> set[UsedValue]:
        """Look at all entries but those that are known to be well; returns who is now."""
        still: set[UsedValue] = set()
        for count, entry in enumerate(self._file.memory.entries.records()):
            if count % _STEP == _STEP - 1:
                checkpoint()
            if not entry.whole or entry in doubtful:
                continue
            if entry in well and entry.lines[-2] != " uses:" and entry.lines[-2] != NONE:
                still.add(entry)
                continue
            if self._is_well(entry):
                still.add(entry)
        return still

    def _is_well(self, entry: UsedValue) -> bool:
        positions, printed = position_rows(entry), use_rows(entry)
        doubled = self._users.doubled
        if doubled and any(parts_of(row)[0] in doubled for row in positions):
            return True
        if printed == [NONE]:
            self._nones += 1
            printed = []
        elif not printed:
            self._empty.append(entry)
        roots = (
            None if self._module is not None else {row[2:].partition(" ")[0] for row in positions}
        )
        wanted = self._users.rows(positions, roots)
        found = set(printed)
        if found == wanted and len(printed) == len(wanted):
            return True
        surplus = [row for place, row in enumerate(printed) if row in printed[:place]]
        surplus += [row for row in printed if row not in wanted and self._is_known(row)]
        missing = sorted(row for row in wanted - found if not self._may_be_left_out(row))
        if not surplus and missing:
            strange = [row for row in printed if row not in wanted and self._is_strange(row)]
            surplus = strange if len(strange) == len(missing) else []
        if surplus:
            self._surplus[entry] = surplus
        if missing:
            self._missing[entry] = missing
        return not surplus and not missing

    def _is_known(self, row: str) -> bool:
        """Whether it is known that the user has not this operand."""
        if row == NONE:
            return True
        user, number = split_use(row)
        if user in self._users.doubled:
            return False
        operands = self._users.operands(user)
        if self._module is None:
            return operands is not None
        if operands is not None:
            # An operand that does not exist is a fault of the module, and told there.
            return number >= len(operands) or operands[number] in self._users
        # Rather the module lacks a line if others speak of the instruction, too.
        elsewhere = self._dump.find(lambda index: index.entry_keys, f"{user}{{}}")
        return self._dump.step(user) is None and elsewhere is None

    def _is_strange(self, row: str) -> bool:
        """Whether nothing else speaks of the user: the row may be one of those missing."""
        user = split_use(row)[0]
        return user not in self._users and self._dump.step(user) is None

    def _may_be_left_out(self, row: str) -> bool:
        """Without a module text nobody knows whether what hands a value on is a root."""
        user = split_use(row)[0]
        if self._module is not None:
            return user in self._users.doubled
        opcode = self._users.opcode(user)
        return opcode in FORWARDS or opcode in READS_THE_TOP

    def compare_tuples(
        self, owners: Mapping[str, UsedValue], doubtful: frozenset[UsedValue]
    ) -> None:
        """Look at what tuples hand on: the value of an operand has a position at its element."""
        users = self._users
        for user in users.with_opcode("tuple"):
            for number, operand in enumerate(users.operands(user) or ()):
                source = owners.get(f"  {operand}") or owners.get(f"  {operand} {{}}")
                target = owners.get(f"  {user} {{{number}}}")
                if source is None or target is None or source is target:
                    continue
                if {source, target}.isdisjoint(doubtful) and user not in users.doubled:
                    self._handed_on[user, number] = target
            checkpoint()

    def result(self) -> UseFaults:
        """What was found, put down to the program where several entries speak against it."""
        faults = UseFaults(self._file, self._module)
        guilty = self._guilty_users()
        accused: set[str] = set()
        for row in [row for rows in self._surplus.values() for row in rows if row != NONE]:
            user, number = split_use(row)
            if user in guilty and user not in accused:
                accused.add(user)
                faults.operands.append(WrongOperand(user, number, self._printed(row)))
        for (user, number), owner in self._handed_on.items():
            if user not in accused:
                accused.add(user)
                faults.operands.append(WrongOperand(user, number, position_rows(owner)[0].strip()))
        for entry in dict.fromkeys((*self._surplus, *self._missing)):
            surplus = [row for row in self._surplus.get(entry, ()) if not _of(row, guilty)]
            missing = [row for row in self._missing.get(entry, ()) if not _of(row, guilty)]
            if surplus or missing:
                faults.entries.append(WrongUses(entry, _bare(surplus), _bare(missing)))
        if self._says_none():
            told = {fault.entry for fault in faults.entries}
            faults.entries += [
                WrongUses(entry, (), (), lacks_none=True)
                for entry in self._empty
                if entry not in told and entry not in self._missing
            ]
        return faults

    def _says_none(self) -> bool:
        """Return whether the compiler prints `(none)` where a value has no uses.

        Most entries decide: jaxlib 0.10.0 and 0.10.1 leave it out, the releases around them do not.
        """
        return self._nones > 0 and self._nones >= len(self._empty)

    def _guilty_users(self) -> set[str]:
        """The users of whom one entry has a use and another one lacks the same operand.

        Also those that hand on another value than the one that has a position there.
        """
        surplus = {
            split_use(row): entry
            for entry, rows in self._surplus.items()
            for row in rows
            if row != NONE
        }
        shifted = {
            user
            for entry, rows in self._missing.items()
            for user, number in map(split_use, rows)
            if surplus.get((user, number), entry) is not entry
        }
        return shifted | {user for user, _ in self._handed_on}

    def _printed(self, row: str) -> str:
        """The operand that the entries agree on."""
        for entry, rows in self._surplus.items():
            if row in rows:
                return position_rows(entry)[0].strip()
        return ""


def _of(row: str, users: set[str]) -> bool:
    return row != NONE and split_use(row)[0] in users


def _bare(rows: list[str]) -> tuple[str, ...]:
    return tuple(row.strip() for row in rows)


def _users_of_entries(file: DumpFile) -> Users:
    users = Users()
    for count, entry in enumerate(file.memory.entries.records()):
        if count % _STEP == _STEP - 1:
            checkpoint()
        name = entry.name
        if name is None or name in users or not entry.whole:
            continue
        text = defining_text(entry)
        if text is not None and text.name.text == name:
            users.add(name, text.opcode.text, [span.text for span in text.operands])
    return users
