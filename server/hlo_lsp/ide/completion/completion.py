"""Completion in module text, and in FileCheck directives of an HLO test."""

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from hlo_lsp.hlo.vocabulary import AttributeKind, AttributeSpec, vocabulary
from hlo_lsp.ide.completion.candidates import (
    Candidate,
    CandidateKind,
    CandidateList,
    best_candidates,
    opcode_snippet,
    placeholder,
    plain_candidate,
    value_snippet,
)
from hlo_lsp.ide.completion.slots import (
    AttributeSlot,
    KeyValueSlot,
    OpcodeSlot,
    OperandSlot,
    ShapeSlot,
    Slot,
    StatementStartSlot,
    ValueSlot,
    attribute_keys,
    slot_at,
)
from hlo_lsp.ide.completion.unfinished_statement import (
    CompletionScope,
    Draft,
    completion_scope,
    draft_at,
    operand_texts,
)
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.shape import element_texts, without_layout
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.filecheck import is_directive, resolved_captures
from hlo_lsp.syntax.module_records import InlineComputation

_CAPTURE_START = re.compile(r"\[\[#?(\$?\w*)$")  # a FileCheck variable
_NAME_START = re.compile(r"%([\w.\-]*)$")
_ELEMENT_START = re.compile(r"(?<![\w.\-#])(%?[A-Za-z_][\w.\-]*(?:#\d+)*)#\d*$")
_ENTRY_SNIPPET = "ENTRY %${1:main} (${2:p}: ${3:f32[]}) -> ${4:f32[]} {\n  $0\n}"
_KIND_DETECTION_LINES = 60  # must cover the lines that file kind detection reads
_FREQUENT_ELEMENT_TYPES = ("f32", "bf16", "s32", "pred", "f16", "u32", "s8", "u8")
_LIST_KINDS = {AttributeKind.ENUMS, AttributeKind.COMPUTATIONS, AttributeKind.INSTRUCTIONS}
# The keys of these attributes take values; the keys of the others are bare words.
_ATTRIBUTES_WITH_KEY_VALUES = {
    *("metadata", "window", "result_accuracy", "statistics", "domain", "sparsity_config"),
    "block_scaling_config",
}
# These keys take strings, the others take numbers (metadata.cc).
_STRING_METADATA_KEYS = {
    *("op_type", "op_name", "source_file", "deduplicated_name", "scheduling_name"),
    "metadata_payload",
}
_FREQUENT_ATTRIBUTES = {"metadata", "sharding"}
_FREQUENT_METADATA_KEYS = ("op_name", "stack_frame_id", "source_file", "source_line")


def completions(file: DumpFile, line: int, column: int, trigger: str = "") -> CandidateList | None:
    """Return the candidates at a line and column (code points, from 0) of an up-to-date module.

    The result is None without candidates. ``trigger`` is the character that made the editor request
    completion, if any.
    """
    if is_directive(file.lines[line]):
        return _filecheck_completions(file, line, column)
    draft = draft_at(file, line, column)
    slot = None if draft is None else slot_at(draft)
    if draft is None or slot is None or (isinstance(slot, StatementStartSlot) and trigger):
        return None  # At the start of a line, the next key is often Enter, which would accept.
    start, end = draft.word
    if isinstance(slot, ShapeSlot):
        shape_start = draft.column_of(slot.start)
        start = start if shape_start is None else shape_start
    typed = file.lines[line][start:column]
    candidates = _candidates(draft, slot, completion_scope(draft), typed)
    found, complete = best_candidates(candidates, typed)
    return CandidateList(found, start, end, complete) if found else None


