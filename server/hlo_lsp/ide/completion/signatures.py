"""Signature help for the instruction at the cursor."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from hlo_lsp.hlo.vocabulary import (
    OpcodeSpec,
    OperandPassing,
    OperandSpec,
    operand_description,
    vocabulary,
)
from hlo_lsp.ide.completion.slots import OperandSlot, slot_at
from hlo_lsp.ide.completion.unfinished_statement import (
    CompletionScope,
    Draft,
    callee_parameters,
    completion_scope,
    draft_at,
    operand_texts,
)
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.syntax.statements import closing_bracket, comma_separated_spans

_ATTRIBUTE = re.compile(r"\s*([\w\-]+)(=?)")
_LITERAL_PARAMETERS = {
    "parameter": ("number", "The number of the argument, from 0."),
    "constant": ("literal", "The value, with one level of braces per dimension."),
}


@dataclass(frozen=True, slots=True)
class SignatureParameter:
    """A part of a signature label, from ``start`` to ``end``, and its description."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class OpcodeSignature:
    """An opcode with its operands, such as ``add(lhs, rhs)``, or with its attributes.

    ``active`` is the index of the parameter at the cursor.
    """

    label: str
    text: str
    parameters: tuple[SignatureParameter, ...]
    active: int


def signature_at(file: DumpFile, line: int, column: int) -> OpcodeSignature | None:
    """Return the signature of the opcode at a line and column (code points, from 0), if known."""
    draft = draft_at(file, line, column)
    if draft is None or draft.parts is None:
        return None
    close = closing_bracket(draft.text_before, draft.parts.opened - 1)
    if close is not None:
        opcode = vocabulary().opcode(draft.parts.opcode)
        return None if opcode is None else _attribute_signature(draft, opcode, close + 1)
    slot = slot_at(draft)
    opcode = vocabulary().opcode(slot.opcode) if isinstance(slot, OperandSlot) else None
    if opcode is None or not isinstance(slot, OperandSlot):
        return None
    return _operand_signature(draft, opcode, slot)


def _operand_signature(
    draft: Draft, opcode: OpcodeSpec, slot: OperandSlot
) -> OpcodeSignature | None:
    if opcode.name in _LITERAL_PARAMETERS:
        return _build_signature(opcode, [_LITERAL_PARAMETERS[opcode.name]], 0)
    if not opcode.operands:
        return None
    scope = completion_scope(draft)
    written = operand_texts(draft.text, slot.opened)
    if opcode.passes is OperandPassing.POSITIONS:
        shown = [
            (f"{found.name}: {found.shape}", _written_operand_hint(scope, written, number))
            for number, found in enumerate(callee_parameters(draft))
        ]
        if shown:
            return _build_signature(opcode, shown, min(slot.number, len(shown) - 1))
    count = max(len(written), slot.number + 1)
    active = operand_position(opcode.operands, slot.number, count)
    shown = []
    for place, operand in enumerate(opcode.operands):
        hints = [operand_description(operand.name, opcode.name)]
        if place == active:
            hints.append(_written_operand_hint(scope, written, slot.number))
        shown.append((operand.name + "..." * operand.repeated, " ".join(filter(None, hints))))
    return _build_signature(opcode, shown, active)


def _attribute_signature(draft: Draft, opcode: OpcodeSpec, start: int) -> OpcodeSignature | None:
    items = draft.items_before(start)
    if len(items) < 2:
        return None
    words = vocabulary()
    match = _ATTRIBUTE.match(draft.text_before, *items[-1])
    current = match[1] if match is not None and match[2] else None
    names = list(opcode.attributes)
    if current is not None and current not in names and words.attribute(current, opcode.name):
        names.append(current)
    if not names or (current is not None and current not in names):
        return None
    written = (
        _ATTRIBUTE.match(draft.text, *span)
        for span in comma_separated_spans(draft.text, start, len(draft.text))
    )
    present = {found[1] for found in written if found is not None}
    active = current or next((name for name in names if name not in present), names[0])
    known = [(f"{name}=", words.attribute(name, opcode.name)) for name in names]
    shown = [(label, "" if about is None else about.text) for label, about in known]
    operands = ", ".join(item.name + "..." * item.repeated for item in opcode.operands)
    if opcode.name in _LITERAL_PARAMETERS:
        operands = _LITERAL_PARAMETERS[opcode.name][0]
    return _build_signature(opcode, shown, names.index(active), f"{opcode.name}({operands}), ", "")


def operand_position(operands: Sequence[OperandSpec], number: int, count: int) -> int:
    """Return which entry of an operand list operand ``number`` of ``count`` belongs to.

    Repeated entries take equally many operands; the last one takes the rest.
    """
    repeated = sum(operand.repeated for operand in operands)
    each = max(1, -(-(count - len(operands) + repeated) // repeated)) if repeated else 1
    ends = accumulate(each if operand.repeated else 1 for operand in operands)
    return next((place for place, end in enumerate(ends) if number < end), len(operands) - 1)


def _written_operand_hint(scope: CompletionScope, written: Sequence[str], number: int) -> str:
    found = scope.operand(written[number]) if number < len(written) else None
    return "" if found is None else f"Current operand: `{found.name}: {found.shape}`."


def _build_signature(
    opcode: OpcodeSpec,
    shown: Sequence[tuple[str, str]],
    active: int,
    label: str = "",
    end: str = ")",
) -> OpcodeSignature:
    label = label or f"{opcode.name}("
    found = []
    for number, (name, text) in enumerate(shown):
        label += ", " if number else ""
        found.append(SignatureParameter(len(label), len(label) + len(name), text))
        label += name
    return OpcodeSignature(label + end, opcode.text, tuple(found), active)
