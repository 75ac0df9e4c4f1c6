"""What an instruction takes, while it is being written."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hlo_lsp.hlo.entries import Opcode, Operand
from hlo_lsp.hlo.vocabulary import operand_text, vocabulary
from hlo_lsp.ide.completion.draft import Draft, draft_at, pieces
from hlo_lsp.ide.completion.slots import (
    OperandSlot,
    Surroundings,
    callee_of,
    operand_texts,
    parameters,
    parts_of,
    slot_of,
    surroundings,
)
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.module_records import InstructionLine
from hlo_lsp.syntax.statements import closing

_ATTRIBUTE = re.compile(r"\s*([\w\-]+)(=?)")
_NAME = re.compile(r"%?([A-Za-z_][\w.\-]*)\s*$")
_LITERALS = {
    "parameter": ("number", "Which argument of the computation this is, from 0."),
    "constant": ("literal", "The value, in braces as deep as it has dimensions."),
}
_OPERANDS_ARE_PARAMETERS = ("fusion", "call", "async-start")
_BRANCHES = ("true_computation", "false_computation")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A part of a label, from ``start`` to ``end``, and what it is about."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Signature:
    """``add(lhs, rhs)``, perhaps with attributes behind, and which part is being written."""

    label: str
    text: str
    parameters: tuple[Parameter, ...]
    active: int


def signature_at(file: DumpFile, line: int, column: int) -> Signature | None:
    """The operands or the attributes of the opcode that is written at a line and column.

    Positions are code points from 0; the file must be fresh. None where no opcode is known.
    """
    draft = draft_at(file, line, column) if file.kind is FileKind.MODULE else None
    parts = None if draft is None else parts_of(draft.front)
    if draft is None or parts is None:
        return None
    close = closing(draft.front, parts.opened - 1)
    if close is not None:
        opcode = vocabulary().opcode(parts.opcode)
        return None if opcode is None else _of_attributes(draft, opcode, close + 1)
    slot = slot_of(draft)
    if not isinstance(slot, OperandSlot):
        return None
    opcode = vocabulary().opcode(slot.opcode)
    return None if opcode is None else _of_operands(draft, opcode, slot)


def _of_operands(draft: Draft, opcode: Opcode, slot: OperandSlot) -> Signature | None:
    if opcode.name in _LITERALS:
        return _signature(opcode, [_LITERALS[opcode.name]], 0)
    if not opcode.operands:
        return None
    around = surroundings(draft)
    written = operand_texts(draft.text, slot.opened)
    taken = [parameter for parameter in _taken(draft, opcode.name) if parameter is not None]
    if opcode.name in _OPERANDS_ARE_PARAMETERS and taken:
        shown = [
            (f"{found.name}: {found.shape}", _here(around, written, number))
            for number, found in enumerate(taken)
        ]
        return _signature(opcode, shown, min(slot.number, len(shown) - 1))
    count = max(len(written), slot.number + 1)
    active = place_of(opcode.operands, slot.number, count)
    shown = []
    for place, operand in enumerate(opcode.operands):
        text = operand_text(operand.name, opcode.name)
        if place == active:
            text = _joined(text, _given(draft, opcode, slot.number, count))
            text = _joined(text, _here(around, written, slot.number))
        shown.append((operand.name + "..." * operand.repeated, text))
    return _signature(opcode, shown, active)


def _of_attributes(draft: Draft, opcode: Opcode, start: int) -> Signature | None:
    """The operands in short, then the attributes of the opcode and the one that is written."""
    places = list(pieces(draft.front, start, len(draft.front)))
    if len(places) < 2:
        return None
    words = vocabulary()
    match = _ATTRIBUTE.match(draft.front, *places[-1])
    current = match[1] if match is not None and match[2] else None
    names = list(opcode.attributes)
    if current is not None and current not in names and words.attribute(current, opcode.name):
        names.append(current)
    if not names or (current is not None and current not in names):
        return None
    present = {
        found[1]
        for place in pieces(draft.text, start, len(draft.text))
        if (found := _ATTRIBUTE.match(draft.text, *place)) is not None
    }
    missing = [name for name in names if name not in present]
    active = current if current is not None else (missing or names)[0]
    known = [(f"{name}=", words.attribute(name, opcode.name)) for name in names]
    shown = [(label, "" if about is None else about.text) for label, about in known]
    operands = ", ".join(item.name + "..." * item.repeated for item in opcode.operands)
    operands = _LITERALS[opcode.name][0] if opcode.name in _LITERALS else operands
    return _signature(opcode, shown, names.index(active), f"{opcode.name}({operands}), ", "")


def place_of(operands: Sequence[Operand], number: int, count: int) -> int:
    """Which place of an operand list operand ``number`` of ``count`` takes.

    Places that are repeated take equally many, the last of them all that is left.
    """
    repeated = sum(operand.repeated for operand in operands)
    each = max(1, -(-(count - len(operands) + repeated) // repeated)) if repeated else 1
    at = 0
    for place, operand in enumerate(operands):
        at += each if operand.repeated else 1
        if number < at:
            return place
    return len(operands) - 1


def _taken(draft: Draft, opcode: str) -> Iterator[InstructionLine | None]:
    """What the callee takes; of a ``conditional`` the parameter of each branch."""
    if opcode == "conditional":
        yield from _branch_parameters(draft)
        return
    attribute = "body" if opcode == "while" else "(?:calls|to_apply)"
    callee = callee_of(draft.file, draft.text, attribute)
    yield from () if callee is None else parameters(draft.file, callee)


def _branch_parameters(draft: Draft) -> Iterator[InstructionLine | None]:
    listed = re.search(r"branch_computations=\{([^{}]*)", draft.text)
    names = re.findall(r"[A-Za-z_][\w.\-]*", listed[1]) if listed is not None else []
    branches = [draft.file.module.named(name) for name in names] or [
        callee_of(draft.file, draft.text, attribute) for attribute in _BRANCHES
    ]
    for branch in branches:
        taken = [] if branch is None else parameters(draft.file, branch)
        yield taken[0] if taken else None


def _given(draft: Draft, opcode: Opcode, number: int, count: int) -> str:
    """To which parameter of the callee an operand goes, where the callee is known.

    A reduction gives the accumulators first and then the elements: hlo_verifier.cc.
    """
    taken = list(_taken(draft, opcode.name))
    if opcode.name == "conditional":
        number -= 1
    elif opcode.name in {"reduce", "reduce-window"}:
        half = count // 2
        number = number + half if number < half else number - half
    elif opcode.name != "while":
        return ""
    found = taken[number] if 0 <= number < len(taken) else None
    return "" if found is None else f"Goes to `{found.name}: {found.shape}`."


def _here(around: Surroundings, written: Sequence[str], number: int) -> str:
    """What is written there already."""
    name = _NAME.search(written[number]) if number < len(written) else None
    found = None if name is None else around.named(name[1])
    return "" if found is None else f"Here `{found.name}: {found.shape}`."


def _signature(
    opcode: Opcode,
    shown: Sequence[tuple[str, str]],
    active: int,
    label: str = "",
    end: str = ")",
) -> Signature:
    label = label or f"{opcode.name}("
    found = []
    for number, (name, text) in enumerate(shown):
        label += ", " if number else ""
        found.append(Parameter(len(label), len(label) + len(name), text))
        label += name
    return Signature(label + end, opcode.text, tuple(found), active)


def _joined(text: str, more: str) -> str:
    return f"{text} {more}".strip()