def file_start_completions(file: DumpFile, line: int, column: int) -> CandidateList | None:
    """Return the candidates for a file that contains only the word at the cursor."""
    text = file.lines[line]
    others = (*file.lines[:line], *file.lines[line + 1 : line + _KIND_DETECTION_LINES])
    if file.kind is not FileKind.OTHER or not text[:column].isalpha() or text[column:].strip():
        return None
    if any(other.strip() for other in others):
        return None
    return CandidateList([_keyword("HloModule", "HloModule ${1:name}")], 0, column)


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
            holder = _ELEMENT_START.search(draft.text_before)
            if holder is not None:
                return _element_candidates(scope, holder[1])
            return operand_candidates(draft, slot, scope, typed)
        case AttributeSlot(opcode=None):
            header = vocabulary().header
            missing = (header[name] for name in header if name not in slot.present)
            return (_attribute_candidate(each, "", "header") for each in missing)
        case AttributeSlot(opcode=str(opcode)):
            return _instruction_attributes(opcode, slot.present)
        case ValueSlot():
            return _attribute_values(draft, slot, scope, typed)
        case KeyValueSlot():
            return _key_values(draft.file, slot)
    return ()


def _keyword(name: str, snippet: str | None = None, detail: str = "") -> Candidate:
    about = ("keyword", name)
    return Candidate(name, CandidateKind.KEYWORD, f"{name} ", snippet, detail, about)


def _statement_start_candidates(draft: Draft, scope: CompletionScope) -> Iterator[Candidate]:
    if scope.head is not None:
        if not any(found.is_root for found in scope.above):
            yield _keyword("ROOT", detail="result")
        return
    module = draft.file.module
    computations = module.all_computations()
    if module.header is None:
        yield _keyword("HloModule", "HloModule ${1:name}")
    if not any(computation.is_entry for computation in computations):
        yield _keyword("ENTRY", _ENTRY_SNIPPET)
    if not any(computation.line < draft.line for computation in computations):
        rows = module.tables.rows
        for name in vocabulary().tables:
            if not rows.get(name):
                yield plain_candidate(name, CandidateKind.TABLE, about=("table", name))


def _shape_candidates(slot: ShapeSlot, scope: CompletionScope) -> Iterator[Candidate]:
    """Yield the shapes used above, the element types, and the opcodes if no shape is required."""
    nearest: dict[str, str] = {}
    for found in scope.above:
        nearest.setdefault(found.shape, found.name)
    for shape, name in nearest.items():
        if shape:
            yield plain_candidate(shape, CandidateKind.SHAPE, f"shape of %{name}")
    for name in dict.fromkeys((*_FREQUENT_ELEMENT_TYPES, *vocabulary().element_types)):
        yield Candidate(name, CandidateKind.TYPE, f"{name}[]", f"{name}[$1]", about=("type", name))
    if slot.of_instruction:
        yield from _opcode_candidates(scope)


def _opcode_candidates(scope: CompletionScope) -> Iterator[Candidate]:
    """Yield all opcodes: first those used above, most recent first, then the others by name."""
    words = vocabulary()
    literals = {"parameter": str(_next_parameter_number(scope)), "constant": "0"}
    used = dict.fromkeys(found.opcode for found in scope.above if found.opcode in words.opcodes)
    for name in dict.fromkeys((*used, *sorted(words.opcodes))):
        opcode = words.opcodes[name]
        snippet = opcode_snippet(opcode, words, literals.get(name, ""))
        operands = ", ".join(operand.name + "..." * operand.repeated for operand in opcode.operands)
        about = ("opcode", name)
        yield Candidate(name, CandidateKind.OPCODE, name, snippet, f"({operands})", about)


def _next_parameter_number(scope: CompletionScope) -> int:
    numbers = [found.number for found in scope.above if found.number is not None]
    return max(numbers, default=-1) + 1


