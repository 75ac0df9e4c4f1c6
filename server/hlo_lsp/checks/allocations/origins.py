"""Where values come from: parameters, constants, the schedule, and what the program returns."""

from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from hlo_lsp.model.dump_set import DumpSet, defining_text
from hlo_lsp.model.module_index import ModuleIndex, parameter_number
from hlo_lsp.model.sizes import shape_indexes
from hlo_lsp.model.truncation import ending
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.memory_records import AssignedValue, LiveRangeLabel
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine


class ValueKind(Enum):
    """The kind of a value, which decides on the flags of its allocation."""

    PARAMETER = "a parameter of the program"
    CONSTANT = "a constant"
    THREAD_LOCAL = "thread-local"
    SCHEDULED = "computed by the schedule"


@dataclass(frozen=True, slots=True)
class ValueOrigin:
    """The instruction that defines a value.

    Attributes:
        opcode: opcode of the instruction.
        parameter: number of the parameter, None for other instructions.
        is_in_entry: whether it is in the entry computation; None if unknown.
    """

    opcode: str
    parameter: int | None
    is_in_entry: bool | None


def origins_of(dump: DumpSet) -> "Origins":
    """Return the origins of the values of a compile, kept until a file changes that states them."""
    holders = [
        file
        for file in dump.files
        if file.kind is FileKind.MODULE or len(file.memory.entries) or len(file.memory.ranges)
    ]
    return dump.derived(Origins, holders)


class Origins:
    """Origins of the values of one compile. None stands for what its files do not state."""

    def __init__(self, dump: DumpSet) -> None:
        self._dump = dump
        self._kinds: dict[tuple[int, str, str | None], ValueKind | None] = {}
        self._module: ModuleIndex | None = None
        self._entry: ComputationLine | None = None
        for file in dump.files:
            if file.module.header is not None or len(file.module.computations):
                self._module = file.module
                # The last computation of a text that was cut off need not be the entry.
                self._entry = None if ending(file) is not None else file.module.entry
                break

    def of(self, value: AssignedValue) -> ValueOrigin | None:
        """Return the origin of a value."""
        if self._module is not None:
            line = self._module.instructions.first(value.name)
            if line is not None:
                number = parameter_number(line)
                home = self._module.scope_of(line)
                in_entry = None if self._entry is None else home is self._entry
                return ValueOrigin(line.opcode, number, in_entry)
        entry = self._dump.find(lambda index: index.entries, value.id)
        text = None if entry is None else defining_text(entry.record)
        if text is None or text.name.text.lstrip("%") != value.name:
            return None
        literal = text.literal.text.strip()
        is_parameter = text.opcode.text == "parameter" and literal.isdecimal()
        return ValueOrigin(text.opcode.text, int(literal) if is_parameter else None, None)

    def kind(self, value: AssignedValue) -> ValueKind | None:
        """Return the kind of a value; None if unknown, or if live ranges and schedule disagree."""
        key = value.id, value.name, value.index
        if key not in self._kinds:
            self._kinds[key] = self._kind(value)
        return self._kinds[key]

    def _kind(self, value: AssignedValue) -> ValueKind | None:
        origin = self.of(value)
        if origin is None:
            return None
        if origin.opcode == "constant":
            return ValueKind.CONSTANT
        if origin.parameter is not None and origin.is_in_entry:
            return ValueKind.PARAMETER
        is_live = self._dump.live(value.key) is not None
        if not self._has_schedule or is_live is not (self._dump.step(value.name) is not None):
            return None
        if not is_live:
            return ValueKind.THREAD_LOCAL
        is_undecided = origin.parameter is not None and origin.is_in_entry is None
        return None if is_undecided else ValueKind.SCHEDULED

    @cached_property
    def parameters(self) -> dict[int, InstructionLine] | None:
        """The parameters of the program by number."""
        if self._module is None or self._entry is None or self._module.damaged:
            return None
        return self._module.computation(self._entry).parameters

    @cached_property
    def root(self) -> InstructionLine | None:
        """The instruction that gives the result of the program."""
        if self._module is None or self._entry is None or self._module.damaged:
            return None
        return self._module.computation(self._entry).root

    @cached_property
    def returned(self) -> dict[int, bool] | None:
        """The ids of the values that the program returns; True for the one that is all of it."""
        if self.root is None:
            return None
        found: dict[int, bool] = {}
        parts: set[str | None] = set()
        for entry in self._dump.entries_at(self.root.name):
            if entry.record.id is not None and entry.record.whole:
                rows = entry.record.positions
                indexes = {row.index for row in rows if row.name == self.root.name}
                parts |= indexes
                found[entry.record.id] = not indexes.isdisjoint({None, "{}"})
        is_complete = parts == set(shape_indexes(self.root.shape)) and sum(found.values()) == 1
        return found if is_complete else None

    def is_returned(self, value: AssignedValue) -> bool | None:
        """Return whether the program returns a value; None if its id is another one's."""
        if self.returned is None:
            return None
        entry = self._dump.find(lambda index: index.entries, value.id)
        is_known = entry is not None and entry.record.key == value.key
        return value.id in self.returned if is_known else None

    @cached_property
    def _has_schedule(self) -> bool:
        """Whether all steps and the live ranges are known."""
        label = self._dump.label(LiveRangeLabel)
        if label is None:
            return False
        memory = label.file.memory
        return len(memory.steps) == label.record.max > 0 and bool(len(memory.ranges))
