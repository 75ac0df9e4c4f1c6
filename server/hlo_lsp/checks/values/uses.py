"""The uses of values against the program."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hlo_lsp.checks.case import CompileCheck
from hlo_lsp.checks.finding import Finding, Related, Severity
from hlo_lsp.checks.fix import Fix
from hlo_lsp.checks.places import name_place, part_place
from hlo_lsp.checks.rule import AnyRule, Part, WholeRule
from hlo_lsp.checks.values.positions import (
    LABEL_ROW,
    entry_file,
    is_named,
    position_rows,
    row_place,
)
from hlo_lsp.checks.values.users import (
    FORWARDS,
    READS_THE_TOP,
    Users,
    parts_of,
    split_use,
    users_of_module,
)
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import defining_text
from hlo_lsp.program.passes import is_complete_module, module_at_buffer_assignment
from hlo_lsp.syntax.used_value import UsedValue
from hlo_lsp.text.checkpoint import checkpoint

_CHUNK = 1000  # entries between two checkpoints
_MOST_NAMED = 3  # uses in a message
_NONE = "  (none)"


@dataclass(frozen=True, slots=True)
class _Program:
    """The users of all instructions: by the module text, or by the entries if there is none."""

    survey: CompileCheck
    file: DumpFile
    module: DumpFile | None
    users: Users

    def lacks(self, row: str, can_differ: bool) -> bool:
        """Return whether a use is known not to be one; it ``can_differ`` from a missing one."""
        user, number = split_use(row)
        operands = self.users.operands(user)
        if operands is None:
            has_all = self.module is not None or can_differ
            return has_all and not is_named(self.survey.dump, user)
        if user in self.users.doubled:
            return False
        # An operand that does not exist is reported in the module text.
        return self.module is None or number >= len(operands) or operands[number] in self.users

    def needs(self, row: str) -> bool:
        """Return whether a use cannot be missing from the list of its value.

        Without a module text it is not known whether what hands a value on is a root.
        """
        user = split_use(row)[0]
        if self.module is not None:
            return user not in self.users.doubled
        return self.users.opcode(user) not in FORWARDS | READS_THE_TOP

    def related(self, row: str) -> Iterator[Related]:
        """Yield the operand in the module text that a use names, or its instruction."""
        user, number = split_use(row)
        line = None if self.module is None else self.module.module.instructions.first(user)
        if self.module is not None and line is not None:
            operands = line.parsed.operands
            if number < len(operands):
                message = f"operand {number} is `{operands[number].text.strip()}`"
                yield Related(part_place(self.module, line, operands[number]), message)
            else:
                message = f"`{user}` has {len(operands)} operands"
                yield Related(name_place(self.module, line), message)


def use_mismatch(survey: CompileCheck) -> Iterator[Finding]:
    """The uses of a value are the instructions with one of its positions among their operands.

    They are compared with the module text, or without one with the texts after `from instruction`,
    which leave out the instructions that make no value.
    """
    file, module = entry_file(survey.dump), module_at_buffer_assignment(survey.dump)
    if file is None or (module is not None and not is_complete_module(module)):
        return
    users = _users_of_entries(file) if module is None else users_of_module(module.module)
    program = _Program(survey, file, module, users)
    empty: list[UsedValue] = []
    nones = 0
    for count, entry in enumerate(file.memory.entries.records()):
        if count % _CHUNK == _CHUNK - 1:
            checkpoint()
        if not entry.whole:
            continue
        nones += entry.lines[-2] == _NONE
        unexpected, missing = _differences(program, entry)
        if unexpected or missing:
            yield _wrong_uses(program, entry, unexpected, missing)
        elif entry.lines[-2] == " uses:":
            empty.append(entry)
    # jaxlib 0.10.0 and 0.10.1 leave `(none)` out, the releases before and after do not.
    for entry in empty if nones >= max(1, len(empty)) else ():
        place = row_place(file, entry, entry.lines.index(" uses:"))
        yield survey.report(place, f"value {entry.id} `{entry.key}` has no uses: expected `(none)`")


def _users_of_entries(file: DumpFile) -> Users:
    users = Users()
    for count, entry in enumerate(file.memory.entries.records()):
        if count % _CHUNK == _CHUNK - 1:
            checkpoint()
        if entry.whole and entry.name is not None and entry.name not in users:
            text = defining_text(entry)
            if text is not None and text.name.text == entry.name:
                users.add(entry.name, text.opcode.text, [span.text for span in text.operands])
    return users


def _differences(program: _Program, entry: UsedValue) -> tuple[list[str], list[str]]:
    """Return the rows of an entry that are no uses of its value, or repeated, and those missing."""
    users, positions = program.users, position_rows(entry)
    if users.doubled and any(parts_of(row)[0] in users.doubled for row in positions):
        return [], []
    label = entry.lines.index(" uses:")
    printed = [*entry.lines[label + 1 : -1]]
    roots = {parts_of(row)[0] for row in positions} if program.module is None else None
    wanted = users.rows(positions, roots)
    found = set(printed)
    if (found == wanted and len(printed) == len(found)) or (printed == [_NONE] and not wanted):
        return [], []
    missing = sorted(row for row in wanted - found if program.needs(row))
    unexpected = [row for row, times in Counter(printed).items() if times > 1]
    others = [row for row in printed if row not in wanted]
    can_differ = bool(missing)
    unexpected += [row for row in others if row == _NONE or program.lacks(row, can_differ)]
    return unexpected, missing


def _wrong_uses(
    program: _Program, entry: UsedValue, unexpected: Sequence[str], missing: Sequence[str]
) -> Finding:
    row = entry.lines.index(" uses:")
    if unexpected:
        row = max(at for at, line in enumerate(entry.lines) if line == unexpected[0])
    source = "the instructions of the entries" if program.module is None else "the module text"
    repeated = [row for row in unexpected if entry.lines.count(row) > 1]
    others = [row for row in unexpected if row not in repeated]
    words = {"repeated": repeated, "unexpected": others, "missing": missing}
    parts = [f"{word} {_named(rows)}" for word, rows in words.items() if rows]
    rows = [*unexpected[:_MOST_NAMED], *missing[:_MOST_NAMED]]
    operands = (related for use in rows if use != _NONE for related in program.related(use))
    finding = program.survey.report(
        row_place(program.file, entry, row),
        f"uses of value {entry.id} `{entry.key}` do not match {source}: {', '.join(parts)}",
        Related(row_place(program.file, entry, LABEL_ROW), "the positions of the value"),
        *operands,
    )
    if len(unexpected) == len(missing) == 1:
        return finding.put(missing[0].strip())
    if len(unexpected) == 1 and not missing:
        return finding.fixed(Fix.drop(program.file, finding.place.line, 1))
    return finding


def _named(rows: Sequence[str]) -> str:
    shown = ", ".join(f"`{row.strip()}`" for row in rows[:_MOST_NAMED])
    return f"{shown} and {len(rows) - _MOST_NAMED:,} more" if len(rows) > _MOST_NAMED else shown


RULES: tuple[AnyRule, ...] = (
    WholeRule(
        "use-mismatch",
        Severity.ERROR,
        use_mismatch,
        frozenset({Part.ENTRIES, Part.RANGES, Part.MODULE}),
    ),
)