def _instruction_attributes(opcode: str, present: frozenset[str]) -> Iterator[Candidate]:
    """Yield the missing attributes of an instruction: required, then specific, then common ones."""
    words = vocabulary()
    known = words.opcode(opcode)
    groups = () if known is None else known.required
    # The attributes of a group exclude each other.
    closed = {name for group in groups if present & set(group) for name in group}
    missing = {name for group in groups if not present & set(group) for name in group}
    own = () if known is None else known.attributes
    common = sorted(words.common, key=lambda name: name not in _FREQUENT_ATTRIBUTES)
    for name in dict.fromkeys((*own, *common)):
        attribute = words.attribute(name, opcode)
        if attribute is not None and name not in present | closed:
            detail = "required" if name in missing else "" if name in own else "common"
            yield _attribute_candidate(attribute, detail, f"attribute {opcode}")


def _attribute_candidate(attribute: AttributeSpec, detail: str, category: str) -> Candidate:
    insert = f"{attribute.name}="
    snippet, about = insert + value_snippet(attribute, 1), (category, attribute.name)
    return Candidate(attribute.name, CandidateKind.ATTRIBUTE, insert, snippet, detail, about)


def _attribute_values(
    draft: Draft, slot: ValueSlot, scope: CompletionScope, typed: str
) -> Iterable[Candidate]:
    """Return the candidates for the value of an attribute, or for an item in its braces."""
    words = vocabulary()
    attribute = (
        words.header.get(slot.attribute)
        if slot.opcode is None
        else words.attribute(slot.attribute, slot.opcode)
    )
    if attribute is None:
        return ()
    if slot.within is not None and attribute.keys:
        return _key_candidates(attribute, slot.within)
    if (slot.opcode, slot.attribute) == ("get-tuple-element", "index"):
        return list(_tuple_index_candidates(draft, scope)) or [_example_candidate(attribute)]
    if attribute.kind.names_computations:
        items = list(computation_candidates(draft, scope, typed))
    elif attribute.kind is AttributeKind.INSTRUCTIONS:
        items = list(instruction_candidates(draft, scope, typed))
    else:
        items = [plain_candidate(value, CandidateKind.VALUE) for value in attribute.values]
    if attribute.kind not in _LIST_KINDS:
        return () if slot.within is not None else items or [_example_candidate(attribute)]
    if slot.within is None:
        return [
            item._replace(
                label=f"{{{item.insert}}}",
                insert=f"{{{item.insert}}}",
                snippet=f"{{{placeholder(1, item.insert)}}}",
            )
            for item in items
        ]
    there = {item.strip().removeprefix("%") for item in slot.within.split(",")[:-1]}
    return (item for item in items if item.label.removeprefix("%") not in there)


def _key_values(file: DumpFile, slot: KeyValueSlot) -> Iterator[Candidate]:
    """Yield the ``StackFrames`` rows for ``stack_frame_id=``, each with its Python line."""
    if (slot.attribute, slot.key) == ("metadata", "stack_frame_id"):
        tables = file.module.tables
        for number in range(1, len(tables.frames) + 1):
            innermost = next(tables.stack(number), None)
            detail = "" if innermost is None else str(innermost)
            yield plain_candidate(str(number), CandidateKind.VALUE, detail)


def _tuple_index_candidates(draft: Draft, scope: CompletionScope) -> Iterator[Candidate]:
    """Yield the element numbers of the operand with their shapes."""
    texts = [] if draft.parts is None else operand_texts(draft.text_before, draft.parts.opened)
    return _element_candidates(scope, texts[0]) if texts else iter(())


def _element_candidates(scope: CompletionScope, holder: str) -> Iterator[Candidate]:
    """Yield the numbers of the elements of a tuple with their shapes."""
    operand = scope.operand(holder)
    elements = None if operand is None else element_texts(without_layout(operand.shape))
    for number, shape in enumerate(elements or ()):
        yield plain_candidate(str(number), CandidateKind.VALUE, shape)


