"""The hover of a cursor target."""

from functools import partial
from heapq import nsmallest

from hlo_lsp.display.cards import Card, Fact
from hlo_lsp.display.phrases import count_noun
from hlo_lsp.hlo.vocabulary import read_toml, vocabulary
from hlo_lsp.ide.cursor import targets
from hlo_lsp.ide.cursor.targets import CursorTarget
from hlo_lsp.ide.hover.instructions import (
    axis_facts,
    body_facts,
    instruction_card,
    instruction_sharding_facts,
)
from hlo_lsp.ide.hover.origin_text import origin_and_source_facts, source_facts, stack_facts
from hlo_lsp.ide.hover.shapes import memory_space_fact, shape_card, short_shape
from hlo_lsp.ide.hover.sharding import group_facts
from hlo_lsp.ide.hover.values import (
    allocation_donation_facts,
    allocation_headline,
    allocation_kind,
    counted_list,
    describe_allocation,
    list_facts,
    quoted_name,
    value_card,
    value_headline,
)
from hlo_lsp.ide.navigation.definitions import reported_row_at
from hlo_lsp.ide.navigation.filecheck import capture_card
from hlo_lsp.memory.occupied_steps import occupied_steps
from hlo_lsp.memory.sharing import most_shared_offset
from hlo_lsp.model.backend import Backend, space_name
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.padded_sizes import target_of
from hlo_lsp.model.place import LocatedRecord
from hlo_lsp.program.mesh import meshes_of
from hlo_lsp.program.schedule import thunk_instruction
from hlo_lsp.syntax.memory_records import AllocationLine, AssignedValue
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine
from hlo_lsp.syntax.scanners import ThunkRow
from hlo_lsp.text.amounts import format_bytes

_MAX_LISTED_USERS = 16
_MAX_TITLE_CHARACTERS = 40  # of an attribute value
_MAX_SHAPE_CHARACTERS = 200


def hover_card(dump: Compile, target: CursorTarget) -> Card | None:
    """Return the hover of a cursor target, or None if nothing is known about it."""
    match target.entity:
        case targets.ValueTarget(key=key) as entity:
            value = targets.target_value(dump, entity)
            name = key.partition("{")[0]
            return instruction_card(dump, name) if value is None else value_card(dump, value)
        case targets.InstructionTarget(name=name, index=index, operand=operand):
            line = targets.resolve_instruction(dump, target, name)
            shortened = None if line else targets.resolve_shortened(target, name)
            if shortened is not None:
                return _shortened_card(dump, shortened)
            return instruction_card(dump, name, index if operand is None else None, line)
        case targets.ComputationTarget(name=name):
            head = targets.resolve_computation(dump, target, name)
            return instruction_card(dump, name) if head is None else computation_card(head)
        case targets.AllocationTarget(number=number):
            allocation = dump.allocation(number)
            return None if allocation is None else allocation_card(dump, allocation)
        case targets.ShapeTarget(text=text, has_layout=has_layout):
            return shape_card(text, target_of(dump) if has_layout else None)
        case targets.MemorySpaceTarget(number=number):
            return space_card(number, target_of(dump).backend)
        case targets.TermTarget(word=word):
            return _report_row_card(dump, target) or _term_card(word)
        case targets.CaptureTarget() as entity:
            return capture_card(target.place.file, entity)
        case targets.ThunkTarget(row=row):
            return thunk_card(dump, row, thunk_instruction(dump, row))
    return _module_text_card(dump, target)


def _module_text_card(dump: Compile, target: CursorTarget) -> Card | None:
    line: LocatedRecord[InstructionLine] | None
    match target.entity:
        case targets.AttributeTarget() as entity:
            return _attribute_card(dump, target, entity)
        case targets.LocationRowTarget() as entity:
            return _location_row_card(dump, target, entity)
        case targets.ParameterTarget(number=number):
            line = targets.resolve_parameter(target, number)
            return None if line is None else instruction_card(dump, line.record.name, None, line)
        case targets.TupleElementTarget(instruction=name):
            line = targets.resolve_instruction(dump, target, name)
            return instruction_card(dump, name, None, line)
        case targets.ModuleTarget():
            return _module_card(dump, target.place.file)
    return None


