"""What kind of value lies where: by the text of the instruction that defines it, and its life."""

from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from hlo_lsp.analysis.assignment.placements import Placement
from hlo_lsp.analysis.files.ending import ending
from hlo_lsp.model.dump_set import DumpSet, defining_text
from hlo_lsp.model.module_index import ModuleIndex, parameter_number
from hlo_lsp.model.sizes import shape_indexes
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.memory_records import AssignedValue, LiveRangeLabel
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine


class Kind(Enum):
    """What decides in which kinds of allocation a value may lie."""

    PARAMETER = "a parameter of the program"
    CONSTANT = "a constant"
    THREAD_LOCAL = "thread-local"
    SCHEDULED = "computed by the schedule"


@dataclass(frozen=True, slots=True)
class Origin:
    """The instruction that defines a value. ``in_entry`` is None where no module text tells.

    ``parameter`` is its number if it is one; ``shape`` that of all of the instruction.
    """

    opcode: str
    shape: str
    parameter: int | None
    in_entry: bool | None


def origins_of(dump: DumpSet) -> "Origins":
    """The origins of a dump's values, remembered until a file changes that tells them.

    An edit of the buffer assignment changes nothing here, unless nothing else tells the output.
    """
    has_module = any(len(file.module.computations) for file in dump.files)
    holders = [
        file
        for file in dump.files
        if file.kind is FileKind.MODULE
        or len(file.memory.entries)
        or len(file.memory.ranges)
        or (len(file.memory.assigned) and not has_module)
    ]
    return dump.derived(Origins, holders)


