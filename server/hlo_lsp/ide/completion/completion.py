"""What may be written at a place of a module text, the likely first."""

from collections.abc import Iterable, Iterator

from hlo_lsp.hlo.entries import Opcode
from hlo_lsp.hlo.vocabulary import vocabulary
from hlo_lsp.ide.completion import attributes, names
from hlo_lsp.ide.completion.candidates import Candidate, Kind, Offer, best, of_opcode, word
from hlo_lsp.ide.completion.draft import Draft, draft_at
from hlo_lsp.ide.completion.slots import (
    AttributeSlot,
    Beginning,
    HeaderSlot,
    KeyValueSlot,
    OpcodeSlot,
    OperandSlot,
    ShapeSlot,
    Slot,
    Surroundings,
    ValueSlot,
    slot_of,
    surroundings,
)
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.shape import without_layout
from hlo_lsp.syntax.file_kinds import FileKind

_ENTRY = "ENTRY %${1:main} (${2:p}: ${3:f32[]}) -> ${4:f32[]} {\n  $0\n}"
_MODULE = Candidate(
    "HloModule", Kind.KEYWORD, "HloModule ", "HloModule ${1:name}", "", ("keyword", "HloModule")
)
_FIRST_LINES = 60  # as many as are looked at to tell the kind of a file
_USUAL_TYPES = ("f32", "bf16", "s32", "pred", "f16", "u32", "s8", "u8")


def completions(file: DumpFile, line: int, column: int, trigger: str = "") -> Offer | None:
    """What may be written at a line and column (code points, from 0); None where nothing fits.

    ``trigger`` is the character after which the editor asked by itself. The file must be fresh.
    """
    draft = draft_at(file, line, column) if file.kind is FileKind.MODULE else None
    slot = None if draft is None else slot_of(draft)
    if draft is None or slot is None or (isinstance(slot, Beginning) and trigger):
        return None  # at the beginning of a line the next key is often the end of the line
    start, end = draft.word
    if isinstance(slot, ShapeSlot):
        shape_start = draft.column_of(slot.start)
        start = start if shape_start is None else shape_start
    typed = file.lines[line][start:column]
    found, complete = best(_candidates(draft, slot, surroundings(draft), typed), typed)
    return Offer(found, start, end, complete) if found else None


def beginnings(file: DumpFile, line: int, column: int) -> Offer | None:
    """What a file may begin with that is empty but for the word at the cursor."""
    text = file.lines[line]
    others = (*file.lines[:line], *file.lines[line + 1 : line + _FIRST_LINES])
    if file.kind is not FileKind.OTHER or not text[:column].isalpha() or text[column:].strip():
        return None
    if any(other.strip() for other in others):
        return None
    return Offer([_MODULE], 0, column)


def _candidates(draft: Draft, slot: Slot, around: Surroundings, typed: str) -> Iterable[Candidate]:
    match slot:
        case Beginning():
            return () if typed.startswith("%") else _beginnings(draft, around)
        case ShapeSlot():
            return _shapes(slot, around)
        case OpcodeSlot():
            return _opcodes(around)
        case OperandSlot(opcode="parameter"):
            return [word(str(_next_parameter(around)), Kind.VALUE)]
        case OperandSlot(opcode="constant"):
            flags = ("true", "false") if without_layout(slot.shape) == "pred[]" else ()
            return [word(flag, Kind.VALUE) for flag in flags]
        case OperandSlot():
            return names.operands(draft, slot, around, typed)
        case AttributeSlot():
            return attributes.of_opcode(slot.opcode, slot.present)
        case HeaderSlot():
            return attributes.of_header(slot.present)
        case ValueSlot():
            return attributes.values(draft, slot, around, typed)
        case KeyValueSlot():
            return attributes.key_values(draft.file, slot)


def _beginnings(draft: Draft, around: Surroundings) -> Iterator[Candidate]:
    if around.head is not None:
        if not any(found.is_root for found in around.above):
            yield Candidate(
                "ROOT", Kind.KEYWORD, "ROOT ", detail="result", about=("keyword", "ROOT")
            )
        return
    module = draft.file.module
    computations = module.all_computations()
    if module.header is None:
        yield _MODULE
    if not any(computation.is_entry for computation in computations):
        yield Candidate("ENTRY", Kind.KEYWORD, "ENTRY ", _ENTRY, "", ("keyword", "ENTRY"))
    if not any(computation.line < draft.line for computation in computations):
        rows = module.tables.rows
        for name in vocabulary().tables:
            if not rows.get(name):
                yield word(name, Kind.TABLE, about=("table", name))


def _shapes(slot: ShapeSlot, around: Surroundings) -> Iterator[Candidate]:
    """Shapes of the computation, element types, then opcodes: the shape may be left out."""
    seen = set()
    for found in around.above:
        if found.shape and found.shape not in seen:
            seen.add(found.shape)
            yield word(found.shape, Kind.SHAPE, f"as %{found.name}")
    types = vocabulary().element_types
    for name in dict.fromkeys((*_USUAL_TYPES, *types)):
        yield Candidate(name, Kind.TYPE, f"{name}[]", f"{name}[$1]", about=("type", name))
    if slot.of_instruction:
        yield from _opcodes(around)


def _opcodes(around: Surroundings) -> Iterator[Candidate]:
    """All opcodes: those that the computation has used last, then the others by name."""
    words = vocabulary()
    used = dict.fromkeys(found.opcode for found in around.above if found.opcode in words.opcodes)
    for name in dict.fromkeys((*used, *sorted(words.opcodes))):
        opcode = words.opcodes[name]
        snippet = of_opcode(opcode, words, _literal(opcode, around))
        yield Candidate(name, Kind.OPCODE, name, snippet, _operands(opcode), ("opcode", name))


def _operands(opcode: Opcode) -> str:
    shown = (operand.name + "..." * operand.repeated for operand in opcode.operands)
    return f"({', '.join(shown)})"


def _literal(opcode: Opcode, around: Surroundings) -> str:
    if opcode.name == "parameter":
        return str(_next_parameter(around))
    return "0" if opcode.name == "constant" else ""


def _next_parameter(around: Surroundings) -> int:
    numbers = [found.number for found in around.above if found.number is not None]
    return max(numbers, default=-1) + 1
