"""The shape of a value where it is assigned, against the instruction that defines it.

XLA prints the sub-shape of the defining instruction at the value's index, layout and all
(``HloValue::shape`` in hlo_value.h).
"""

from collections import Counter
from collections.abc import Container, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from weakref import ReferenceType, WeakKeyDictionary, ref

from hlo_lsp.analysis.assignment.own_size import wrong_size
from hlo_lsp.analysis.files.sections import is_joined
from hlo_lsp.analysis.files.siblings import strangers
from hlo_lsp.analysis.values.headers import disagreements
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet, FileVersions
from hlo_lsp.model.shape import BufferShape, Shape, TupleShape, try_shape
from hlo_lsp.model.sizes import Target, padded_size_of_text, subshape_text, target_of
from hlo_lsp.model.value import LocatedRecord
from hlo_lsp.program.passes import module_at_buffer_assignment
from hlo_lsp.syntax.instruction_text import InstructionText, TextSpan, parse_instruction
from hlo_lsp.syntax.memory_records import AssignedValue
from hlo_lsp.syntax.module_records import InstructionLine
from hlo_lsp.syntax.used_value import UsedValue, instruction_column
from hlo_lsp.text.checkpoint import checkpoint

_STEP = 1000  # values between two breaths

# Values in which nothing was wrong, for what they were compared with: versions of files, and the
# target. Whether the entry says what the module text does: of unknown types nothing is wrong then,
# either.
_Versions = list[tuple["ReferenceType[DumpFile]", int]]
_Well = dict[AssignedValue, bool]
_WELL: "WeakKeyDictionary[DumpFile, tuple[_Versions, Target, _Well]]" = WeakKeyDictionary()


class Source(Enum):
    """Where a shape is printed; the value is what a sentence calls it."""

    ALLOCATION = "in its allocation"
    ENTRY = "behind `from instruction`"
    MODULE = "in the module text"


@dataclass(frozen=True, slots=True)
class WrongShape:
    """A shape that two others of the same value speak against.

    ``right`` is the shape there, ``by`` where. Of an entry ``span`` is the shape in its last line.
    """

    source: Source
    value: "LocatedRecord[AssignedValue] | LocatedRecord[UsedValue]"
    printed: str
    right: str
    by: Source
    instruction: LocatedRecord[InstructionLine] | None = None
    span: TextSpan | None = None


def wrong_shapes(dump: DumpSet) -> list[WrongShape]:
    """The shapes that do not agree, each damaged line once.

    Of three sources the one is wrong that differs from the others; of two the allocation, unless
    the size there speaks for its shape. Nothing of files that are two dumps, or of two compiles.
    """
    if any(map(is_joined, dump.files)) or (strangers(dump)):
        return []
    headers = disagreements(dump)
    suspects = headers.suspects
    module, target = module_at_buffer_assignment(dump), target_of(dump)
    found: list[WrongShape] = []
    accused: set[object] = set()
    agreeing: set[str] = set()
    fine: _Well = {}
    holder = next((file for file in dump.files if len(file.memory.assigned)), None)
    basis = [*dump.state(file for file in dump.files if len(file.memory.entries) or file is module)]
    # Where the allocations are not in a file of their own every edit changes the rest, too.
    still = {} if holder is None else _still_well(holder, _versions(basis), target, suspects)
    for count, (assigned, entry) in enumerate(_pairs(dump, still)):
        if count % _STEP == _STEP - 1:
            checkpoint()
        record = entry.record if entry is not None else assigned.record if assigned else None
        if record is None or record.id in suspects or record.name is None:
            continue
        line = _line_of(module, record.name)
        agrees = (
            line is not None and entry is not None and _says(entry.record.lines[-1], line.record)
        )
        if agrees:
            agreeing.add(record.name)
        faults = list(_compare(target, assigned, entry, line))
        if assigned is not None and not faults:
            fine[assigned.record] = agrees
        for wrong in faults:
            place: object = wrong.value.record
            if wrong.source is Source.MODULE and wrong.instruction is not None:
                place = wrong.instruction.record
            if place not in accused:
                accused.add(place)
                found.append(wrong)
    if holder is not None:
        _WELL[holder] = _versions(basis), target, still | fine
    if found:
        agreeing.update(value.name for value, agrees in still.items() if agrees)
    return _by_instruction(found, agreeing)


def _still_well(
    holder: DumpFile, versions: _Versions, target: Target, suspects: Container[int | None]
) -> _Well:
    known_versions, known_target, well = _WELL.get(holder, (None, None, {}))
    if known_versions != versions or known_target != target:
        return {}
    values = holder.memory.assigned.records()
    return {value: well[value] for value in values if value in well and value.id not in suspects}


def _versions(state: FileVersions) -> _Versions:
    """A file that was read again from disk is another one, though its name and version are not."""
    return [(ref(file), version) for file, version in state]


def _by_instruction(found: list[WrongShape], agreeing: set[str]) -> list[WrongShape]:
    """Where no entry of an instruction agrees with the module text, that is wrong, told once."""
    entries = Counter(
        wrong.value.record.name for wrong in found if wrong.source is not Source.ALLOCATION
    )
    kept: list[WrongShape] = []
    told: set[str | None] = set()
    for wrong in found:
        name = wrong.value.record.name
        alone = wrong.source is Source.ENTRY and entries[name] == 1
        if wrong.source is Source.ALLOCATION or name in agreeing or alone:
            kept.append(wrong)
        elif name not in told:
            told.add(name)
            kept.append(_in_module(wrong))
    return kept


