"""Signature help for the instruction at the cursor."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hlo_lsp.hlo.specs import OpcodeSpec, OperandSpec
from hlo_lsp.hlo.vocabulary import operand_description, vocabulary
from hlo_lsp.ide.completion.draft import Draft, comma_separated_spans, draft_at
from hlo_lsp.ide.completion.slots import (
    CompletionScope,
    OperandSlot,
    completion_scope,
    computation_parameters,
    instruction_parts,
    operand_texts,
    referenced_computation,
    slot_at,
)
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.module_records import InstructionLine
from hlo_lsp.syntax.statements import closing_bracket

_ATTRIBUTE = re.compile(r"\s*([\w\-]+)(=?)")
_NAME = re.compile(r"%?([A-Za-z_][\w.\-]*)\s*$")
_LITERAL_PARAMETERS = {
    "parameter": ("number", "The number of the argument, from 0."),
    "constant": ("literal", "The value, with one level of braces per dimension."),
}
_OPCODES_PASSING_OPERANDS = ("fusion", "call", "async-start")
_BRANCH_ATTRIBUTES = ("true_computation", "false_computation")


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
    """Return the signature of the opcode at a position, or None if there is no known opcode.

    Args:
        file: A module text whose records are up to date.
        line: The line of the cursor, from 0.
        column: The column of the cursor in code points, from 0.
    """
    draft = draft_at(file, line, column) if file.kind is FileKind.MODULE else None
    parts = None if draft is None else instruction_parts(draft.text_before)
    if draft is None or parts is None:
        return None
    close = closing_bracket(draft.text_before, parts.opened - 1)
    if close is not None:
        opcode = vocabulary().opcode(parts.opcode)
        return None if opcode is None else _attribute_signature(draft, opcode, close + 1)
    slot = slot_at(draft)
    if not isinstance(slot, OperandSlot):
        return None
    opcode = vocabulary().opcode(slot.opcode)
    return None if opcode is None else _operand_signature(draft, opcode, slot)


def _operand_signature(
    draft: Draft, opcode: OpcodeSpec, slot: OperandSlot
) -> OpcodeSignature | None:
    if opcode.name in _LITERAL_PARAMETERS:
        return _build_signature(opcode, [_LITERAL_PARAMETERS[opcode.name]], 0)
    if not opcode.operands:
        return None
    scope = completion_scope(draft)
    written = operand_texts(draft.text, slot.opened)
    parameters = [
        parameter for parameter in _callee_parameters(draft, opcode.name) if parameter is not None
    ]
    if opcode.name in _OPCODES_PASSING_OPERANDS and parameters:
        shown = [
            (f"{found.name}: {found.shape}", _written_operand_hint(scope, written, number))
            for number, found in enumerate(parameters)
        ]
        return _build_signature(opcode, shown, min(slot.number, len(shown) - 1))
    count = max(len(written), slot.number + 1)
    active = operand_position(opcode.operands, slot.number, count)
    shown = []
    for place, operand in enumerate(opcode.operands):
        text = operand_description(operand.name, opcode.name)
        if place == active:
            text = _join_sentences(text, _parameter_hint(draft, opcode, slot.number, count))
            text = _join_sentences(text, _written_operand_hint(scope, written, slot.number))
        shown.append((operand.name + "..." * operand.repeated, text))
    return _build_signature(opcode, shown, active)


def _attribute_signature(draft: Draft, opcode: OpcodeSpec, start: int) -> OpcodeSignature | None:
    """Return the signature that lists the attributes of an opcode."""
    places = list(comma_separated_spans(draft.text_before, start, len(draft.text_before)))
    if len(places) < 2:
        return None
    words = vocabulary()
    match = _ATTRIBUTE.match(draft.text_before, *places[-1])
    current = match[1] if match is not None and match[2] else None
    names = list(opcode.attributes)
    if current is not None and current not in names and words.attribute(current, opcode.name):
        names.append(current)
    if not names or (current is not None and current not in names):
        return None
    present = {
        found[1]
        for place in comma_separated_spans(draft.text, start, len(draft.text))
        if (found := _ATTRIBUTE.match(draft.text, *place)) is not None
    }
    missing = [name for name in names if name not in present]
    active = current if current is not None else (missing or names)[0]
    known = [(f"{name}=", words.attribute(name, opcode.name)) for name in names]
    shown = [(label, "" if about is None else about.text) for label, about in known]
    operands = ", ".join(item.name + "..." * item.repeated for item in opcode.operands)
    operands = (
        _LITERAL_PARAMETERS[opcode.name][0] if opcode.name in _LITERAL_PARAMETERS else operands
    )
    return _build_signature(opcode, shown, names.index(active), f"{opcode.name}({operands}), ", "")


def operand_position(operands: Sequence[OperandSpec], number: int, count: int) -> int:
    """Return which entry of an operand list operand ``number`` of ``count`` belongs to.

    Repeated entries take equally many operands; the last one takes the rest.
    """
    repeated = sum(operand.repeated for operand in operands)
    each = max(1, -(-(count - len(operands) + repeated) // repeated)) if repeated else 1
    at = 0
    for place, operand in enumerate(operands):
        at += each if operand.repeated else 1
        if number < at:
            return place
    return len(operands) - 1


def _callee_parameters(draft: Draft, opcode: str) -> Iterator[InstructionLine | None]:
    """Yield the parameters of the callee; for ``conditional``, the parameter of each branch."""
    if opcode == "conditional":
        yield from _branch_parameters(draft)
        return
    attribute = "body" if opcode == "while" else "(?:calls|to_apply)"
    callee = referenced_computation(draft.file, draft.text, attribute)
    yield from () if callee is None else computation_parameters(draft.file, callee)


def _branch_parameters(draft: Draft) -> Iterator[InstructionLine | None]:
    listed = re.search(r"branch_computations=\{([^{}]*)", draft.text)
    names = re.findall(r"[A-Za-z_][\w.\-]*", listed[1]) if listed is not None else []
    branches = [draft.file.module.named(name) for name in names] or [
        referenced_computation(draft.file, draft.text, attribute)
        for attribute in _BRANCH_ATTRIBUTES
    ]
    for branch in branches:
        parameters = [] if branch is None else computation_parameters(draft.file, branch)
        yield parameters[0] if parameters else None


def _parameter_hint(draft: Draft, opcode: OpcodeSpec, number: int, count: int) -> str:
    """Return a sentence that names the callee parameter that receives an operand.

    A reduction passes the accumulators first, then the elements (``hlo_verifier.cc``).
    """
    parameters = list(_callee_parameters(draft, opcode.name))
    if opcode.name == "conditional":
        number -= 1
    elif opcode.name in {"reduce", "reduce-window"}:
        half = count // 2
        number = number + half if number < half else number - half
    elif opcode.name != "while":
        return ""
    found = parameters[number] if 0 <= number < len(parameters) else None
    return "" if found is None else f"Passed as `{found.name}: {found.shape}`."


def _written_operand_hint(scope: CompletionScope, written: Sequence[str], number: int) -> str:
    """Return a sentence about the operand that is already written."""
    name = _NAME.search(written[number]) if number < len(written) else None
    found = None if name is None else scope.named(name[1])
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


def _join_sentences(text: str, more: str) -> str:
    return f"{text} {more}".strip()
