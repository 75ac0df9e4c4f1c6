"""Completion in module text."""

from collections.abc import Iterable, Iterator

from hlo_lsp.hlo.specs import OpcodeSpec
from hlo_lsp.hlo.vocabulary import vocabulary
from hlo_lsp.ide.completion import attribute_candidates as attributes
from hlo_lsp.ide.completion import name_candidates as names
from hlo_lsp.ide.completion.candidates import (
    Candidate,
    CandidateKind,
    CandidateList,
    best_candidates,
    opcode_snippet,
    plain_candidate,
)
from hlo_lsp.ide.completion.draft import Draft, draft_at
from hlo_lsp.ide.completion.slots import (
    AttributeSlot,
    CompletionScope,
    HeaderSlot,
    KeyValueSlot,
    OpcodeSlot,
    OperandSlot,
    ShapeSlot,
    Slot,
    StatementStartSlot,
    ValueSlot,
    completion_scope,
    slot_at,
)
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.shape import without_layout
from hlo_lsp.syntax.file_kinds import FileKind

_ENTRY_SNIPPET = "ENTRY %${1:main} (${2:p}: ${3:f32[]}) -> ${4:f32[]} {\n  $0\n}"
_MODULE_CANDIDATE = Candidate(
    "HloModule",
    CandidateKind.KEYWORD,
    "HloModule ",
    "HloModule ${1:name}",
    "",
    ("keyword", "HloModule"),
)
_KIND_DETECTION_LINES = 60  # must cover the lines that file kind detection reads
_FREQUENT_ELEMENT_TYPES = ("f32", "bf16", "s32", "pred", "f16", "u32", "s8", "u8")


def completions(file: DumpFile, line: int, column: int, trigger: str = "") -> CandidateList | None:
    """Return the candidates at a position, or None if there are none.

    Args:
        file: A module text whose records are up to date.
        line: The line of the cursor, from 0.
        column: The column of the cursor in code points, from 0.
        trigger: The character that made the editor request completion, if any.
    """
    draft = draft_at(file, line, column) if file.kind is FileKind.MODULE else None
    slot = None if draft is None else slot_at(draft)
    if draft is None or slot is None or (isinstance(slot, StatementStartSlot) and trigger):
        return None  # At the start of a line, the next key is often Enter, which would accept.
    start, end = draft.word
    if isinstance(slot, ShapeSlot):
        shape_start = draft.column_of(slot.start)
        start = start if shape_start is None else shape_start
    typed = file.lines[line][start:column]
    found, complete = best_candidates(
        _candidates(draft, slot, completion_scope(draft), typed), typed
    )
    return CandidateList(found, start, end, complete) if found else None


def file_start_completions(file: DumpFile, line: int, column: int) -> CandidateList | None:
    """Return the candidates for a file that contains only the word at the cursor."""
    text = file.lines[line]
    others = (*file.lines[:line], *file.lines[line + 1 : line + _KIND_DETECTION_LINES])
    if file.kind is not FileKind.OTHER or not text[:column].isalpha() or text[column:].strip():
        return None
    if any(other.strip() for other in others):
        return None
    return CandidateList([_MODULE_CANDIDATE], 0, column)


def _candidates(
    draft: Draft, slot: Slot, scope: CompletionScope, typed: str
) -> Iterable[Candidate]:
    match slot:
        case StatementStartSlot():
            return () if typed.startswith("%") else _statement_start_candidates(draft, scope)
        case ShapeSlot():
            return _shape_candidates(slot, scope)
        case OpcodeSlot():
            return _opcode_candidates(scope)
        case OperandSlot(opcode="parameter"):
            return [plain_candidate(str(_next_parameter_number(scope)), CandidateKind.VALUE)]
        case OperandSlot(opcode="constant"):
            flags = ("true", "false") if without_layout(slot.shape) == "pred[]" else ()
            return [plain_candidate(flag, CandidateKind.VALUE) for flag in flags]
        case OperandSlot():
            return names.operand_candidates(draft, slot, scope, typed)
        case AttributeSlot():
            return attributes.instruction_attributes(slot.opcode, slot.present)
        case HeaderSlot():
            return attributes.module_attributes(slot.present)
        case ValueSlot():
            return attributes.attribute_values(draft, slot, scope, typed)
        case KeyValueSlot():
            return attributes.key_values(draft.file, slot)


def _statement_start_candidates(draft: Draft, scope: CompletionScope) -> Iterator[Candidate]:
    if scope.head is not None:
        if not any(found.is_root for found in scope.above):
            yield Candidate(
                "ROOT", CandidateKind.KEYWORD, "ROOT ", detail="result", about=("keyword", "ROOT")
            )
        return
    module = draft.file.module
    computations = module.all_computations()
    if module.header is None:
        yield _MODULE_CANDIDATE
    if not any(computation.is_entry for computation in computations):
        yield Candidate(
            "ENTRY", CandidateKind.KEYWORD, "ENTRY ", _ENTRY_SNIPPET, "", ("keyword", "ENTRY")
        )
    if not any(computation.line < draft.line for computation in computations):
        rows = module.tables.rows
        for name in vocabulary().tables:
            if not rows.get(name):
                yield plain_candidate(name, CandidateKind.TABLE, about=("table", name))


def _shape_candidates(slot: ShapeSlot, scope: CompletionScope) -> Iterator[Candidate]:
    """Yield the shapes used above, the element types, and the opcodes if no shape is required."""
    seen = set()
    for found in scope.above:
        if found.shape and found.shape not in seen:
            seen.add(found.shape)
            yield plain_candidate(found.shape, CandidateKind.SHAPE, f"shape of %{found.name}")
    types = vocabulary().element_types
    for name in dict.fromkeys((*_FREQUENT_ELEMENT_TYPES, *types)):
        yield Candidate(name, CandidateKind.TYPE, f"{name}[]", f"{name}[$1]", about=("type", name))
    if slot.of_instruction:
        yield from _opcode_candidates(scope)


def _opcode_candidates(scope: CompletionScope) -> Iterator[Candidate]:
    """Yield all opcodes: first those used above, most recent first, then the others by name."""
    words = vocabulary()
    used = dict.fromkeys(found.opcode for found in scope.above if found.opcode in words.opcodes)
    for name in dict.fromkeys((*used, *sorted(words.opcodes))):
        opcode = words.opcodes[name]
        snippet = opcode_snippet(opcode, words, _default_literal(opcode, scope))
        yield Candidate(
            name, CandidateKind.OPCODE, name, snippet, _operand_summary(opcode), ("opcode", name)
        )


def _operand_summary(opcode: OpcodeSpec) -> str:
    shown = (operand.name + "..." * operand.repeated for operand in opcode.operands)
    return f"({', '.join(shown)})"


def _default_literal(opcode: OpcodeSpec, scope: CompletionScope) -> str:
    if opcode.name == "parameter":
        return str(_next_parameter_number(scope))
    return "0" if opcode.name == "constant" else ""


def _next_parameter_number(scope: CompletionScope) -> int:
    numbers = [found.number for found in scope.above if found.number is not None]
    return max(numbers, default=-1) + 1
