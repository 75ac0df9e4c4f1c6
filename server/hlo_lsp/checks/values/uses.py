"""The uses of values against the program.

The rule is that of ``HloValue::ComputeUses`` (hlo_value.cc).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.checks.framework.finding import Finding, Fix, Related, Severity
from hlo_lsp.checks.framework.incremental_values import InstructionChanges
from hlo_lsp.checks.framework.rule import AnyRule, CompileContext, WholeRule
from hlo_lsp.checks.values.positions import (
    LABEL_ROW,
    entry_file,
    is_named,
    parts_of,
    position_rows,
)
from hlo_lsp.model.display import join_limited
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.model.place import line_place, name_place, part_place
from hlo_lsp.program.stages import is_complete_module, module_at_buffer_assignment
from hlo_lsp.syntax.used_value import UsedValue

FORWARDS = frozenset({"tuple", "domain"})  # hand on all of an operand and read none of it
READS_THE_TOP = frozenset({"get-tuple-element", "copy"})  # hand on all but the table of a tuple
_TOPS = frozenset({None, "{}"})
_MAX_NAMED_USES = 3  # uses in a message
_NONE = "  (none)"
_Use = tuple[str, int]  # the user and the number of the operand


class Users:
    """The users of each instruction by name; ``doubled`` lists names of several instructions."""

    def __init__(self) -> None:
        self.roots: set[str] = set()
        self.doubled: set[str] = set()
        self._instructions: dict[str, tuple[str, Sequence[str]]] = {}
        # A tuple may have thousands of users that read one element each: they are kept apart.
        self._reads: dict[str, list[_Use]] = {}
        self._reads_of_top: dict[str, list[_Use]] = {}
        self._forwards: dict[str, list[_Use]] = {}

    def add(self, name: str, opcode: str, operands: Sequence[str]) -> None:
        """Enter an instruction."""
        if name in self._instructions:
            self.doubled.add(name)
        self._instructions[name] = opcode, operands
        uses = self._uses_of(opcode)
        for number, operand in enumerate(operands):
            uses.setdefault(operand, []).append((name, number))

    def remove(self, name: str, opcode: str, operands: Sequence[str]) -> None:
        """Remove an instruction whose name no other one has."""
        del self._instructions[name]
        uses = self._uses_of(opcode)
        for number, operand in enumerate(operands):
            uses[operand].remove((name, number))

    def _uses_of(self, opcode: str) -> dict[str, list[_Use]]:
        if opcode in READS_THE_TOP:
            return self._reads_of_top
        return self._forwards if opcode in FORWARDS else self._reads

    def __contains__(self, name: str) -> bool:
        """Return whether an instruction of this name was entered."""
        return name in self._instructions

    def operands(self, name: str) -> Sequence[str] | None:
        """Return the operands of an instruction, None if it was not entered."""
        found = self._instructions.get(name)
        return None if found is None else found[1]

    def rows(self, positions: Iterable[str]) -> set[str]:
        """Return the rows of uses of the value with these rows of positions.

        An instruction that only forwards the value is a use if it is a root and has a position.
        """
        parts = [parts_of(row) for row in positions]
        at_roots = {name for name, _ in parts if name in self.roots}
        found: set[str] = set()
        for name, index in parts:
            end = "" if index is None else f" {index}"
            tops = self._reads_of_top.get(name, ())
            uses = chain(
                self._reads.get(name, ()),
                tops if index in _TOPS else self._tops_at(name, at_roots),
                (use for use in self._forwards.get(name, ()) if use[0] in at_roots),
            )
            found.update(f"  {user}, operand {number}{end}" for user, number in uses)
        return found

    def _tops_at(self, operand: str, roots: set[str]) -> Iterator[_Use]:
        for root in roots:
            opcode, operands = self._instructions.get(root, ("", ()))
            if opcode in READS_THE_TOP:
                yield from ((root, at) for at, name in enumerate(operands) if name == operand)


def users_of_module(index: ModuleIndex) -> Users:
    """Return the users of all instructions of a module."""
    users = Users()
    for record in index.instructions.records():
        checkpoint()
        users.add(record.name, record.opcode, record.operands)
    _find_roots(users, index)
    return users


def _update(users: Users, index: ModuleIndex, changes: InstructionChanges) -> bool:
    """Update the users after edits; return False if that is not possible."""
    if any(record.name in users.doubled for record in changes.removed):
        return False
    for record in changes.removed:
        users.remove(record.name, record.opcode, record.operands)
    for record in changes.added:
        users.add(record.name, record.opcode, record.operands)
    _find_roots(users, index)
    return True


def _find_roots(users: Users, index: ModuleIndex) -> None:
    checkpoint()
    roots = (index.computation(computation).root for computation in index.all_computations())
    users.roots = {root.name for root in roots if root is not None}


@dataclass(frozen=True, slots=True)
class _Program:
    """The file with the entries, the module text, and the users of all its instructions."""

    context: CompileContext
    file: DumpFile
    module: DumpFile
    users: Users

    def lacks(self, row: str) -> bool:
        """Return whether a listed use is known to be wrong."""
        user, number = _split(row)
        operands = self.users.operands(user)
        if operands is None:
            return not is_named(self.context.dump, user)
        # An operand that does not exist is reported in the module text.
        is_known = number >= len(operands) or operands[number] in self.users
        return is_known and user not in self.users.doubled

    def related(self, row: str) -> Iterator[Related]:
        """Yield the operand in the module text that a use names, or its instruction."""
        user, number = _split(row)
        line = self.module.module.instructions.first(user)
        if line is None:
            return
        operands = line.parsed.operands
        place = name_place(self.module, line)
        message = f"`{user}` has {len(operands)} operands"
        if number < len(operands):
            place = part_place(self.module, line, operands[number])
            message = f"operand {number} is `{operands[number].text.strip()}`"
        yield Related(place, message)


def use_mismatch(context: CompileContext) -> Iterator[Finding]:
    """Report uses that are not those of the positions of a value in the program."""
    file, module = entry_file(context.dump), module_at_buffer_assignment(context.dump)
    if file is None or module is None or not is_complete_module(module):
        return
    clean = context.clean
    program = _Program(context, file, module, _current_users(context, file, module))
    for entry in file.memory.entries.records():
        checkpoint()
        if not entry.whole:
            continue
        if entry not in clean.records:
            unexpected, missing = _differences(program, entry)
            if unexpected or missing:
                yield _wrong_uses(program, entry, unexpected, missing)
            else:
                clean.records.add(entry)


def _current_users(context: CompileContext, file: DumpFile, module: DumpFile) -> Users:
    """Return the users of all instructions, updated after edits of the module text."""
    positions = file.memory.rows.positions
    changes = context.clean.refresh(
        context.dump, module, lambda names: (one for name in names for one in positions.all(name))
    )
    users: Users | None = context.clean.facts
    context.clean.facts = None  # until they are complete
    if users is None or changes is None or not _update(users, module.module, changes):
        users = users_of_module(module.module)
    context.clean.facts = users
    return users


def _differences(program: _Program, entry: UsedValue) -> tuple[list[str], list[str]]:
    """Return the unexpected or repeated rows of an entry, and the missing ones."""
    users, positions = program.users, position_rows(entry)
    if users.doubled and any(parts_of(row)[0] in users.doubled for row in positions):
        return [], []
    printed = [*entry.lines[entry.lines.index(" uses:") + 1 : -1]]
    wanted, found = users.rows(positions), set(printed)
    if (found == wanted and len(printed) == len(found)) or (printed == [_NONE] and not wanted):
        return [], []
    missing = sorted(row for row in wanted - found if _split(row)[0] not in users.doubled)
    unexpected = [row for row, times in Counter(printed).items() if times > 1]
    others = [row for row in printed if row not in wanted]
    unexpected += [row for row in others if row == _NONE or program.lacks(row)]
    return unexpected, missing


def _wrong_uses(
    program: _Program, entry: UsedValue, unexpected: Sequence[str], missing: Sequence[str]
) -> Finding:
    row = entry.lines.index(" uses:")
    if unexpected:
        row = max(at for at, line in enumerate(entry.lines) if line == unexpected[0])
    repeated = [row for row in unexpected if entry.lines.count(row) > 1]
    others = [row for row in unexpected if row not in repeated]
    words = {"repeated": repeated, "unexpected": others, "missing": missing}
    parts = ", ".join(f"{word} {_named(rows)}" for word, rows in words.items() if rows)
    rows = [*unexpected[:_MAX_NAMED_USES], *missing[:_MAX_NAMED_USES]]
    finding = program.context.report(
        line_place(program.file, entry.line + row),
        f"uses of value {entry.id} `{entry.key}` do not match the module text: {parts}",
        Related(line_place(program.file, entry.line + LABEL_ROW), "the positions of the value"),
        *(related for use in rows if use != _NONE for related in program.related(use)),
    )
    if len(unexpected) == len(missing) == 1:
        return finding.put(missing[0].strip())
    if len(unexpected) == 1 and not missing:
        return finding.fixed(Fix.drop(program.file, finding.place.line, 1))
    return finding


def _named(rows: Sequence[str]) -> str:
    return join_limited([f"`{row.strip()}`" for row in rows], _MAX_NAMED_USES)


def _split(row: str) -> _Use:
    name, _, rest = row[2:].partition(", operand ")
    return name, int(rest.partition(" ")[0])


RULES: tuple[AnyRule, ...] = (WholeRule("use-mismatch", Severity.ERROR, use_mismatch),)
