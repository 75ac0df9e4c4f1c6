"""The hover of an instruction, and the facts about the bodies that it calls."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from hlo_lsp.display.cards import Card, Fact
from hlo_lsp.display.phrases import count_noun, join_limited, shortened
from hlo_lsp.hlo.vocabulary import OpcodeSpec, OperandPassing, opcode_spec, vocabulary
from hlo_lsp.ide.hover.origin_text import (
    origin_and_source_facts,
    source_facts,
    stack_facts,
)
from hlo_lsp.ide.hover.shapes import (
    describe_shape,
    logical_facts,
    short_shape,
    size_facts,
    split_waste,
    tuple_facts,
)
from hlo_lsp.ide.hover.sharding import (
    group_facts,
    has_shard_shapes,
    sharding_facts,
)
from hlo_lsp.ide.hover.values import (
    counted_list,
    data_index,
    data_leaves,
    donation_facts,
    list_facts,
    live_range_facts,
    part_label,
    quoted_name,
    result_headline,
    result_leaves,
    sharing_facts,
)
from hlo_lsp.ide.navigation.references import user_instructions
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.file_names import suffix_of
from hlo_lsp.model.module_index import ModuleIndex, parameter_number
from hlo_lsp.model.omitted_instructions import omitted_instructions
from hlo_lsp.model.padded_sizes import sizes_of_text, target_of
from hlo_lsp.model.place import LocatedRecord, Value
from hlo_lsp.model.shape import TupleShape, subshape_text, try_shape
from hlo_lsp.model.source import SourceLine
from hlo_lsp.model.unprinted_instructions import TupleElement
from hlo_lsp.program.collective_roles import collective_role
from hlo_lsp.program.dataflow import ModuleFlow
from hlo_lsp.program.device_tables import describe_cut, device_table
from hlo_lsp.program.global_shapes import GlobalShape, global_shape
from hlo_lsp.program.instruction_owners import owner_of
from hlo_lsp.program.mesh import collective_axes, meshes_of
from hlo_lsp.program.stages import counterparts
from hlo_lsp.program.transfers import performed_operation
from hlo_lsp.program.trip_counts import printed_trip_count, trip_count
from hlo_lsp.syntax.instruction_text import InstructionText
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine
from hlo_lsp.text.amounts import format_bytes

_MAX_LEAVES = 8
_MAX_OPCODES = 8
_MAX_ORIGINS = 4  # operations, and as many source lines
_MAX_COUNTERPARTS = 4  # per module text
_MAX_LISTED_USERS = 16
_MAX_LITERAL_CHARACTERS = 60
_MAX_SHAPE_CHARACTERS = 120
_MAX_SCANNED_INSTRUCTIONS = 2000  # per computation, for its operations and lines
_STRUCTURAL_OPCODES = frozenset({"parameter", "constant", "tuple", "get-tuple-element"})
_ASYNC_START_SUFFIXES = ("-start", "-update", "send", "recv")
# These do the work of an instruction elsewhere, if they wrap one.
_WRAPPERS = frozenset({"async-start", "async-update", "async-done", "custom-call"})

OptionalLine = LocatedRecord[InstructionLine] | None


def instruction_card(
    dump: Compile, name: str, index: str | None = None, line: OptionalLine = None
) -> Card | None:
    """Return the hover of an instruction, or None if its compile does not mention it.

    ``index`` is the shape index of a leaf of the result. ``line`` is the instruction, if its name
    is ambiguous in the compile.
    """
    line = line or dump.instruction(name)
    text = line.record.parsed if line is not None else dump.text_of(name)
    shown, name = name, dump.memory_name(name)
    step = dump.step(name)
    used = list(dump.entries_used_by(name))
    if text is None and step is None and not used and not any(dump.entries_at(name)):
        return None
    leaves = result_leaves(dump, name)
    data = [] if text is None or index is not None else data_leaves(dump, text, leaves)
    # The part of a tuple that the facts are about: they do not describe the table of pointers.
    main = index if text is None or index is not None else data_index(text, data)
    at = main if len(data) == 1 else index
    value = dump.value_at(name, at)
    inner = [] if index is not None else [leaf for leaf in leaves if leaf[0] != "{}"]
    waste, result = split_waste([] if text is None else _result_facts(dump, text, name, index))
    # The compile has only one origin by name, and another instruction may have the same name.
    own = dump.instruction(name)
    is_known = line is None or own is None or own.record is line.record
    if is_known:
        sources = origin_and_source_facts(dump, name, main, text)
        sources += _line_of_the_data(dump, name, sources)
    else:
        sources = [] if text is None else source_facts(dump, text)
    if value is not None and len(data) < 2:
        facts = [*waste, *live_range_facts(dump, value), *sharing_facts(dump, value)]
        facts += donation_facts(dump, value, text)
    else:
        facts = waste
    facts += [*sources, *axis_facts(dump, line)]
    if step is not None:
        facts.append(Fact("schedule", f"step {step.record.step:,} of {dump.last_step or 0:,}"))
    facts += _user_facts(dump, name, line)
    facts += result
    facts += _value_facts(value, name, at, leaves)
    facts += _leaf_facts(dump, name, inner)
    if text is not None:
        facts += [*_opcode_specific_facts(dump, text, line), *_operand_facts(text, line)]
    whole = None if line is None else global_shape(dump, line)
    if line is not None:
        facts += [*_global_facts(whole), *_operation_facts(line.file.module, line.record)]
        facts += _callee_facts(line.file.module, line.record)
    if used:
        names = join_limited([quoted_name(entry.record) for entry in used], 6)
        facts.append(Fact("reads", f"{count_noun(len(used), 'value')}: {names}"))
    if text is not None:
        facts += instruction_sharding_facts(text, None if line is None else line.file)
        facts += group_facts(text)
    if line is not None:
        facts += _counterpart_facts(dump, line)
    is_redundant = text is None or text.opcode.text == name
    title = f"`{shown}{index or ''}`"
    opcode = None if text is None else _opcode_of(text, line)
    return Card(
        title if text is None or is_redundant else f"{title} {text.opcode.text}",
        tuple(facts),
        "" if opcode is None else opcode.text,
        result_headline(dump, (name, main, text), value, [leaf for _, leaf in data])
        if is_known
        else "",
        None if whole is None else device_table(whole),
    )


def _opcode_of(text: InstructionText, line: OptionalLine) -> OpcodeSpec | None:
    is_async = line is not None and line.file.module.opcode(line.record).startswith("async-")
    words = vocabulary()
    found = words.async_form(text.opcode.text) if is_async else None
    return found or words.opcode(text.opcode.text)


def _result_facts(dump: Compile, text: InstructionText, name: str, index: str | None) -> list[Fact]:
    """Return the shape of a result or leaf and its size; padded only if its layout is known.

    Before buffer assignment and inside fusions, an untiled shape does not determine the padding.
    """
    leaf = subshape_text(text.shape.text, index)
    if not leaf:  # The leaf does not exist, or the text has no shape.
        return []
    value = dump.value_at(name, index)
    if value is None and "T(" not in leaf:
        sizes = logical_facts(leaf)
    else:
        color, size = (None, None) if value is None else (value.color, value.size)
        sizes = size_facts(leaf, sizes_of_text(leaf, target_of(dump), color, size))
    shape = try_shape(leaf)
    label = "result" if index is None else f"leaf {index}"
    if isinstance(shape, TupleShape):
        return tuple_facts(label.replace("leaf", "element"), leaf, sizes)
    printed = f"`{shortened(leaf, _MAX_SHAPE_CHARACTERS)}`"
    described = printed if shape is None else f"{printed}: {describe_shape(shape)}"
    return [Fact(label, described), *sizes]


def _value_facts(
    value: Value | None, name: str, index: str | None, leaves: list[tuple[str, Value]]
) -> list[Fact]:
    """Return facts about the value at a shape index of a result.

    If the instruction forwards the value of another instruction, they are about that value.
    """
    facts = []
    if value is not None and value.assigned is not None and value.allocation is not None:
        facts.append(Fact("allocation", _describe_slot(value)))
    if value is not None and value.key == name + (index or "{}"):
        return [*facts, Fact("value", f"`{value.mention}`")]
    forwarded = [quoted_name(held) for at, held in leaves if at == (index or "{}")]
    return [*facts, *list_facts("forwards", forwarded)]


def _leaf_facts(dump: Compile, name: str, leaves: list[tuple[str, Value]]) -> list[Fact]:
    """Return a fact for each of the largest leaves of a tuple."""
    ordered = sorted(leaves, key=lambda leaf: -(leaf[1].size or 0))
    facts = [
        Fact(part_label(dump, leaf, at), _describe_leaf(name, at, leaf))
        for at, leaf in ordered[:_MAX_LEAVES]
    ]
    if len(ordered) > _MAX_LEAVES:
        facts.append(Fact("other leaves", f"{len(ordered) - _MAX_LEAVES:,}"))
    return facts


def _describe_leaf(name: str, index: str, value: Value) -> str:
    parts = []
    if value.name != name or (value.index or "{}") != index:
        parts.append(quoted_name(value))
    if value.assigned is not None and value.allocation is not None:
        parts.append(f"allocation {_describe_slot(value)}")
    if value.live is not None:
        row = value.live.record
        parts.append(f"live {row.start_step:,}-{row.end_step:,}")
    return ", ".join(parts) or f"value {value.id}"


def _describe_slot(value: Value) -> str:
    """Return the text ``24 at offset 512, 4,096 B`` with number, offset, and size."""
    assert value.assigned is not None
    assert value.allocation is not None
    record = value.assigned.record
    number = value.allocation.record.number
    return f"{number} at offset {record.offset:,}, {format_bytes(record.size)}"


def _opcode_specific_facts(dump: Compile, text: InstructionText, line: OptionalLine) -> list[Fact]:
    match text.opcode.text:
        case "constant":
            literal = " ".join(text.literal.text.split()).replace("`", "'")
            return (
                [Fact("literal", f"`{shortened(literal, _MAX_LITERAL_CHARACTERS)}`")]
                if literal
                else []
            )
        case "custom-call":
            target = text.attribute("custom_call_target")
            name = "" if target is None else target.text.strip().strip('"')
            return [] if target is None else [Fact("target", f"`{name}`")]
        case "while":
            count = (
                printed_trip_count(text)
                if line is None
                else trip_count(line.file.module, line.record)
            )
            return [] if count is None else [Fact("trip count", f"{count:,}")]
        case "parameter" if line is not None:
            return _parameter_facts(line.file.module, line.record)
        case "get-tuple-element" if line is not None:
            return [
                *_omission_facts(dump, line.record),
                *_element_facts(line.file.module, line.record),
            ]
    return []


def _parameter_facts(module: ModuleIndex, parameter: InstructionLine) -> list[Fact]:
    facts = []
    number, computation = parameter_number(parameter), module.computation_of(parameter)
    if number is not None and computation is not None:
        facts.append(Fact("parameter", f"{number} of `{computation.name}`"))
    passed = ModuleFlow(module).arguments(parameter)
    found = [f"`{operand.name}` of `{caller.name}`" for caller, operand in passed]
    return [*facts, *list_facts("receives", found)]


def _omission_facts(dump: Compile, record: InstructionLine) -> list[Fact]:
    """Return which element of a tuple this is, and the names of it that only memory files have."""
    if not isinstance(record, TupleElement) or record.holder is None:
        return []
    element = f"{record.number} of `{record.holder.name}`"
    names = [f"`{name}`" for name in omitted_instructions(dump).names.get(record.name, ())]
    return [
        Fact("element", f"{element}, `{record.name}` in the module text"),
        *list_facts("not printed", names),
    ]


def _element_facts(module: ModuleIndex, selection: InstructionLine) -> list[Fact]:
    own = (selection, *module.operands(selection))
    sources = ModuleFlow(module).producers(selection, ())
    found = [f"`{each.name}` ({each.opcode})" for each in sources if each not in own]
    return list_facts("computed by", found)


def _operand_facts(text: InstructionText, line: OptionalLine) -> list[Fact]:
    if not text.operands:
        return []
    found: list[InstructionLine | None] = [None] * len(text.operands)
    if line is not None:
        found = line.file.module.operands(line.record)
    operands = []
    for span, operand in zip(text.operands, found, strict=False):
        name = f"`{span.text}`" if span.text else "inline"
        operands.append(name if operand is None else f"{name} {short_shape(operand.shape)}")
    return [Fact("operands", counted_list(operands))]


def _user_facts(dump: Compile, name: str, line: OptionalLine) -> list[Fact]:
    users = [f"`{user}`" for user in user_instructions(dump, name, line)]
    is_result = line is not None and line.file.module.is_root(line.record)
    if not users:
        return [Fact("users", "the callers of the computation (root)")] if is_result else []
    note = " (also the computation root)" if is_result else ""
    facts = [Fact("users", counted_list(users, _MAX_LISTED_USERS) + note)]
    if line is None or not line.record.opcode.endswith(_ASYNC_START_SUFFIXES):
        return facts
    steps = ModuleFlow(line.file.module).async_successors(line.record)
    completions = [f"`{step.name}`" for step in steps if step.opcode.endswith("-done")]
    return [*facts, *list_facts("completed by", completions)]


def axis_facts(dump: Compile, line: OptionalLine) -> list[Fact]:
    """Return the axes that a collective runs over, and why it is there, as far as it is known."""
    if line is None:
        return []
    found, role = collective_axes(dump, line.file.module, line.record), collective_role(dump, line)
    meshes = "; ".join(mesh.text for mesh in meshes_of(dump))
    facts = [] if found is None else [Fact("axes", f"{found.text} of the mesh {meshes}")]
    return facts if role is None else [*facts, Fact("role", role.text)]


def _global_facts(found: GlobalShape | None) -> list[Fact]:
    """Return the shape of the whole array of which the result is the part of one device."""
    if found is None:
        return []
    return [Fact("global shape", describe_cut(found))]


def instruction_sharding_facts(text: InstructionText, file: DumpFile | None) -> list[Fact]:
    """Return facts about the sharding of a result and the bytes on each device."""
    sharding = text.attribute("sharding")
    if sharding is None:
        return []
    is_shard = None if file is None else has_shard_shapes(file)
    shape = "" if is_shard is None else text.shape.text
    return sharding_facts(sharding.text.strip(), shape, is_shard=bool(is_shard))


def _counterpart_facts(dump: Compile, line: LocatedRecord[InstructionLine]) -> list[Fact]:
    facts: list[Fact] = []
    for file, found in counterparts(dump, line).items():
        names = [f"`{record.name}`" for record in found]
        facts += list_facts(f"in {_module_text_name(file)}", names, _MAX_COUNTERPARTS)
    return facts


def _module_text_name(file: DumpFile) -> str:
    """Return the stage of a module text in its compile, such as ``before_optimizations``."""
    suffix = None if file.path is None else suffix_of(file.path.name)
    if suffix is None or not suffix.is_known:
        return file.label
    return suffix.text.removesuffix(".txt")


def body_facts(module: ModuleIndex, computation: ComputationLine) -> list[Fact]:
    """Return the opcodes of a computation with counts, its operations, and its source lines.

    Opcodes that compute nothing come last.
    """
    members = module.members(computation)
    opcodes = Counter(member.opcode for member in members).most_common()
    opcodes.sort(key=lambda item: item[0] in _STRUCTURAL_OPCODES)
    counts = [f"{count:,} {opcode}" for opcode, count in opcodes]
    whole = count_noun(len(members), "instruction")
    names: Counter[str] = Counter()
    lines: Counter[SourceLine] = Counter()
    for member in members[:_MAX_SCANNED_INSTRUCTIONS]:
        metadata = member.metadata
        if metadata.get("op_name"):
            names[_operation(metadata)] += 1
        source = _innermost(module, metadata)
        if source is not None:
            lines[SourceLine(source.file, source.line)] += 1
    return [
        Fact("body", f"{whole}: {join_limited(counts, _MAX_OPCODES)}" if counts else whole),
        *list_facts("operations", [name for name, _ in names.most_common()], _MAX_ORIGINS),
        *list_facts("source lines", [line.short for line, _ in lines.most_common()], _MAX_ORIGINS),
    ]


def _line_of_the_data(dump: Compile, name: str, known: list[Fact]) -> list[Fact]:
    """Return the Python line of what produced the data of a result, if no fact has it."""
    owner = owner_of(dump, name)
    source = None if owner is None else owner.source
    if owner is None or source is None or any(fact.source == source for fact in known):
        return []
    (fact,) = stack_facts(owner.stack[owner.stack.index(source) :])
    return [replace(fact, text=f"{fact.text}, the line of `{owner.metadata_from}`")]


def _operation_facts(module: ModuleIndex, instruction: InstructionLine) -> list[Fact]:
    """Return what an asynchronous instruction, or a custom call around a computation, runs."""
    operation = performed_operation(module, instruction)
    is_wrapper = instruction.opcode in _WRAPPERS and operation is not instruction
    is_printed = operation.printed is operation
    if not is_wrapper or not is_printed or module.opcode(operation) == "async-start":
        return []
    facts = group_facts(operation.parsed)
    return [Fact("operation", f"`{operation.opcode}`, `{operation.name}`"), *facts]


def _callee_facts(module: ModuleIndex, instruction: InstructionLine) -> list[Fact]:
    found: dict[str, list[str]] = {}
    is_inlined = opcode_spec(instruction.opcode).passes is OperandPassing.POSITIONS
    body: list[Fact] = []
    for attribute, name, _, computation in module.callees(instruction):
        if computation is None:
            size = " (not in this file)"
        elif is_inlined:
            size = ""
            body = body or body_facts(module, computation)
        else:
            size = f" ({count_noun(len(module.members(computation)), 'instruction')})"
        found.setdefault(attribute.replace("_", " "), []).append(f"`{name}`{size}")
    metadata = instruction.metadata
    own = {_operation(metadata), getattr(_innermost(module, metadata), "short", None)}
    return [
        *(Fact(attribute, join_limited(names, _MAX_OPCODES)) for attribute, names in found.items()),
        *(fact for fact in body if fact.text not in own),
    ]


def _operation(metadata: Mapping[str, str]) -> str:
    return f"`{metadata.get('op_name', '').replace('`', chr(39))}`"


def _innermost(module: ModuleIndex, metadata: Mapping[str, str]) -> SourceLine | None:
    return next(iter(module.tables.stack_of(metadata)), None)
