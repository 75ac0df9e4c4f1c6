"""Conversion of protos to the files that XLA prints for the same module."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from google.protobuf.message import DecodeError

from hlo_lsp.protos.assignments import AssignmentPrinter
from hlo_lsp.protos.damage import Damage, parse
from hlo_lsp.protos.dataflow import Place, ValueFlow, place_of
from hlo_lsp.protos.hlo_messages import CLASSES, CLASSES_WITHOUT_INSTRUCTIONS
from hlo_lsp.protos.live_ranges import LiveRanges, live_range_lines
from hlo_lsp.protos.modules import ModulePrinter
from hlo_lsp.protos.names import is_profile, module_stem
from hlo_lsp.protos.profile_modules import ProfiledModule, modules_in, planes_of

_NOT_IN_MODULE = (
    "Not in the proto: the numbers of replicas and partitions, and the flags for sharding"
    " propagation."
)
_NOT_IN_ASSIGNMENT = (
    "Not in the proto: {}used values, the memory report, and the pages of allocations."
)
_NO_MODULE = (
    "Not in the proto: the module. Therefore, values have the ids of instructions as names, and"
    " `opaque[]` as shape."
)
# Two bytes can be an instruction without content, which needs a thousand when it is decoded. The
# name, the opcode, the shape, and the id of a real one have more bytes than this.
_MIN_INSTRUCTION_BYTES = 16
_MIN_REFUSED_INSTRUCTIONS = 1000


@dataclass(frozen=True, slots=True)
class ConvertedFile:
    """A file that XLA would print; ``is_whole`` is False if its end is missing."""

    name: str
    lines: list[str]
    is_whole: bool = True


@dataclass(frozen=True, slots=True)
class Converted:
    """The files that a proto contains, and notes for the reader.

    ``damage`` is what could not be read.
    """

    sections: list[ConvertedFile]
    notes: list[str]
    damage: str | None = None


def convert(data: bytes, name: str) -> Converted | None:
    """Return what the proto in a file holds, or None if it is of no kind that has a module."""
    if is_profile(name):
        planes, damage = planes_of(data)
        found = convert_modules(modules_in(planes))
        text = None if damage is None else str(damage)
        notes = [f"{name}: a profile; the texts of its modules follow.", *found.notes]
        return Converted(found.sections, notes, text) if found.sections else None
    best: tuple[int, str, Any, Damage | None] | None = None
    for kind in ("HloProto", "HloModuleProto", "HloSnapshot", "BufferAssignmentProto"):
        if not _has_real_instructions(kind, data):
            return None
        message, damage = parse(data, kind)
        size = _plausible_size(kind, message)
        if size and damage is None:
            return _converted(kind, message, None, name)
        if size and (best is None or size > best[0]):
            best = size, kind, message, damage
    return None if best is None else _converted(*best[1:], name)


def convert_modules(modules: Iterable[ProfiledModule]) -> Converted:
    """Return the files that XLA would print for modules of a profile."""
    sections: list[ConvertedFile] = []
    notes: list[str] = []
    for module in modules:
        found = convert(module.proto, f"{module.file_stem}.hlo.pb")
        if found is not None:
            sections += found.sections
            notes += found.notes
    return Converted(sections, notes)


def _has_real_instructions(kind: str, data: bytes) -> bool:
    """Return False for a message whose instructions are so many that they have no content."""
    try:
        message = CLASSES_WITHOUT_INSTRUCTIONS[kind].FromString(data)
    except (DecodeError, UnicodeDecodeError):
        return True  # of another type, or damaged, which is reported later
    module, _ = _parts(kind, message)
    count = sum(len(computation.instructions) for computation in module.computations)
    return count <= max(_MIN_REFUSED_INSTRUCTIONS, len(data) // _MIN_INSTRUCTION_BYTES)


def _plausible_size(kind: str, message: Any) -> int:
    """Return the number of instructions and values, 0 if the message is of another kind."""
    module, assignment = _parts(kind, message)
    opcodes = [
        one.opcode for computation in module.computations for one in computation.instructions
    ]
    values = {one.id for one in assignment.logical_buffers}
    used = {
        one.logical_buffer_id for each in assignment.buffer_allocations for one in each.assigned
    }
    if not all(isinstance(opcode, str) and opcode.isprintable() for opcode in opcodes):
        return 0
    return len(opcodes) + len(values & used)


def _parts(kind: str, message: Any) -> tuple[Any, Any]:
    if kind == "HloSnapshot":
        message, kind = message.hlo, "HloProto"
    if kind == "HloProto":
        return message.hlo_module, message.buffer_assignment
    if kind == "HloModuleProto":
        return message, CLASSES["BufferAssignmentProto"]()
    return CLASSES["HloModuleProto"](), message


def _converted(kind: str, message: Any, damage: Damage | None, name: str) -> Converted:
    module, assignment = _parts(kind, message)
    notes = [f"{name}: {kind}, converted to the text that XLA prints for it."]
    stem = module_stem(name)
    sections: list[ConvertedFile] = []
    is_whole = damage is None
    printer = ModulePrinter(module)
    if module.computations:
        notes.append(_NOT_IN_MODULE)
        sections.append(ConvertedFile(f"{stem}.txt", list(printer.lines()), is_whole))
    if assignment.buffer_allocations:
        flow = ValueFlow(printer.printer, set(map(_definition, assignment.logical_buffers)))
        lines = AssignmentPrinter(assignment, module, printer.printer, flow).lines()
        sections.append(ConvertedFile(f"{stem}-buffer-assignment.txt", list(lines), is_whole))
        ranges = _live_ranges(module, assignment, flow, printer) if is_whole else None
        if ranges is not None:
            sections.append(ConvertedFile(f"{stem}-live-range.txt", ranges))
        missing = "" if ranges is not None else "live ranges, "
        notes.append(_NOT_IN_ASSIGNMENT.format(missing) if module.computations else _NO_MODULE)
    return Converted(sections, notes, None if damage is None else str(damage))


def _definition(value: Any) -> Place:
    return place_of(value.defined_at)


def _live_ranges(
    module: Any, assignment: Any, flow: ValueFlow, printer: ModulePrinter
) -> list[str] | None:
    """Return the lines of the live ranges, None if they do not follow from the proto."""
    if not module.schedule.sequences:
        return None
    instructions = printer.printer.instructions
    places = map(_definition, assignment.logical_buffers)
    try:
        ranges = LiveRanges(module, assignment, flow, instructions)
        if ranges.are_certain:
            return list(live_range_lines(ranges, instructions, places, flow))
    except (RecursionError, LookupError, ValueError):
        pass  # the schedule or the calls contradict the computations, which no compiler writes
    return None
