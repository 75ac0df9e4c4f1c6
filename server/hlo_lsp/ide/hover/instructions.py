"""The hover of an instruction."""

import re

from hlo_lsp.hlo.vocabulary import vocabulary
from hlo_lsp.ide.hover.computations import callee_facts, result_value_facts
from hlo_lsp.ide.hover.shapes import (
    describe_shape,
    logical_facts,
    short_shape,
    size_facts,
    tuple_facts,
)
from hlo_lsp.ide.hover.sharding import PrintedShape, group_facts, printed_shape_of, sharding_facts
from hlo_lsp.ide.hover.values import source_facts
from hlo_lsp.ide.navigation.references import user_instructions
from hlo_lsp.model.display import Card, Fact, count_noun, join_limited
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.file_names import suffix_of
from hlo_lsp.model.module_index import ModuleIndex, parameter_number
from hlo_lsp.model.place import LocatedRecord
from hlo_lsp.model.shape import TupleShape, leaf_text, try_shape
from hlo_lsp.model.sizes import target_of
from hlo_lsp.program.dataflow import async_successors, element_sources, operands_of_parameter
from hlo_lsp.program.passes import counterparts
from hlo_lsp.syntax.instruction_text import InstructionText
from hlo_lsp.syntax.module_records import InstructionLine

_MAX_LISTED_NAMES = 6
_MAX_LITERAL_CHARACTERS = 60
_TRIP_COUNT = re.compile(r'"known_trip_count"\s*:\s*\{\s*"n"\s*:\s*"(\d+)"')


def opcode_specific_facts(
    text: InstructionText, line: LocatedRecord[InstructionLine] | None
) -> list[Fact]:
    """Return facts that only one opcode has: a literal, a target, a parameter, a trip count."""
    opcode = text.opcode.text
    if opcode == "constant":
        literal = " ".join(text.literal.text.split()).replace("`", "'")
        cut = (
            literal
            if len(literal) <= _MAX_LITERAL_CHARACTERS
            else f"{literal[:_MAX_LITERAL_CHARACTERS]}..."
        )
        return [Fact("literal", f"`{cut}`")] if literal else []
    if opcode == "custom-call":
        target = text.attribute("custom_call_target")
        return [] if target is None else [Fact("target", f"`{target.text.strip().strip(chr(34))}`")]
    if opcode == "while":
        config = text.attribute("backend_config")
        count = None if config is None else _TRIP_COUNT.search(config.text)
        return [] if count is None else [Fact("trip count", f"{int(count[1]):,}")]
    if line is None:
        return []
    if opcode == "parameter":
        return _parameter_facts(line.file.module, line.record)
    return _element_facts(line.file.module, line.record) if opcode == "get-tuple-element" else []


def _parameter_facts(module: ModuleIndex, parameter: InstructionLine) -> list[Fact]:
    """Return the number of a parameter, its computation, and its arguments."""
    facts = []
    number, computation = parameter_number(parameter), module.computation_of(parameter)
    if number is not None and computation is not None:
        facts.append(Fact("parameter", f"{number} of `{computation.name}`"))
    found = [
        f"`{operand.name}` of `{caller.name}`"
        for caller, operand in operands_of_parameter(module, parameter)
    ]
    return [*facts, Fact("argument", join_limited(found, _MAX_LISTED_NAMES))] if found else facts


def _element_facts(module: ModuleIndex, selection: InstructionLine) -> list[Fact]:
    """Return the instruction that computes the element of a ``get-tuple-element``."""
    operand = next(iter(module.operands(selection)), None)
    index = selection.parsed.attribute("index")
    number = "" if index is None else index.text.strip()
    if operand is None or not number.isdecimal() or len(number) > 9:
        return []
    found = [
        f"`{source.name}` ({source.opcode})"
        for source in element_sources(module, operand, int(number))
        if source is not operand
    ]
    return [Fact("computed by", join_limited(found, _MAX_LISTED_NAMES))] if found else []


_MAX_COUNTERPARTS = 4  # per module text


def counterpart_facts(dump: DumpSet, line: LocatedRecord[InstructionLine]) -> list[Fact]:
    """Return instructions with the same operation and Python line in other module texts."""
    names: dict[DumpFile, list[str]] = {}
    for other in counterparts(dump, line):
        names.setdefault(other.file, []).append(f"`{other.record.name}`")
    return [
        Fact(f"in {module_text_name(file)}", join_limited(found, _MAX_COUNTERPARTS))
        for file, found in names.items()
    ]


def module_text_name(file: DumpFile) -> str:
    """Return the stage of a module text in its compile, such as ``before_optimizations``."""
    suffix = None if file.path is None else suffix_of(file.path.name)
    if suffix is None or not suffix.is_known:
        return file.label
    return suffix.text.removesuffix(".txt")


_MAX_LISTED_USERS = 16
_ASYNC_START_SUFFIXES = ("-start", "-update", "send", "recv")


