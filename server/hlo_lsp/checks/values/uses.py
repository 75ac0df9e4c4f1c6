"""The uses of values against the program.

The rule is that of ``HloValue::ComputeUses`` (hlo_value.cc).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.checks.framework.finding import Finding, Fix, Related, Severity
from hlo_lsp.checks.framework.rule import AnyRule, CompileContext, WholeRule
from hlo_lsp.checks.values.positions import (
    LABEL_ROW,
    is_named,
    parts_of,
    position_rows,
)
from hlo_lsp.display.phrases import join_limited
from hlo_lsp.hlo.vocabulary import OperandReading, opcodes_where
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.model.omitted_instructions import (
    NONE_OMITTED,
    OmittedInstructions,
    omitted_instructions,
)
from hlo_lsp.model.place import line_place, name_place, part_place
from hlo_lsp.program.stages import is_complete_module, module_at_buffer_assignment
from hlo_lsp.syntax.instruction_text import split_element
from hlo_lsp.syntax.module_records import InstructionLine
from hlo_lsp.syntax.used_value import UsedValue

_FORWARDS = opcodes_where(lambda one: one.reads is OperandReading.NOTHING)
_READS_TABLES = opcodes_where(lambda one: one.reads is OperandReading.TABLE)
_PASSES = _FORWARDS | _READS_TABLES
_TOPS = frozenset({None, "{}"})
_MAX_NAMED_USES = 3  # uses in a message
_NONE = "  (none)"
_CACHED_NAMES = 64


class Users:
    """The users of the instructions of a module, by name."""

    def __init__(self, index: ModuleIndex, omitted: OmittedInstructions = NONE_OMITTED) -> None:
        self._index = index
        self._omitted = omitted
        # A tuple may have thousands of operands, and thousands of users that read one element.
        self._readers = lru_cache(_CACHED_NAMES)(partial(_find_readers, index))
        self._operand_numbers = lru_cache(_CACHED_NAMES)(_operand_numbers)

    def __contains__(self, name: str) -> bool:
        """Return whether the module has an instruction of this name, or omits it."""
        return name.partition("#")[0] in self._index.instructions or name in self._omitted.elements

    def is_certain(self, name: str) -> bool:
        """Return whether the one instruction of this name, or the lack of it, is known."""
        count = self._index.instructions.count(name)
        return count == 1 or (count == 0 and (name in self or not self._omitted.may_contain(name)))

    def is_ambiguous(self, name: str) -> bool:
        """Return whether several instructions have this name."""
        return self._index.instructions.count(name) > 1

    def operands(self, name: str) -> Sequence[str] | None:
        """Return the operands of an instruction, None if there is none of this name."""
        element = split_element(self._omitted.elements.get(name, ""))
        if element is not None:
            return (element[0],)
        record = self._index.instructions.first(name)
        return None if record is None else record.operands

    def rows(self, positions: Iterable[str]) -> set[str]:
        """Return the rows of uses of the value with these rows of positions.

        An instruction that only forwards the value is a use if it is a root and has a position.
        """
        parts = [parts_of(row) for row in positions]
        roots = list(filter(None, map(self._forwarding_root, {name for name, _ in parts})))
        found: set[str] = set()
        for name, index in parts:
            end = "" if index is None else f" {index}"
            operand = self._omitted.elements.get(name, name)
            readers, readers_of_top = self._readers(operand)
            for user in chain(readers, readers_of_top if index in _TOPS else (), roots):
                for number in self._operand_numbers(user).get(operand, ()):
                    found.add(f"  {user.name}, operand {number}{end}")
            if index in _TOPS:
                for user_name in self._omitted.readers.get(operand, ()):
                    found.add(f"  {user_name}, operand 0{end}")
        return found

    def _forwarding_root(self, name: str) -> InstructionLine | None:
        record = self._index.instructions.first(name)
        if record is None or record.opcode not in _PASSES:
            return None
        return record if self._index.is_root(record) else None


def _find_readers(
    index: ModuleIndex, name: str
) -> tuple[list[InstructionLine], list[InstructionLine]]:
    """Return the instructions that read a result, and those that read the table of a tuple."""
    users = index.possible_readers(name)
    return (
        [user for user in users if user.opcode not in _PASSES],
        [user for user in users if user.opcode in _READS_TABLES],
    )


def _operand_numbers(instruction: InstructionLine) -> dict[str, list[int]]:
    """Return the numbers of the operands of each name."""
    found: dict[str, list[int]] = {}
    for number, name in enumerate(instruction.operands):
        found.setdefault(name, []).append(number)
    return found


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
        return is_known and not self.users.is_ambiguous(user)

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
    file, module = context.dump.used_values_file, module_at_buffer_assignment(context.dump)
    if file is None or module is None or not is_complete_module(module):
        return
    clean, positions = context.clean, file.memory.rows.positions
    clean.refresh(
        context.dump, module, lambda names: chain.from_iterable(map(positions.all, names))
    )
    users = Users(module.module, omitted_instructions(context.dump))
    program = _Program(context, file, module, users)
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


def _differences(program: _Program, entry: UsedValue) -> tuple[list[str], list[str]]:
    """Return the unexpected or repeated rows of an entry, and the missing ones."""
    users, positions = program.users, position_rows(entry)
    names = [parts_of(row)[0] for row in positions]
    if not all(map(users.is_certain, names)):
        return [], []
    printed = [*entry.lines[entry.lines.index(" uses:") + 1 : -1]]
    wanted, found = users.rows(positions), set(printed)
    if (found == wanted and len(printed) == len(found)) or (printed == [_NONE] and not wanted):
        return [], []
    missing = sorted(row for row in wanted - found if not users.is_ambiguous(_split(row)[0]))
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


def _split(row: str) -> tuple[str, int]:
    """Return the user and the number of the operand."""
    name, _, rest = row[2:].partition(", operand ")
    return name, int(rest.partition(" ")[0])


RULES: tuple[AnyRule, ...] = (WholeRule("use-mismatch", Severity.ERROR, use_mismatch),)