class Origins:
    """Tells the origins of the values of one dump, as long as its texts stay as they are."""

    def __init__(self, dump: DumpSet) -> None:
        self._dump = dump
        self._kinds: dict[tuple[int, str], Kind | None] = {}
        self._ranges = [file.memory.ranges for file in dump.files if len(file.memory.ranges)]
        self._steps = [file.memory.step_names for file in dump.files if len(file.memory.steps)]
        self._entries = [file.memory.entries for file in dump.files if len(file.memory.entries)]
        self._module: ModuleIndex | None = None
        self._is_cut = False
        for file in dump.files:
            if file.module.header is not None or len(file.module.computations):
                self._module = file.module
                self._is_cut = ending(file) is not None
                break

    def of(self, value: AssignedValue) -> Origin | None:
        """The origin of a value, or None where nothing tells it without contradiction."""
        if self._module is not None:
            named = self._module.instructions.all(value.name)
            if len(named) == 1:
                return self._in_module(named[0])
        return self._in_entry_of(value)

    def kind(self, value: AssignedValue) -> Kind | None:
        """The kind of a value, or None where the files do not tell, or contradict each other."""
        key = value.id, value.key
        if key not in self._kinds:
            self._kinds[key] = self._kind(value)
        return self._kinds[key]

    def _kind(self, value: AssignedValue) -> Kind | None:
        origin = self.of(value)
        if origin is not None and origin.opcode == "constant":
            return Kind.CONSTANT
        if origin is not None and origin.parameter is not None and origin.in_entry:
            return Kind.PARAMETER
        if not self._knows_schedule:
            return None
        key, name = value.key, value.name
        lives = any(key in ranges for ranges in self._ranges)
        if lives is not any(name in steps for steps in self._steps):
            return None
        if not lives:
            return Kind.THREAD_LOCAL if origin is not None else None
        undecided = origin is None or (origin.parameter is not None and origin.in_entry is None)
        return None if undecided else Kind.SCHEDULED

    @cached_property
    def parameters(self) -> dict[int, InstructionLine] | None:
        """The parameters of the program by number, where the module text is there."""
        entry = self._entry
        if self._module is None or entry is None or self._module.damaged:
            return None
        return self._module.computation(entry).parameters

    @cached_property
    def output_shape(self) -> str | None:
        """The shape of what the program returns, where the module text is there."""
        entry = self._entry
        if self._module is None or entry is None or self._module.damaged:
            return None
        root = self._module.computation(entry).root
        return None if root is None else root.shape or None

    @cached_property
    def root(self) -> str | None:
        """The name of the instruction that gives the result of the program.

        Without a module text it is the last one of the schedule, if what it returns lies where
        the allocations say that the output does.
        """
        entry = self._entry
        if self._module is not None and (entry is not None or self._is_cut):
            root = None if entry is None else self._module.computation(entry).root
            return None if root is None or self._module.damaged else root.name
        label = self._dump.label(LiveRangeLabel)
        last = None if label is None else self._dump.at_step(label.record.max - 1)
        return None if last is None else last.record.name

    @cached_property
    def returned(self) -> dict[int, bool] | None:
        """The values that the program returns by id, and whether each is all of the result.

        None where the files do not tell.
        """
        if self.root is None:
            return None
        found: dict[int, bool] = {}
        parts: set[str | None] = set()
        for entry in self._dump.entries_at(self.root):
            if entry.record.id is None or not entry.record.whole:
                continue
            indexes = [row.index for row in entry.record.positions if row.name == self.root]
            parts.update(indexes)
            found[entry.record.id] = any(index in {None, "{}"} for index in indexes)
        if sum(found.values()) != 1:
            return None
        if self.output_shape is not None and parts != set(shape_indexes(self.output_shape)):
            return None  # of some part no position is left
        if self._module is None and not self._outputs_agree(found):
            return None
        return found

    def holds_returned(self, placement: Placement) -> bool | None:
        """Whether a value of an allocation is returned, or None where the files do not tell."""
        if self.returned is None:
            return None
        known = [value for value in placement.values if self.has_entry(value)]
        if any(value.id in self.returned for value in known):
            return True
        return False if len(known) == len(placement.values) else None

    def has_entry(self, value: AssignedValue) -> bool:
        """Whether there is one entry of its id, with its name."""
        found = [entry for ids in self._entries for entry in ids.all(value.id)]
        return len(found) == 1 and found[0].key == value.key

    @cached_property
    def _entry(self) -> ComputationLine | None:
        """None where a module was cut off: its last computation need not be the entry."""
        return None if self._module is None or self._is_cut else self._module.entry

    def _outputs_agree(self, returned: dict[int, bool]) -> bool:
        whole = next(id_ for id_, is_whole in returned.items() if is_whole)
        assigned = self._dump.find(lambda index: index.assigned, whole)
        home = None if assigned is None else self._dump.allocation_of(assigned)
        if home is None or not home.record.maybe_live_out:
            return False
        said = any(line.record.output_shape is not None for line in self._dump.allocations())
        return home.record.output_shape is not None or not said

    @cached_property
    def _knows_schedule(self) -> bool:
        """Whether all steps and the live ranges are there."""
        label = self._dump.label(LiveRangeLabel)
        if label is None:
            return False
        memory = label.file.memory
        return len(memory.steps) == label.record.max > 0 and bool(len(memory.ranges))

    def _in_module(self, line: InstructionLine) -> Origin:
        assert self._module is not None
        number = parameter_number(line)
        in_entry = None
        if number is not None and not self._is_cut:
            in_entry = self._entry is not None and self._module.scope_of(line) is self._entry
        return Origin(line.opcode, line.shape, number, in_entry)

    def _in_entry_of(self, value: AssignedValue) -> Origin | None:
        found = self._dump.find(lambda index: index.entries, value.id)
        if found is None or found.record.key != value.key or not found.record.whole:
            return None
        text = defining_text(found.record)
        if text is None or text.name.text.lstrip("%") != value.name:
            return None
        opcode = text.opcode.text
        literal = text.literal.text.strip()
        number = int(literal) if opcode == "parameter" and literal.isdecimal() else None
        return Origin(opcode, text.shape.text, number, None)