def _shortened_card(dump: Compile, line: targets.ShortenedLine) -> Card:
    """Return the hover of an instruction with dots in place of text."""
    users = counted_list([f"`{one.record.name}`" for one in line.readers], _MAX_LISTED_USERS)
    facts = [
        *source_facts(dump, line.text),
        *([Fact("users", users)] if line.readers else []),
        Fact("text left out", "the parts of this line that `...` replaces are unknown"),
    ]
    return Card(line.text.name.text, tuple(facts))


def allocation_card(dump: Compile, allocation: LocatedRecord[AllocationLine]) -> Card:
    """Return the hover of an allocation: its size, kind, and values."""
    record = allocation.record
    values = list(dump.assigned_to(allocation))
    kind = allocation_kind(record)
    facts = []
    if len(values) == 1:
        text = dump.text_of(values[0].name)
        facts += origin_and_source_facts(dump, values[0].name, values[0].index, text)
    facts += allocation_donation_facts(dump, record)
    shared = most_shared_offset(dump, allocation)
    if shared is not None:
        offset, count = shared
        facts.append(
            Fact("shared offset", f"{count:,} values have offset {offset:,}, at different steps")
        )
    if values:
        facts.append(Fact("values", f"{len(values):,}"))
    largest = nsmallest(3, values, key=lambda value: (-value.size, value.id))
    names = [_sized_name(value) for value in largest] + [""] * (len(values) - len(largest))
    facts += list_facts("largest", names, 3)
    facts.append(Fact("size", format_bytes(record.size)))
    if kind:
        facts.append(Fact("kind", kind))
    facts.append(memory_space_fact(record.color, target_of(dump).backend))
    if record.output_shape is not None:
        facts.append(Fact("output shape", f"`{record.output_shape[:_MAX_SHAPE_CHARACTERS]}`"))
    if record.parameter_shape is not None:
        facts.append(Fact("parameter shape", f"`{record.parameter_shape[:_MAX_SHAPE_CHARACTERS]}`"))
    headline = allocation_headline(dump, record, kind, values)
    return Card(f"allocation {record.number}", tuple(facts), headline=headline)


def _report_row_card(dump: Compile, target: CursorTarget) -> Card | None:
    reported = reported_row_at(dump, target)
    if reported is None:
        return None
    allocation = reported.allocation.record
    offset = reported.values[0].record.offset if reported.values else 0
    facts = [
        Fact("values", counted_list([_sized_name(value.record) for value in reported.values])),
        Fact("allocation", describe_allocation(allocation)),
    ]
    headline = ""
    if reported.values:
        first = max((each.record for each in reported.values), key=partial(_size_at_peak, dump))
        text = dump.text_of(first.name)
        facts = [*origin_and_source_facts(dump, first.name, first.index, text), *facts]
        value = dump.value(first.id)
        headline = "" if value is None else value_headline(dump, value)
    return Card(
        f"report row: offset {offset:,} of allocation {allocation.number}",
        tuple(facts),
        headline=headline,
    )


def _size_at_peak(dump: Compile, record: AssignedValue) -> tuple[bool, int]:
    """Return whether a value is live at the peak of its memory space, and its size in bytes."""
    value = dump.value(record.id)
    steps = None if value is None else occupied_steps(dump, value)
    return steps is not None and bool(steps.is_fixed or steps.is_at_peak), record.size


def _sized_name(value: AssignedValue) -> str:
    return f"{quoted_name(value)} {format_bytes(value.size)}"


def space_card(number: int, backend: Backend) -> Card:
    """Return the hover of a memory space."""
    name = space_name(number, backend)
    return Card(
        f"memory space {number}" if name is None else f"memory space {number}: {name}",
        (memory_space_fact(number, backend),),
        "The memory space number is `color N` of an allocation, `@N` of a value, and `S(N)` of a "
        "layout.",
    )


def _term_card(word: str) -> Card | None:
    table, entry = vocabulary().tables.get(word), read_toml("glossary").get(word)
    if table is not None:
        return Card(word, text=table)
    return None if entry is None else Card(entry["title"], text=entry["text"])


def thunk_card(dump: Compile, row: ThunkRow, instruction: str | None) -> Card:
    """Return the hover of a thunk and the instruction that it runs."""
    facts = [] if row.kernel is None else [Fact("kernel", f"`{row.kernel}`")]
    if instruction is None:
        return Card(f"thunk {row.kind}", (*facts, Fact("instruction", "unknown")))
    facts.append(Fact("instruction", f"`{instruction}`"))
    card = instruction_card(dump, instruction) or Card("")
    number = "" if row.id is None else f" {row.id}"
    title = f"thunk{number} {row.kind}"
    return Card(title, (*facts, *card.facts), card.text, card.headline)


