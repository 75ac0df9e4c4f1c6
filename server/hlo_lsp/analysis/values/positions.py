"""Where values appear, by the entries under ``Used values``, and what is wrong with that.

Data flow gives every part of every instruction to exactly one value (``HloDataflowAnalysis`` in
hlo_dataflow_analysis.cc): over 53 473 positions of real dumps none is doubled and none missing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from hlo_lsp.analysis.files.ending import ending
from hlo_lsp.analysis.files.sections import is_joined
from hlo_lsp.analysis.files.siblings import strangers
from hlo_lsp.analysis.values.entry_rows import parts_of, position_rows, row_of
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet, defining_text
from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.model.sizes import shape_indexes
from hlo_lsp.program.dataflow import operands_of_parameter, roots_of
from hlo_lsp.program.passes import is_complete_module, module_at_buffer_assignment
from hlo_lsp.syntax.module_records import InstructionLine
from hlo_lsp.syntax.used_value import UsedValue
from hlo_lsp.text.checkpoint import checkpoint

_STEP = 1000  # entries, or instructions, between two breaths
_FIRST_ROW = 2  # of positions, within a whole entry
_LABEL = 1  # the line of ``positions:``
_HANDED_ON = frozenset({"bitcast", "opt-barrier", "domain", "add-dependency", "async-update"})


class Doubt(Enum):
    """What a fault rests on beside the rows of positions."""

    NOTHING = "nothing"
    HEADER = "the header of the entry"
    WHOLE_LIST = "that no entry is missing"


@dataclass(frozen=True, slots=True)
class Wrong:
    """Something wrong with the positions of an entry; ``row`` is the line within it."""

    entry: UsedValue
    row: int
    message: str
    doubt: Doubt = Doubt.NOTHING
    twin: UsedValue | None = None
    twin_row: int = 0


@dataclass(frozen=True, slots=True)
class PositionFaults:
    """What is wrong in the positions of a file, and which entries cannot be trusted for it.

    ``owners`` are the entries by the rows of their positions.
    """

    file: DumpFile
    wrong: tuple[Wrong, ...]
    doubtful: frozenset[UsedValue]
    owners: Mapping[str, UsedValue]


def position_faults(dump: DumpSet) -> PositionFaults | None:
    """What is wrong with the positions; None where no file has entries, or one is two dumps.

    Remembered until an entry, the schedule or the module changes.
    """
    file = next((file for file in dump.files if len(file.memory.entries)), None)
    if file is None or is_joined(file) or (strangers(dump)):
        return None
    state = dump.state(
        one
        for one in dump.files
        if one is file or len(one.memory.steps) or one is module_at_buffer_assignment(dump)
    )
    known: PositionFaults | None = dump.remembered(position_faults, state)
    if known is None:
        known = _Search(dump, file).run()
        dump.remember(position_faults, state, known)
    return known


class _Search:
    def __init__(self, dump: DumpSet, file: DumpFile) -> None:
        self._dump = dump
        self._file = file
        module = module_at_buffer_assignment(dump)
        self._module: ModuleIndex | None = None if module is None else module.module
        self._knows_all = module is not None and is_complete_module(module)
        self._wrong: dict[UsedValue, list[Wrong]] = {}
        # The entry in which a position stands, and those that have it too.
        self._owner: dict[str, UsedValue] = {}
        self._others: dict[str, list[UsedValue]] = {}
        self._doubtful: set[UsedValue] = set()
        # What the first positions must be.
        self._own: set[str] = set()

    def run(self) -> PositionFaults:
        index = self._file.memory
        for count, entry in enumerate(index.entries.records()):
            if count % _STEP == _STEP - 1:
                checkpoint()
            if entry.whole:
                self._look_at(entry)
        for row, others in self._others.items():
            self._blame_one_of(row, [self._owner[row], *others])
        checkpoint()
        self._look_at_indexes()
        is_list_whole = not index.damaged and ending(self._file) is None
        if self._module is not None and self._knows_all and is_list_whole:
            self._look_for_missing(self._module)
        wrong = tuple(one for found in self._wrong.values() for one in found)
        return PositionFaults(self._file, wrong, frozenset(self._doubtful), self._owner)

    def _accuse(self, wrong: Wrong) -> None:
        self._wrong.setdefault(wrong.entry, []).append(wrong)
        self._doubtful.add(wrong.entry)

    def _look_at(self, entry: UsedValue) -> None:
        rows = position_rows(entry)
        assert entry.name is not None
        own = row_of(entry.name, entry.index)
        self._own.add(own)
        for place, row in enumerate(rows):
            owner = self._owner.setdefault(row, entry)
            if owner is not entry:
                self._others.setdefault(row, []).append(entry)
            elif len(rows) > 1 and row in rows[:place] and rows.index(row) < place:
                if row == rows[0] != own:
                    continue  # the first one is wrong
                first = rows.index(row) + _FIRST_ROW
                text = row.strip()
                message = f"the position `{text}` is listed twice in this entry"
                self._accuse(Wrong(entry, place + _FIRST_ROW, message, twin=entry, twin_row=first))
        if rows and rows[0] == own:
            return
        if not rows:
            message = f"the entry has no position, not even that of its instruction `{own.strip()}`"
            self._accuse(Wrong(entry, _LABEL, message, Doubt.HEADER))
        else:
            message = (
                f"the first position is `{rows[0].strip()}`, but the value is that of "
                f"`{own.strip()}`"
            )
            self._accuse(Wrong(entry, _FIRST_ROW, message, Doubt.HEADER))

    def _blame_one_of(self, row: str, entries: list[UsedValue]) -> None:
        """Of entries with the same position the one has it to which it flows."""
        right = max(entries, key=lambda one: (self._flows_to(row, one), one not in self._wrong))
        self._doubtful.update(entries)
        for entry in dict.fromkeys(entries):
            if entry not in self._wrong and entry.id != right.id:  # a doubled id is told elsewhere
                at = position_rows(entry).index(row) + _FIRST_ROW
                there = position_rows(right).index(row) + _FIRST_ROW
                message = (
                    f"`{row.strip()}` is a position of value {right.id} `{right.key}`, and of one "
                    "value only"
                )
                self._accuse(Wrong(entry, at, message, twin=right, twin_row=there))

    def _flows_to(self, row: str, entry: UsedValue) -> bool:
        name, index = parts_of(row)
        if name == entry.name and (index or "{}") == (entry.index or "{}"):
            return True
        if self._module is None:
            return False
        named = self._module.instructions.all(name)
        rows = set(position_rows(entry))
        return any(source in rows for one in named for source in _sources(self._module, one, index))

    def _look_at_indexes(self) -> None:
        """Every position is a part of an instruction that is there."""
        shapes = self._shapes()
        names = {entry.name for entry in self._file.memory.entries.records()}
        for count, (row, entry) in enumerate(self._owner.items()):
            if count % _STEP == _STEP - 1:
                checkpoint()
            name, index = parts_of(row)
            shape = shapes.get(name)
            problem: str | None = None
            if shape:
                if index not in _parts(shape):
                    problem = _index_problem(name, index, shape.startswith("("))
            elif shape is None and self._knows_all and not self._is_spoken_of(name, names):
                problem = f"the module has no instruction `{name}`"
            if problem is not None:
                self._accuse(Wrong(entry, position_rows(entry).index(row) + _FIRST_ROW, problem))

    def _is_spoken_of(self, name: str, defined: "set[str | None]") -> bool:
        """Whether other lines have an instruction that the module lacks: rather that is damaged."""
        return name in defined or self._dump.step(name) is not None

    def _shapes(self) -> dict[str, str]:
        """The shapes of instructions by name; empty ones where several have the name.

        Without a module text only those that the entries define.
        """
        found: dict[str, str] = {}
        if self._module is not None:
            for count, line in enumerate(self._module.instructions.records()):
                if count % _STEP == _STEP - 1:
                    checkpoint()
                found[line.name] = "" if line.name in found else line.shape
            return found
        for count, entry in enumerate(self._file.memory.entries.records()):
            if count % _STEP == _STEP - 1:
                checkpoint()
            if entry.whole and entry.name is not None and entry.name not in found:
                text = defining_text(entry)
                if text is not None and text.name.text == entry.name:
                    found[entry.name] = text.shape.text
        return found

    def _look_for_missing(self, module: ModuleIndex) -> None:
        covered = {parts_of(row)[0] for row in self._owner}
        schedule = self._knows_schedule()
        for computation in module.all_computations():
            members = module.members(computation)
            if not any(member.name in covered for member in members):
                continue  # inside of a fusion there are no buffers
            for count, member in enumerate(members):
                if count % _STEP == _STEP - 1:
                    checkpoint()
                if member.name in covered or (schedule and self._dump.step(member.name)):
                    self._look_for(module, member)
            checkpoint()

    def _knows_schedule(self) -> bool:
        return any(len(file.memory.steps) for file in self._dump.files)

    def _look_for(self, module: ModuleIndex, member: InstructionLine) -> None:
        for index in shape_indexes(member.shape) if member.shape else ():
            row = row_of(member.name, index)
            if row in self._owner or row in self._own:
                continue
            owners = [
                self._owner[source]
                for source in _sources(module, member, index)
                if source in self._owner
            ]
            self._doubtful.update(owners)
            if owners and owners[0] not in self._wrong:
                message = f"the position `{row.strip()}` is missing"
                self._accuse(Wrong(owners[0], _LABEL, message, Doubt.WHOLE_LIST))


def _index_problem(name: str, index: str | None, is_tuple: bool) -> str:
    if is_tuple:
        return (
            f"`{name}` is a tuple and has no part `{index}`"
            if index is not None
            else f"`{name}` is a tuple, so the position has an index"
        )
    return f"`{name}` is no tuple, so the position has no index"


@lru_cache(maxsize=1 << 12)
def _parts(shape: str) -> "frozenset[str | None]":
    return frozenset(shape_indexes(shape))


def _sources(module: ModuleIndex, instruction: InstructionLine, index: str | None) -> Iterator[str]:
    """The positions, as rows, from which data flow takes the value of a part of an instruction.

    None where the instruction makes a value of its own. Several where control flow merges: then
    that makes one, unless all are the same.
    """
    opcode = instruction.opcode
    path = (index or "{}")[1:-1]
    operands = [one for one in module.operands(instruction) if one is not None]
    started = opcode == "async-start" and path.startswith("0,")
    if started or (opcode == "tuple" and path):
        number, _, rest = path.removeprefix("0," if started else "").partition(",")
        if int(number) < len(operands):
            yield _row(operands[int(number)], rest)
    elif opcode == "parameter":
        for _, operand in operands_of_parameter(module, instruction):
            yield _row(operand, path)
    elif opcode in {"call", "conditional", "while"}:
        for root in roots_of(module, instruction):
            yield _row(root, path)
        if opcode == "while" and operands:
            yield _row(operands[0], path)
    elif operands:
        source = _path_in_operand(instruction, path)
        if source is not None:
            yield _row(operands[0], source)


def _path_in_operand(instruction: InstructionLine, path: str) -> str | None:
    """The index in the first operand of what an instruction hands on, or None if it does not."""
    opcode = instruction.opcode
    if opcode == "get-tuple-element":
        number = instruction.parsed.attribute("index")
        return None if number is None else ",".join(filter(None, (number.text.strip(), path)))
    if opcode in _HANDED_ON or (opcode == "copy" and path):
        return path
    if opcode == "copy-start":
        return "" if path == "1" else None
    return "0" if opcode == "copy-done" else None


def _row(instruction: InstructionLine, path: str) -> str:
    return row_of(instruction.name, f"{{{path}}}" if instruction.shape.startswith("(") else None)
