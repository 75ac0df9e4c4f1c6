"""What only instructions of one opcode have: a literal, a target, a number, a count of turns."""

import re

from hlo_lsp.hlo.vocabulary import vocabulary
from hlo_lsp.ide.hover.contents import call_facts, held_facts
from hlo_lsp.ide.hover.shapes import (
    logical_facts,
    shape_words,
    short_shape,
    size_facts,
    tuple_facts,
)
from hlo_lsp.ide.hover.sharding import Printed, group_facts, printed_shapes, sharding_facts
from hlo_lsp.ide.hover.values import source_facts
from hlo_lsp.ide.navigation.references import users_of
from hlo_lsp.model.card import Card, Fact, counted, listed
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.file_names import suffix_of
from hlo_lsp.model.module_index import ModuleIndex, parameter_number
from hlo_lsp.model.shape import TupleShape, leaf_text, try_shape
from hlo_lsp.model.sizes import target_of
from hlo_lsp.model.value import Located
from hlo_lsp.program.dataflow import element_sources, operands_of_parameter, steps_behind
from hlo_lsp.program.passes import counterparts
from hlo_lsp.syntax.instruction_text import InstructionText
from hlo_lsp.syntax.module_records import InstructionLine

_SHOWN = 6  # names in a list
_CUT = 60  # characters of a literal
_TURNS = re.compile(r'"known_trip_count"\s*:\s*\{\s*"n"\s*:\s*"(\d+)"')


def particular_facts(text: InstructionText, line: Located[InstructionLine] | None) -> list[Fact]:
    """What the opcode of an instruction has a reader look for."""
    opcode = text.opcode.text
    if opcode == "constant":
        literal = " ".join(text.literal.text.split()).replace("`", "'")
        cut = literal if len(literal) <= _CUT else f"{literal[:_CUT]}..."
        return [Fact("literal", f"`{cut}`")] if literal else []
    if opcode == "custom-call":
        target = text.attribute("custom_call_target")
        return [] if target is None else [Fact("target", f"`{target.text.strip().strip(chr(34))}`")]
    if opcode == "while":
        config = text.attribute("backend_config")
        turns = None if config is None else _TURNS.search(config.text)
        return [] if turns is None else [Fact("turns", f"{int(turns[1]):,}, known beforehand")]
    if line is None:
        return []
    if opcode == "parameter":
        return _parameter_facts(line.file.module, line.record)
    return _element_facts(line.file.module, line.record) if opcode == "get-tuple-element" else []


def _parameter_facts(module: ModuleIndex, parameter: InstructionLine) -> list[Fact]:
    """Which parameter of what it is, and the operands that it stands for."""
    facts = []
    number, around = parameter_number(parameter), module.computation_of(parameter)
    if number is not None and around is not None:
        facts.append(Fact("parameter", f"{number} of `{around.name}`"))
    found = [
        f"`{operand.name}` of `{caller.name}`"
        for caller, operand in operands_of_parameter(module, parameter)
    ]
    return [*facts, Fact("stands for", listed(found, _SHOWN))] if found else facts


def _element_facts(module: ModuleIndex, taking: InstructionLine) -> list[Fact]:
    """What computes the element that a ``get-tuple-element`` takes."""
    operand = next(iter(module.operands(taking)), None)
    index = taking.parsed.attribute("index")
    number = "" if index is None else index.text.strip()
    if operand is None or not number.isdecimal() or len(number) > 9:
        return []
    found = [
        f"`{source.name}` ({source.opcode})"
        for source in element_sources(module, operand, int(number))
        if source is not operand
    ]
    return [Fact("comes from", listed(found, _SHOWN))] if found else []


_PIPELINE_SHOWN = 4  # names in a list


def pipeline_facts(dump: DumpSet, line: Located[InstructionLine]) -> list[Fact]:
    """What there is for the same operation and Python line in the other texts of the module."""
    names: dict[DumpFile, list[str]] = {}
    for other in counterparts(dump, line):
        names.setdefault(other.file, []).append(f"`{other.record.name}`")
    return [
        Fact(f"in {text_name(file)}", listed(found, _PIPELINE_SHOWN))
        for file, found in names.items()
    ]


def text_name(file: DumpFile) -> str:
    """What a module text is of its compile: ``before_optimizations``."""
    suffix = None if file.path is None else suffix_of(file.path.name)
    if suffix is None or not suffix.is_known:
        return file.label
    return suffix.text.removesuffix(".txt")


_USERS = 16
_STARTING = ("-start", "-update", "send", "recv")


