"""What only instructions of one opcode have: a literal, a target, a number, a count of turns."""

import re

from hlo_lsp.analysis.cards.card import Fact, listed
from hlo_lsp.analysis.module.flow import element_sources, operands_of_parameter
from hlo_lsp.model.module_index import ModuleIndex, parameter_number
from hlo_lsp.model.value import Located
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
