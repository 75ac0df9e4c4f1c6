"""Hovers of computations, attributes, source-location rows, and modules."""

from hlo_lsp.hlo.vocabulary import vocabulary
from hlo_lsp.ide.cursor.resolution import enclosing_computation, resolve_instruction
from hlo_lsp.ide.cursor.targets import (
    AttributeTarget,
    CursorTarget,
    LocationRowTarget,
    ParameterTarget,
    TupleElementTarget,
)
from hlo_lsp.ide.hover.computations import body_facts
from hlo_lsp.ide.hover.instructions import instruction_card, instruction_sharding_facts
from hlo_lsp.ide.hover.shapes import short_shape
from hlo_lsp.ide.hover.sharding import group_facts
from hlo_lsp.ide.hover.values import allocation_kind, source_facts, stack_facts
from hlo_lsp.model.display import Card, Fact, count_noun, format_bytes, join_limited
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.place import LocatedRecord
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine

_MAX_LISTED_NAMES = 6
_MAX_TITLE_CHARACTERS = 40  # of an attribute value


def computation_card(head: LocatedRecord[ComputationLine]) -> Card:
    """Return the hover of a computation: parameters, result, body, and callers."""
    module, record = head.file.module, head.record
    computation = module.computation(record)
    parameters = [
        f"`{parameter.name}` {short_shape(parameter.shape)}"
        for _, parameter in sorted(computation.parameters.items())
    ]
    facts = [
        Fact("parameters", f"{len(parameters)}: {join_limited(parameters, _MAX_LISTED_NAMES)}")
    ]
    if computation.root is not None:
        root = computation.root
        facts.append(Fact("result", f"`{root.name}` {short_shape(root.shape)}, {root.opcode}"))
    facts += body_facts(module, record)
    callers = module.callers(record)
    if callers:
        names = [f"`{caller.name}` ({caller.opcode})" for caller in callers]
        facts.append(Fact("called by", f"{len(callers)}: {join_limited(names, _MAX_LISTED_NAMES)}"))
    elif record is module.entry:
        facts.append(Fact("called by", "none (entry computation)"))
    return Card(f"computation `{record.name}`", tuple(facts))


def module_card(dump: DumpSet, file: DumpFile) -> Card:
    """Return the hover of a module: its size and the largest allocations of its compile."""
    module = file.module
    header = module.header
    entry = module.entry
    facts = [
        Fact("computations", f"{len(module.all_computations()):,}"),
        Fact("instructions", f"{len(module.instructions):,}"),
    ]
    if entry is not None:
        parameters = len(module.computation(entry).parameters)
        facts.append(Fact("entry", f"`{entry.name}`, {count_noun(parameters, 'parameter')}"))
    if header is not None and "is_scheduled=true" in header.text:
        facts.append(Fact("scheduled", "lines are in execution order"))
    largest = sorted(dump.allocations(), key=lambda found: -found.record.size)[:3]
    if dump.total_bytes is not None:
        facts.append(Fact("total size", format_bytes(dump.total_bytes)))
    if largest:
        names = [
            f"allocation {found.record.number}, {allocation_kind(found.record)}, "
            f"{format_bytes(found.record.size)}"
            for found in largest
        ]
        facts.append(Fact("largest allocations", "; ".join(names)))
    return Card(f"module `{'' if header is None else header.name}`", tuple(facts))


def attribute_card(dump: DumpSet, target: CursorTarget, entity: AttributeTarget) -> Card | None:
    """Return the hover of an attribute: its meaning and its value in words."""
    attribute = (
        vocabulary().attribute(entity.name, entity.opcode)
        if entity.opcode
        else vocabulary().header.get(entity.name)
    )
    title = _attribute_title(entity)
    text = "" if attribute is None else attribute.text
    if attribute is not None and entity.key is not None:
        text = attribute.keys.get(entity.key, text)
    facts: list[Fact] = []
    record = target.record
    if isinstance(record, InstructionLine):
        if entity.name == "metadata":
            facts += source_facts(dump, record.parsed)
        elif entity.name == "sharding":
            facts += instruction_sharding_facts(record.parsed, target.place.file)
        elif entity.name == "replica_groups":
            facts += group_facts(record.parsed)
    elif attribute is None:
        return None
    return Card(title, tuple(facts), text or "Unknown attribute.")


def _attribute_title(entity: AttributeTarget) -> str:
    if entity.key is not None:
        return f"{entity.name}: {entity.key}"
    if len(entity.value) > _MAX_TITLE_CHARACTERS or "`" in entity.value or "\n" in entity.value:
        return entity.name
    return f"`{entity.name}={entity.value}`"


def location_row_card(
    dump: DumpSet, target: CursorTarget, entity: LocationRowTarget
) -> Card | None:
    """Return the hover of a source-location row: the Python line and its callers."""
    for file in (target.place.file, *dump.files):
        tables = file.module.tables
        rows = tables.rows[entity.table]
        if not 0 < entity.number <= len(rows):
            continue
        title = f"{entity.table} row {entity.number}"
        if entity.table == "StackFrames":
            return Card(title, tuple(stack_facts(list(tables.stack(entity.number)))))
        if entity.table == "FileLocations":
            line = tables.line_of(entity.number)
            return Card(title, tuple(stack_facts([] if line is None else [line])))
        names = tables.files if entity.table == "FileNames" else tables.functions
        return Card(title, (Fact("name", f"`{names[entity.number - 1]}`"),))
    return None


def parameter_card(dump: DumpSet, target: CursorTarget, entity: ParameterTarget) -> Card | None:
    """Return the hover of a parameter of the enclosing computation."""
    head = enclosing_computation(target)
    if head is None:
        return None
    parameter = head.file.module.computation(head.record).parameters.get(entity.number)
    if parameter is None:
        return None
    return instruction_card(dump, parameter.name, None, LocatedRecord(head.file, parameter))


def tuple_element_card(
    dump: DumpSet, target: CursorTarget, entity: TupleElementTarget
) -> Card | None:
    """Return the hover of the ``get-tuple-element`` that selects the element."""
    line = resolve_instruction(dump, target, entity.instruction)
    return instruction_card(dump, entity.instruction, None, line)
