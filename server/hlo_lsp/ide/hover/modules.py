"""What a reader is told about computations, attributes, tables and whole modules."""

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
from hlo_lsp.model.bytesize import format_bytes
from hlo_lsp.model.card import Card, Fact, count_noun, join_limited
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.value import LocatedRecord
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine

_MAX_LISTED_NAMES = 6  # names in a list
_MAX_TITLE_CHARACTERS = 40  # characters of a value that stands in a title


def computation_card(head: LocatedRecord[ComputationLine]) -> Card:
    """What a computation takes, does and gives, and who calls it."""
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
        facts.append(Fact("called by", "nobody: this is where the program begins"))
    return Card(f"computation `{record.name}`", tuple(facts))


def module_card(dump: DumpSet, file: DumpFile) -> Card:
    """How large a module is, and what its compile says of its memory."""
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
        facts.append(Fact("scheduled", "the order of the lines is the order of execution"))
    largest = sorted(dump.allocations(), key=lambda found: -found.record.size)[:3]
    if dump.total_bytes is not None:
        facts.append(Fact("total of all allocations", format_bytes(dump.total_bytes)))
    if largest:
        names = [
            f"allocation {found.record.number}, {allocation_kind(found.record)}, "
            f"{format_bytes(found.record.size)}"
            for found in largest
        ]
        facts.append(Fact("largest", "; ".join(names)))
    return Card(f"module `{'' if header is None else header.name}`", tuple(facts))


def attribute_card(dump: DumpSet, found: CursorTarget, subject: AttributeTarget) -> Card | None:
    """What an attribute means, and what its value says."""
    attribute = (
        vocabulary().attribute(subject.name, subject.opcode)
        if subject.opcode
        else vocabulary().header.get(subject.name)
    )
    title = _attribute_title(subject)
    text = "" if attribute is None else attribute.text
    if attribute is not None and subject.key is not None:
        text = attribute.keys.get(subject.key, text)
    facts: list[Fact] = []
    record = found.record
    if isinstance(record, InstructionLine):
        if subject.name == "metadata":
            facts += source_facts(dump, record.parsed)
        elif subject.name == "sharding":
            facts += instruction_sharding_facts(record.parsed, found.place.file)
        elif subject.name == "replica_groups":
            facts += group_facts(record.parsed)
    elif attribute is None:
        return None
    return Card(title, tuple(facts), text or "This tool does not know this attribute.")


def _attribute_title(subject: AttributeTarget) -> str:
    if subject.key is not None:
        return f"{subject.name}: {subject.key}"
    if len(subject.value) > _MAX_TITLE_CHARACTERS or "`" in subject.value or "\n" in subject.value:
        return subject.name
    return f"`{subject.name}={subject.value}`"


def location_row_card(
    dump: DumpSet, found: CursorTarget, subject: LocationRowTarget
) -> Card | None:
    """A row of the location tables: the Python line, and who called it."""
    for file in (found.place.file, *dump.files):
        tables = file.module.tables
        rows = tables.rows[subject.table]
        if not 0 < subject.number <= len(rows):
            continue
        title = f"{subject.table} row {subject.number}"
        if subject.table == "StackFrames":
            return Card(title, tuple(stack_facts(list(tables.stack(subject.number)))))
        if subject.table == "FileLocations":
            line = tables.line_of(subject.number)
            return Card(title, tuple(stack_facts([] if line is None else [line])))
        names = tables.files if subject.table == "FileNames" else tables.functions
        return Card(title, (Fact("name", f"`{names[subject.number - 1]}`"),))
    return None


def parameter_card(dump: DumpSet, found: CursorTarget, subject: ParameterTarget) -> Card | None:
    """The parameter of this number of the computation around."""
    head = enclosing_computation(found)
    if head is None:
        return None
    parameter = head.file.module.computation(head.record).parameters.get(subject.number)
    if parameter is None:
        return None
    return instruction_card(dump, parameter.name, None, LocatedRecord(head.file, parameter))


def tuple_element_card(
    dump: DumpSet, found: CursorTarget, subject: TupleElementTarget
) -> Card | None:
    """The ``get-tuple-element`` itself."""
    line = resolve_instruction(dump, found, subject.instruction)
    return instruction_card(dump, subject.instruction, None, line)