def instruction_card(
    dump: DumpSet,
    name: str,
    index: str | None = None,
    line: LocatedRecord[InstructionLine] | None = None,
) -> Card | None:
    """Return the hover of an instruction, or None if its compile does not mention it.

    Args:
        dump: The compile.
        name: Name of the instruction.
        index: Shape index of a leaf of the result; None for the whole result.
        line: The instruction, if its name is ambiguous in the compile.
    """
    line = line or dump.instruction(name)
    text = line.record.parsed if line is not None else dump.text_of(name)
    step = dump.step(name)
    used = list(dump.entries_used_by(name))
    if text is None and step is None and not used and not any(dump.entries_at(name)):
        return None
    facts: list[Fact] = []
    if text is not None:
        facts += _opcode_facts(text)
        facts += _result_facts(dump, text, name, index)
    facts += result_value_facts(dump, name, index)
    if step is not None:
        facts.append(Fact("schedule", f"step {step.record.step} of {dump.last_step}"))
    if text is not None:
        facts += opcode_specific_facts(text, line)
        facts += _operand_facts(text, line)
    if line is not None:
        facts += callee_facts(line.file.module, line.record)
    facts += _user_facts(dump, name, line)
    if used:
        names = [f"`{entry.record.name}{entry.record.index or ''}`" for entry in used]
        facts.append(
            Fact(
                "reads",
                f"{count_noun(len(used), 'value')}: {join_limited(names, _MAX_LISTED_NAMES)}",
            )
        )
    if text is not None:
        facts += _partition_facts(text, line)
        facts += source_facts(dump, text)
    if line is not None:
        facts += counterpart_facts(dump, line)
    opcode = "" if text is None else text.opcode.text
    is_redundant = opcode in {"", name}
    return Card(f"`{name}{index or ''}`{'' if is_redundant else f' {opcode}'}", tuple(facts))


def _opcode_facts(text: InstructionText) -> list[Fact]:
    opcode = vocabulary().opcode(text.opcode.text)
    return [] if opcode is None else [Fact("description", opcode.text)]


def _result_facts(dump: DumpSet, text: InstructionText, name: str, index: str | None) -> list[Fact]:
    leaf = leaf_text(text.shape.text, index)
    if not leaf:  # The leaf does not exist, or the text has no shape.
        return []
    shape = try_shape(leaf)
    description = leaf[:120] if shape is None else describe_shape(shape)
    label = "result" if index is None else f"leaf {index}"
    sizes = _size_facts(dump, name, index, leaf)
    if isinstance(shape, TupleShape):
        return tuple_facts(label, leaf, sizes)
    return [Fact(label, description), *sizes]


def _operand_facts(
    text: InstructionText, line: LocatedRecord[InstructionLine] | None
) -> list[Fact]:
    if not text.operands:
        return []
    found: list[InstructionLine | None] = [None] * len(text.operands)
    if line is not None:
        found = line.file.module.operands(line.record)
    operands = []
    for span, operand in zip(text.operands, found, strict=False):
        name = f"`{span.text}`" if span.text else "inline"
        shape = "" if operand is None else f" {short_shape(operand.shape)}"
        operands.append(f"{name}{shape}")
    return [Fact("operands", f"{len(operands)}: {join_limited(operands, _MAX_LISTED_NAMES)}")]


def _user_facts(
    dump: DumpSet, name: str, line: LocatedRecord[InstructionLine] | None
) -> list[Fact]:
    if line is None:
        users = user_instructions(dump, name)
    else:
        users = [user.name for user in line.file.module.users(line.record)]
    is_result = line is not None and line.file.module.is_root(line.record)
    if not users:
        note = " (computation root)" if is_result else ""
        return [] if line is None else [Fact("users", f"none{note}")]
    names = [f"`{user}`" for user in users]
    note = " (also the computation root)" if is_result else ""
    words = f"{len(users):,}: {join_limited(names, _MAX_LISTED_USERS)}{note}"
    return [Fact("users", words), *_done_facts(line)]


def _done_facts(line: LocatedRecord[InstructionLine] | None) -> list[Fact]:
    """Return the instructions that complete an asynchronous operation."""
    if line is None or not line.record.opcode.endswith(_ASYNC_START_SUFFIXES):
        return []
    steps = async_successors(line.file.module, line.record)
    completions = [f"`{step.name}`" for step in steps if step.opcode.endswith("-done")]
    return (
        [Fact("completed by", join_limited(completions, _MAX_LISTED_NAMES))] if completions else []
    )


def _partition_facts(
    text: InstructionText, line: LocatedRecord[InstructionLine] | None
) -> list[Fact]:
    """Return facts about the sharding and the device groups of an instruction."""
    return [
        *instruction_sharding_facts(text, None if line is None else line.file),
        *group_facts(text),
    ]


def instruction_sharding_facts(text: InstructionText, file: DumpFile | None) -> list[Fact]:
    """Return facts about the sharding of a result and the bytes on each device."""
    sharding = text.attribute("sharding")
    if sharding is None:
        return []
    printed = None if file is None else printed_shape_of(file)
    shape = try_shape(text.shape.text) if printed is not None else None
    return sharding_facts(sharding.text.strip(), shape, printed or PrintedShape.WHOLE)


def _size_facts(dump: DumpSet, name: str, index: str | None, shape: str) -> list[Fact]:
    """Return the size of a result in bytes; the padded size only if its layout is known.

    Before buffer assignment and inside fusions, an untiled shape does not determine the padding.
    """
    value = dump.value_at(name, index)
    if value is None and "T(" not in shape:
        return logical_facts(shape)
    size = None if value is None or value.assigned is None else value.assigned.record.size
    color = 0 if value is None else value.color or 0
    return size_facts(shape, target_of(dump), color, size)