def instruction_card(
    dump: DumpSet,
    name: str,
    index: str | None = None,
    line: Located[InstructionLine] | None = None,
) -> Card | None:
    """What an instruction is, when it runs, and which values it defines and uses.

    With an index: of that leaf of its result. ``line`` is the instruction that is meant where
    the name alone does not say it.
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
    facts += held_facts(dump, name, index)
    if step is not None:
        facts.append(Fact("runs", f"at step {step.record.step} of {dump.last_step}"))
    if text is not None:
        facts += particular_facts(text, line)
        facts += _operand_facts(text, line)
    if line is not None:
        facts += call_facts(line.file.module, line.record)
    facts += _user_facts(dump, name, line)
    if used:
        names = [f"`{entry.record.name}{entry.record.index or ''}`" for entry in used]
        facts.append(Fact("reads", f"{counted(len(used), 'value')}: {listed(names, _SHOWN)}"))
    if text is not None:
        facts += _partition_facts(text, line)
        facts += source_facts(dump, text)
    if line is not None:
        facts += pipeline_facts(dump, line)
    opcode = "" if text is None else text.opcode.text
    same = opcode in {"", name}
    return Card(f"`{name}{index or ''}`{'' if same else f' {opcode}'}", tuple(facts))


def _opcode_facts(text: InstructionText) -> list[Fact]:
    opcode = vocabulary().opcode(text.opcode.text)
    return [] if opcode is None else [Fact("does", opcode.text)]


def _result_facts(dump: DumpSet, text: InstructionText, name: str, index: str | None) -> list[Fact]:
    leaf = leaf_text(text.shape.text, index)
    if not leaf:  # no such leaf, or the text leaves the shape out
        return []
    shape = try_shape(leaf)
    words = leaf[:120] if shape is None else shape_words(shape)
    label = "result" if index is None else f"leaf {index}"
    sizes = _size_facts(dump, name, index, leaf)
    if isinstance(shape, TupleShape):
        return tuple_facts(label, leaf, sizes)
    return [Fact(label, words), *sizes]


def _operand_facts(text: InstructionText, line: Located[InstructionLine] | None) -> list[Fact]:
    if not text.operands:
        return []
    found: list[InstructionLine | None] = [None] * len(text.operands)
    if line is not None:
        found = line.file.module.operands(line.record)
    operands = []
    for span, operand in zip(text.operands, found, strict=False):
        name = f"`{span.text}`" if span.text else "written in place"
        shape = "" if operand is None else f" {short_shape(operand.shape)}"
        operands.append(f"{name}{shape}")
    return [Fact("operands", f"{len(operands)}: {listed(operands, _SHOWN)}")]


def _user_facts(dump: DumpSet, name: str, line: Located[InstructionLine] | None) -> list[Fact]:
    if line is None:
        users = users_of(dump, name)
    else:
        users = [user.name for user in line.file.module.users(line.record)]
    is_result = line is not None and line.file.module.is_root(line.record)
    if not users:
        result = ": it is the result of its computation" if is_result else ""
        return [] if line is None else [Fact("users", f"none{result}")]
    names = [f"`{user}`" for user in users]
    result = "; it is the result of its computation, too" if is_result else ""
    words = f"{len(users):,}: {listed(names, _USERS)}{result}"
    return [Fact("users", words), *_done_facts(line)]


def _done_facts(line: Located[InstructionLine] | None) -> list[Fact]:
    """Where an operation that was started is waited for, maybe some updates later."""
    if line is None or not line.record.opcode.endswith(_STARTING):
        return []
    steps = steps_behind(line.file.module, line.record)
    waiting = [f"`{step.name}`" for step in steps if step.opcode.endswith("-done")]
    return [Fact("waited for by", listed(waiting, _SHOWN))] if waiting else []


def _partition_facts(text: InstructionText, line: Located[InstructionLine] | None) -> list[Fact]:
    """Shardings and groups of devices in words."""
    return [*sharding_words(text, None if line is None else line.file), *group_facts(text)]


def sharding_words(text: InstructionText, file: DumpFile | None) -> list[Fact]:
    """How the result is spread over devices, and what one of them holds where that is known."""
    sharding = text.attribute("sharding")
    if sharding is None:
        return []
    printed = None if file is None else printed_shapes(file)
    shape = try_shape(text.shape.text) if printed is not None else None
    return sharding_facts(sharding.text.strip(), shape, printed or Printed.WHOLE)


def _size_facts(dump: DumpSet, name: str, index: str | None, shape: str) -> list[Fact]:
    """Bytes of a result; padded ones only where the layout that counts is printed.

    Before buffer assignment, and inside of fusions, an untiled shape says nothing of memory.
    """
    value = dump.value_at(name, index)
    if value is None and "T(" not in shape:
        return logical_facts(shape)
    size = None if value is None or value.assigned is None else value.assigned.record.size
    color = 0 if value is None else value.color or 0
    return size_facts(shape, target_of(dump), color, size)