def _in_module(wrong: WrongShape) -> WrongShape:
    if wrong.source is Source.MODULE:
        return wrong
    return replace(
        wrong, source=Source.MODULE, printed=wrong.right, right=wrong.printed, by=Source.ENTRY
    )


def _pairs(
    dump: DumpSet, well: Container[AssignedValue]
) -> Iterator[tuple[LocatedRecord[AssignedValue] | None, LocatedRecord[UsedValue] | None]]:
    values = next((file for file in dump.files if len(file.memory.assigned)), None)
    entries = next((file for file in dump.files if len(file.memory.entries)), None)
    if values is not None:
        for value in values.memory.assigned.records():
            if value in well:
                continue
            entry = None if entries is None else entries.memory.entries.first(value.id)
            located = None if entry is None or entries is None else LocatedRecord(entries, entry)
            yield LocatedRecord(values, value), located
    elif entries is not None:
        for entry in entries.memory.entries.records():
            yield None, LocatedRecord(entries, entry)


def _line_of(module: DumpFile | None, name: str) -> LocatedRecord[InstructionLine] | None:
    named = [] if module is None else module.module.instructions.all(name)
    if module is None or len(named) != 1 or not named[0].shape:
        return None
    return LocatedRecord(module, named[0])


def _compare(
    target: Target,
    assigned: LocatedRecord[AssignedValue] | None,
    entry: LocatedRecord[UsedValue] | None,
    line: LocatedRecord[InstructionLine] | None,
) -> Iterator[WrongShape]:
    whole = entry is not None and entry.record.whole
    own = entry.record.lines[-1] if entry is not None and whole else None
    index = assigned.record.index if assigned is not None else entry.record.index if entry else None
    in_module = None if line is None else subshape_text(line.record.shape, index)
    in_allocation = None if assigned is None else assigned.record.shape
    agrees = own is None or (line is not None and _says(own, line.record))
    if agrees and (in_module is None or in_allocation is None or in_module == in_allocation):
        return
    text = None if own is None else parse_instruction(own, instruction_column(own))
    in_entry = None if text is None else subshape_text(text.shape.text, index)
    if assigned is not None and wrong_size(assigned.record, target) is not None:
        return  # of a shape that is not as large as its value says that is told
    if in_allocation is not None and try_shape(in_allocation) is None:
        in_allocation = None  # that it cannot be read is said already
    shapes = (in_allocation, in_entry, in_module)
    if len({_unknown_parts(shape) for shape in shapes if shape is not None}) > 1:
        return
    if line is None and assigned is not None and entry is not None and text is not None:
        value = assigned.record
        if _only_fits(target, value, in_allocation, in_entry):
            printed, right = text.shape.text, value.shape
            yield WrongShape(
                Source.ENTRY, entry, printed, right, Source.ALLOCATION, None, text.shape
            )
            return
    yield from _odd_one(assigned, entry, line, shapes, text)


def _unknown_parts(text: str) -> tuple[str, ...]:
    """Element types and letters of layouts that later compilers may print.

    Nothing is known of them, not even whether they stand wherever a shape does.
    """
    shape = try_shape(text)
    return () if shape is None else tuple(_unknown(shape))


def _unknown(shape: Shape) -> Iterator[str]:
    if isinstance(shape, TupleShape):
        for element in shape.elements:
            yield from _unknown(element)
    elif isinstance(shape, BufferShape):
        yield from _unknown(shape.shape)
    else:
        if shape.bits is None:
            yield shape.element_type
        if shape.layout is not None:
            yield from shape.layout.others


def _only_fits(
    target: Target, value: AssignedValue, in_allocation: str | None, in_entry: str | None
) -> bool:
    """Whether the size of a value is that of the one shape, and not that of the other."""
    if in_allocation is None or in_entry is None or in_allocation == in_entry:
        return False
    one = padded_size_of_text(in_allocation, target, value.color or 0)
    other = padded_size_of_text(in_entry, target, value.color or 0)
    if one is None or other is None:
        return False
    return one.bytes == value.size and other.bytes != value.size


def _odd_one(
    assigned: LocatedRecord[AssignedValue] | None,
    entry: LocatedRecord[UsedValue] | None,
    line: LocatedRecord[InstructionLine] | None,
    shapes: tuple[str | None, str | None, str | None],
    text: InstructionText | None,
) -> Iterator[WrongShape]:
    in_allocation, in_entry, in_module = shapes
    differs = in_allocation is not None and in_allocation not in {in_entry, in_module}
    if differs and assigned is not None and (in_entry is not None or in_module is not None):
        right, by = (in_entry, Source.ENTRY) if in_entry is not None else (in_module, Source.MODULE)
        if in_entry is None or in_module is None or in_entry == in_module:
            assert right is not None
            assert in_allocation is not None
            yield WrongShape(Source.ALLOCATION, assigned, in_allocation, right, by, line)
        return
    if text is None or line is None or entry is None:
        return
    here, there = text.shape.text, line.record.shape
    if here == there or text.name.text != line.record.name:
        return
    if in_allocation is not None and in_entry == in_allocation and in_module != in_allocation:
        yield WrongShape(Source.MODULE, entry, there, here, Source.ENTRY, line, text.shape)
    else:
        yield WrongShape(Source.ENTRY, entry, here, there, Source.MODULE, line, text.shape)


def _says(own: str, line: InstructionLine) -> bool:
    """Whether an instruction begins with name and shape of one in the module: without reading."""
    at = instruction_column(own)
    if own.startswith("%", at):
        at += 1
    return own.startswith(f"{line.name} = {line.shape} ", at)