def _key_candidates(attribute: AttributeSpec, within: str) -> Iterator[Candidate]:
    present = attribute_keys(within)
    usual = [key for key in _FREQUENT_METADATA_KEYS if key in attribute.keys]
    for key in dict.fromkeys((*usual, *attribute.keys)):
        about = (f"key {attribute.name}", key)
        if key in present:
            continue
        if attribute.name not in _ATTRIBUTES_WITH_KEY_VALUES:
            yield plain_candidate(key, CandidateKind.KEY, about=about)
        else:
            is_string = attribute.name == "metadata" and key in _STRING_METADATA_KEYS
            snippet = f'{key}="$1"' if is_string else None
            yield Candidate(key, CandidateKind.KEY, f"{key}=", snippet, about=about)


def _example_candidate(attribute: AttributeSpec) -> Candidate:
    text, snippet = attribute.example, value_snippet(attribute, 1)
    return Candidate(text, CandidateKind.EXAMPLE, text, snippet, "example")


def operand_candidates(
    draft: Draft, slot: OperandSlot, scope: CompletionScope, typed: str
) -> list[Candidate]:
    """Return the instructions above in this computation, nearest first.

    Those with the dimensions of the result come first; for an element of a tuple, tuples do.
    """
    dims = _dimensions(slot.shape)

    def differs(candidate: Candidate) -> bool:
        is_tuple = candidate.detail.startswith("(")
        wanted = (
            is_tuple
            if slot.opcode == "get-tuple-element"
            else dims == _dimensions(candidate.detail)
        )
        return not wanted

    return sorted(instruction_candidates(draft, scope, typed), key=differs)


def _dimensions(shape: str) -> str:
    """Return the dimensions of an array shape, ``[8,128]``, or the whole text of a tuple shape."""
    bare = without_layout(shape)
    return bare if bare.startswith("(") else bare[bare.find("[") :]


def instruction_candidates(draft: Draft, scope: CompletionScope, typed: str) -> Iterator[Candidate]:
    """Yield the instructions above in this computation, nearest first, with shapes as details."""
    sign = _name_prefix(draft, typed)
    for found in scope.above:
        about = (f"line {found.line}", found.name)
        yield plain_candidate(sign + found.name, CandidateKind.INSTRUCTION, found.shape, about)


def computation_candidates(draft: Draft, scope: CompletionScope, typed: str) -> Iterator[Candidate]:
    """Yield the computations above this one, nearest first."""
    line = scope.head.line if scope.head is not None else draft.line
    sign = _name_prefix(draft, typed)
    for found in reversed(draft.file.module.all_computations()):
        if found.line < line and not found.is_entry and not isinstance(found, InlineComputation):
            about = (f"line {found.line}", found.name)
            yield plain_candidate(sign + found.name, CandidateKind.COMPUTATION, "", about)


def _name_prefix(draft: Draft, typed: str) -> str:
    """Return ``%`` or nothing, whichever the surrounding text puts before names."""
    if typed.startswith("%"):
        return "%"
    record = draft.file.records.at(draft.line)
    assert record is not None  # The draft comes from a record on this line.
    above = (draft.file.lines[at] for at in range(record.line - 1, max(record.line - 20, -1), -1))
    lines = (*draft.siblings, *islice(filter(str.strip, above), 3))
    return "" if any(" = " in line and "%" not in line for line in lines) else "%"


def _filecheck_completions(file: DumpFile, line: int, column: int) -> CandidateList | None:
    """Return the captured variables after ``[[``, and the instructions of the file after ``%``."""
    text = file.lines[line][:column]
    if match := _CAPTURE_START.search(text):
        # The last one first, with the line that captures it.
        labels = {
            mention.name: file.lines[mention.line].partition(":")[2].strip()
            for mention in reversed(resolved_captures(file.lines[:line]))
            if mention.is_definition
        }
    elif match := _NAME_START.search(text):
        labels = {record.name: record.shape for record in file.module.printed_instructions()}
    else:
        return None
    typed = match[1]
    candidates = (
        plain_candidate(name, CandidateKind.VALUE, detail) for name, detail in labels.items()
    )
    found, complete = best_candidates(candidates, typed)
    return CandidateList(found, match.start(1), column, complete) if found else None