def computation_card(head: LocatedRecord[ComputationLine]) -> Card:
    """Return the hover of a computation: parameters, result, body, and callers."""
    module, record = head.file.module, head.record
    computation = module.computation(record)
    parameters = [
        f"`{parameter.name}` {short_shape(parameter.shape)}"
        for _, parameter in sorted(computation.parameters.items())
    ]
    facts = [Fact("parameters", counted_list(parameters))]
    if computation.root is not None:
        root = computation.root
        facts.append(Fact("result", f"`{root.name}` {short_shape(root.shape)}, {root.opcode}"))
    facts += body_facts(module, record)
    callers = [f"`{caller.name}` ({caller.opcode})" for caller in module.callers(record)]
    if callers:
        facts.append(Fact("called by", counted_list(callers)))
    elif record is module.entry:
        facts.append(Fact("called by", "none (entry computation)"))
    return Card(f"computation `{record.name}`", tuple(facts))


def _module_card(dump: Compile, file: DumpFile) -> Card:
    module, header, entry = file.module, file.module.header, file.module.entry
    facts = [
        Fact("computations", f"{len(module.all_computations()):,}"),
        Fact("instructions", f"{len(module.instructions):,}"),
    ]
    if entry is not None:
        parameters = len(module.computation(entry).parameters)
        facts.append(Fact("entry", f"`{entry.name}`, {count_noun(parameters, 'parameter')}"))
    if header is not None and header.is_scheduled:
        facts.append(Fact("scheduled", "lines are in execution order"))
    if meshes := meshes_of(dump):
        facts.append(Fact("mesh", "; ".join(mesh.text for mesh in meshes)))
    if dump.total_bytes is not None:
        facts.append(Fact("total size", format_bytes(dump.total_bytes)))
    largest = sorted(dump.allocations(), key=lambda found: -found.record.size)[:3]
    if largest:
        names = [f"allocation {describe_allocation(found.record)}" for found in largest]
        facts.append(Fact("largest allocations", "; ".join(names)))
    return Card(f"module `{'' if header is None else header.name}`", tuple(facts))


def _attribute_card(
    dump: Compile, target: CursorTarget, entity: targets.AttributeTarget
) -> Card | None:
    words = vocabulary()
    attribute = (
        words.attribute(entity.name, entity.opcode)
        if entity.opcode
        else words.header.get(entity.name)
    )
    if attribute is None:
        text = "Unknown attribute."
    else:
        text = attribute.keys.get(entity.key or "", attribute.text)
    record = target.record
    if not isinstance(record, InstructionLine):
        return None if attribute is None else Card(_attribute_title(entity), (), text)
    facts: list[Fact] = []
    match entity.name:
        case "metadata":
            facts = source_facts(dump, record.parsed)
        case "sharding":
            facts = instruction_sharding_facts(record.parsed, target.place.file)
        case "replica_groups" | "source_target_pairs":
            located = LocatedRecord(target.place.file, record)
            facts = [*axis_facts(dump, located), *group_facts(record.parsed)]
    return Card(_attribute_title(entity), tuple(facts), text)


def _attribute_title(entity: targets.AttributeTarget) -> str:
    if entity.key is not None:
        return f"{entity.name}: {entity.key}"
    if len(entity.value) > _MAX_TITLE_CHARACTERS or "`" in entity.value or "\n" in entity.value:
        return entity.name
    return f"`{entity.name}={entity.value}`"


def _location_row_card(
    dump: Compile, target: CursorTarget, entity: targets.LocationRowTarget
) -> Card | None:
    row = targets.resolve_location_row(dump, target, entity)
    if row is None:
        return None
    tables = row.file.module.tables
    title = f"{entity.table} row {entity.number}"
    if entity.table == "StackFrames":
        return Card(title, tuple(stack_facts(list(tables.stack(entity.number)))))
    if entity.table == "FileLocations":
        line = tables.line_of(entity.number)
        return Card(title, tuple(stack_facts([] if line is None else [line])))
    names = tables.files if entity.table == "FileNames" else tables.functions
    return Card(title, (Fact("name", f"`{names[entity.number - 1]}`"),))
