"""The search for parts of records that have no form that this version knows."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple

from hlo_lsp.hlo.vocabulary import vocabulary
from hlo_lsp.model.regular_instructions import (
    LITERALS,
    VALUE,
    has_regular_instruction,
    is_regular_instruction,
    match_instruction,
    metadata_value,
    value_of,
)
from hlo_lsp.model.unknown_lines import (
    is_shortened,
    is_unknown_instruction,
    is_unknown_record,
    is_unknown_row,
    is_unknown_value_shape,
)
from hlo_lsp.model.unknown_texts import (
    ATTRIBUTE,
    AttributeWords,
    is_known_shape,
    is_shape,
    is_unknown_attribute,
    is_unknown_shape,
    listed_shapes,
    shapes_of_signature,
    unknown_in_shape,
    words_of_headers,
    words_of_instructions,
)
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.grammar import load_grammar
from hlo_lsp.syntax.memory_records import (
    AllocationLine,
    AssignedValue,
    ListedAllocation,
    ReportedAllocation,
    TableRow,
)
from hlo_lsp.syntax.metadata_text import metadata_fields
from hlo_lsp.syntax.module_records import (
    ComputationEnd,
    ComputationLine,
    InnerInstruction,
    InstructionLine,
    LocationRow,
    ModuleHeader,
    with_inner_records,
)
from hlo_lsp.syntax.records import BrokenRecord, Label, Record, UnknownSection
from hlo_lsp.syntax.scanners import REPORT_RULES, fields_of_line, module_scanner
from hlo_lsp.syntax.statements import (
    closing_bracket,
    comma_separated_spans,
    is_balanced,
    is_dots,
    tuple_sharding_texts,
)
from hlo_lsp.syntax.texts_without_names import signature_without_names, texts_without_names
from hlo_lsp.syntax.used_value import UsedValue, instruction_column

LEFT_OUT = "text left out"  # by the author of a snippet


class UnknownPart(NamedTuple):
    """An unknown form in a record of a file, or in one of its inner records.

    Attributes:
        record: The record of the file.
        what: The kind of the part, as messages name it: ``opcode``.
        text: The part.
        row: The line of the record, from 0, on which the columns count.
        start: The first column in the text that begins on this line.
        end: The column after the part.
    """

    record: Record
    what: str
    text: str
    row: int
    start: int
    end: int


def irregular_records(records: Sequence[Record]) -> list[Record]:
    """Return the records except those whose whole text certainly has a known form."""
    forms = texts_without_names([getattr(record, "text", "") for record in records])
    return [
        record
        for record, form in zip(records, forms, strict=True)
        if not _is_regular_record(record, form)
    ]


def _is_regular_record(record: Record, form: str) -> bool:
    """Return True if a record is regular; ``form`` is the text of an instruction without names."""
    kind: Any = type(record)
    if kind is InstructionLine:
        instruction: Any = record
        return is_regular_instruction(instruction, form)
    if kind is ComputationLine:
        head: Any = record
        return not head.members and _is_known_signature(signature_without_names(head.signature))
    if kind is UsedValue:
        entry: Any = record
        return entry.whole and has_regular_instruction(entry.lines[-1])
    if kind is AssignedValue:
        value: Any = record
        return is_known_shape(value.shape)
    return _is_plain_row(kind)


@lru_cache(maxsize=1 << 10)
def _is_known_signature(text: str) -> bool:
    """Return whether all shapes of a signature are known."""
    return all(map(is_known_shape, shapes_of_signature(text)))


@cache
def _is_plain_row(kind: type[Record]) -> bool:
    """Return whether all records of a type have a known form, whatever the file."""
    is_other = issubclass(kind, BrokenRecord | Label | UnknownSection) or kind.rule in REPORT_RULES
    return not is_other and kind not in _FINDERS


def parts_of_record(kind: FileKind, record: Record, lines: Sequence[str]) -> Iterator[UnknownPart]:
    """Yield the unknown parts of a record in a file of a kind with these lines."""
    find = _FINDERS.get(type(record))
    if is_unknown_record(kind, record, lines):
        text = record.text if isinstance(record, BrokenRecord | UnknownSection) else ""
        is_short = is_shortened(text)
        yield _part_of_line(record, LEFT_OUT if is_short else "line", lines[record.line])
    elif find is not None:
        yield from find(record, lines)


def _part_of_line(record: Record, what: str, line: str, row: int = 0) -> UnknownPart:
    start, end = len(line) - len(line.lstrip()), len(line.rstrip())
    return UnknownPart(record, what, line[start:end], row, start, end)


# Memory files.


def _parts_of_entry(entry: UsedValue, _: Sequence[str]) -> Iterator[UnknownPart]:
    if entry.whole:
        row = len(entry.lines) - 1
        line = entry.lines[-1].partition("\n")[0]
        start = instruction_column(line)
        if is_unknown_instruction(entry):
            yield UnknownPart(entry, "line", line[start:], row, start, len(line))
        else:
            for part in _parts_of_text(entry.lines[-1]):
                yield part._replace(record=entry, row=row)
        return
    for row, line in enumerate(entry.lines):
        if is_unknown_row(entry, line):
            yield _part_of_line(entry, "row", line, row)


@lru_cache(maxsize=1 << 4)
def _parts_of_text(line: str) -> tuple[UnknownPart, ...]:
    """Return the parts of the instruction in a line, which all elements of a tuple repeat."""
    found = match_instruction(line)
    if found is None or has_regular_instruction(line):
        return ()
    inner = InnerInstruction.of(found)
    inner.start_column = instruction_column(line)
    return tuple(_parts_of_instruction(inner))


def _parts_of_value(value: AssignedValue, lines: Sequence[str]) -> Iterator[UnknownPart]:
    if is_shape(value.shape) or is_unknown_value_shape(value, lines[value.line]):
        yield from _parts_of_shape(value, value.shape, lines)


def _parts_of_report_row(row: TableRow, lines: Sequence[str]) -> Iterator[UnknownPart]:
    for shape in listed_shapes(row.shapes):
        yield from _parts_of_shape(row, shape, lines)


def _parts_of_shape(record: Record, shape: str, lines: Sequence[str]) -> Iterator[UnknownPart]:
    """Yield the unknown part of a shape on the line of a record of a memory file."""
    found = unknown_in_shape(shape)
    if found is not None:
        start = max(lines[record.line].find(shape), 0)
        yield UnknownPart(record, *found, 0, start, start + len(shape))


def _parts_of_allocation(
    record: AllocationLine | ReportedAllocation, lines: Sequence[str]
) -> Iterator[UnknownPart]:
    line = lines[record.line]
    rule = "by_size_row" if isinstance(record, ListedAllocation) else record.rule
    for field in fields_of_line(rule, line):
        if field.role == "OTHER_FIELD":
            yield UnknownPart(record, "field", field.text, 0, field.start, field.end)
        elif field.role in {"PARAMETER_SHAPE", "OUTPUT_SHAPE"}:
            found = unknown_in_shape(field.text)
            if found is not None:
                yield UnknownPart(record, *found, 0, field.start, field.end)


# Instructions.


@cache
def _operand() -> re.Pattern[str]:
    operand = load_grammar("module").expression("operand").pattern
    return re.compile(rf"(?:(?P<SHAPE>\S(?:.*\S)?)\s+)?{operand}", re.DOTALL)


def _parts_of_outer(record: Record, _: Sequence[str]) -> Iterator[UnknownPart]:
    """Yield the unknown parts of the instructions in a record."""
    for inner in with_inner_records(record):
        if inner is record and isinstance(record, InstructionLine):
            yield from _parts_of_instruction(record)
        elif isinstance(inner, InstructionLine):
            row = inner.line - record.line
            for part in _parts_of_instruction(inner):
                yield part._replace(record=record, row=row)


def _parts_of_instruction(record: InstructionLine) -> Iterator[UnknownPart]:
    text, opcode = record.text, record.spelled
    found = unknown_in_shape(record.shape) if record.shape else None
    if found is not None:
        span = record.parsed.shape
        yield UnknownPart(record, *found, 0, span.start, span.end)
    is_known = vocabulary().opcode(opcode) is not None
    if not is_known and is_balanced(text, record.column):
        span = record.parsed.opcode
        yield UnknownPart(record, "opcode", opcode, 0, span.start, span.end)
    close = closing_bracket(text, record.opened - 1)
    if close is None:
        return  # brackets are damaged
    if opcode in LITERALS:
        literal = text[record.opened : close].strip()
        if literal and not LITERALS[opcode].fullmatch(text, record.opened, close + 1):
            start = text.index(literal, record.opened)
            yield UnknownPart(record, f"{opcode} value", literal, 0, start, start + len(literal))
    elif is_known:
        yield from _parts_of_operands(record, record.opened, close)
    yield from _parts_of_attributes(record, text, close + 1, words_of_instructions())
    yield from _parts_of_metadata(record, text, close + 1)
    yield from _parts_of_values(record, text, close + 1)


def _parts_of_operands(record: InstructionLine, start: int, end: int) -> Iterator[UnknownPart]:
    text = record.text
    if not text[start:end].strip():
        return
    for first, last in comma_separated_spans(text, start, end):
        part = _without_index(text[first:last].strip())
        if not part or _is_known_operand(part):
            continue
        at = text.index(part, first)
        yield UnknownPart(record, "operand", part, 0, at, at + len(part))


def _without_index(part: str) -> str:
    return part.partition("*/")[2].lstrip() if part.startswith("/*index=") else part


def _is_known_operand(part: str) -> bool:
    match = _operand().fullmatch(part)
    if match is not None:
        shape = match["SHAPE"]
        return shape is None or (is_shape(shape) and unknown_in_shape(shape) is None)
    if part.endswith(")") or "), " in part:  # an instruction in the place of an operand
        return module_scanner().lines.read(f"x = {part}") is not None
    return is_dots(part)


# Attributes.


def _parts_of_attributes(
    record: Record, text: str, start: int, words: AttributeWords
) -> Iterator[UnknownPart]:
    if not is_balanced(text, start):
        return
    for number, (first, last) in enumerate(comma_separated_spans(text, start, len(text))):
        part = text[first:last].strip()
        match = ATTRIBUTE.match(part) if number else None
        if match is not None:
            what = words.what
            if match[1] in words.names:
                value = part[match.end() :]
                if f"{match[1]}={value[0]}" in words.beginnings and _is_value(match[1], value):
                    continue
                what = f"form of the {what}"
            at = text.index(match[1], first)
            yield UnknownPart(record, what, match[1], 0, at, at + len(match[1]))
        elif is_unknown_attribute(part, words, is_first=number == 0):
            at = text.index(part, first)
            yield UnknownPart(record, words.what, part, 0, at, at + len(part))


def _is_value(name: str, value: str) -> bool:
    """Return whether a value has the known form, as far as that is known."""
    known = value_of(name) if name in vocabulary().attributes else None
    if known is not None and re.fullmatch(known, value) is None:
        return False
    close = closing_bracket(value, 0) if value.startswith("{") else None
    # The attribute after the value lacks its comma.
    return close in {None, len(value) - 1} or ATTRIBUTE.match(value, close + 1) is not None


def _parts_of_header(record: ModuleHeader, _: Sequence[str]) -> Iterator[UnknownPart]:
    text, end = record.text, record.name_end
    end += text.startswith(":", end)
    yield from _parts_of_attributes(record, text, end, words_of_headers())
    yield from _parts_of_values(record, text, end)


# Values whose notation is read further.


def _parts_of_metadata(record: InstructionLine, text: str, start: int) -> Iterator[UnknownPart]:
    known = vocabulary().attributes["metadata"].keys
    span = record.parsed.attribute("metadata")
    if span is None or not is_balanced(span.text, 0):
        return
    end = span.start + 1
    for field in metadata_fields(text, start):
        end, column = field.end, field.start + len(field.name)
        if field.name not in known:
            yield UnknownPart(record, "field of metadata", field.name, 0, field.start, column)
        elif not re.fullmatch(metadata_value(field.name), value := text[column + 1 : end]):
            yield UnknownPart(record, "value in metadata", value, 0, column + 1, end)
    rest = _REST_OF_METADATA.match(text, end, span.end)
    if rest is not None:
        yield UnknownPart(record, "field of metadata", rest[1], 0, *rest.span(1))


_REST_OF_METADATA = re.compile(r"[\s,]*([^\s,}]+)")
_INDEX = r"\{[0-9,\s]*\}"
_ALIAS = rf"{_INDEX}:\s*(?:\([0-9]+,\s*{_INDEX}(?:,\s*(?:may|must)-alias)?\)|[0-9]+)"
_DONOR = rf"\([0-9]+,\s*{_INDEX}\)"


@lru_cache(maxsize=1 << 10)
def _reads_sharding(text: str) -> bool:
    elements = tuple_sharding_texts(text)
    if elements is not None:
        return all(map(_reads_sharding, elements))
    return load_grammar("sharding").parse_failure("sharding", text) is None


@lru_cache(maxsize=1 << 8)
def _reads_groups(text: str) -> bool:
    return load_grammar("sharding").parse_failure("replica_groups", text) is None


def _reads_list(item: str) -> Callable[[str], bool]:
    expression = re.compile(rf"\{{\s*(?:{item}\s*(?:,\s*{item}\s*)*)?\}}")
    return lambda text: expression.fullmatch(text) is not None


_reads_names = _reads_list(r"%?[A-Za-z_][\w.\-]*")


def _reads_computations(text: str) -> bool:
    """Return whether a text is a list of names, or has inline computations."""
    return _reads_names(text) or " = " in text


_ARROW = re.compile(r"\s*->")


def _reads_layout(text: str) -> bool:
    """Return whether a text is a list of shapes and a result, such as ``{(f32[8])->f32[]}``."""
    inner = text[1:-1].strip()
    close = closing_bracket(inner, 0) if inner.startswith("(") else None
    arrow = None if close is None else _ARROW.match(inner, close + 1)
    if close is None or arrow is None:
        return False
    shapes = [inner[arrow.end() :].strip()]
    if inner[1:close].strip():
        shapes += (inner[at:end].strip() for at, end in comma_separated_spans(inner, 1, close))
    shapes = list(map(_without_index, shapes))
    return all(
        is_known_shape(one) or not (is_shape(one) or is_unknown_shape(one)) for one in shapes
    )


# The attributes of instructions are those of READ_VALUES.
_READERS: dict[str, Callable[[str], bool]] = {
    "sharding": _reads_sharding,
    "replica_groups": _reads_groups,
    "control-predecessors": _reads_list(r"%?[A-Za-z_][\w.\-]*(?:#[0-9]+)*"),
    "branch_computations": _reads_computations,
    "called_computations": _reads_computations,
    "input_output_alias": _reads_list(_ALIAS),
    "buffer_donor": _reads_list(_DONOR),
    "entry_computation_layout": _reads_layout,
    "allow_spmd_sharding_propagation_to_parameters": _reads_list("(?:true|false)"),
    "allow_spmd_sharding_propagation_to_output": _reads_list("(?:true|false)"),
}
_CHECKED_VALUE = re.compile(
    rf",\s*({'|'.join(_READERS)})=\s*({VALUE}(?:, device_ids=(?=\(){VALUE})?)"
)


def _parts_of_values(record: Record, text: str, start: int) -> Iterator[UnknownPart]:
    for match in _CHECKED_VALUE.finditer(text, start):
        value = match[2].rstrip()
        if value and is_balanced(value, 0) and not _READERS[match[1]](value):
            what = f"value of `{match[1]}`,"
            yield UnknownPart(record, what, value, 0, match.start(2), match.start(2) + len(value))


# Signatures of computations.


def _parts_of_computation(record: ComputationLine, lines: Sequence[str]) -> Iterator[UnknownPart]:
    yield from _parts_of_outer(record, lines)
    begin = max(lines[record.line].find(record.signature), 0)
    for shape in shapes_of_signature(record.signature):
        found = unknown_in_shape(shape)
        if found is None and shape and not is_shape(shape) and is_balanced(shape, 0):
            found = "parameter or result", shape
        if found is not None:
            start = begin + record.signature.find(shape)
            yield UnknownPart(record, *found, 0, start, start + len(shape))


# Rows with fields that a later compiler may print.

_FIELD = re.compile(r"(?<![a-z_])([a-z_]+)=")
_COMPUTATION_ATTRIBUTES = frozenset({"execution_thread"})
_LOCATION_FIELDS = frozenset(
    {
        *("file_name_id", "function_name_id", "line"),
        *("end_line", "column", "end_column"),
    }
)


def _parts_of_end(record: ComputationEnd, lines: Sequence[str]) -> Iterator[UnknownPart]:
    line = lines[record.line]
    if "," in line:
        yield from _fields(record, line, _COMPUTATION_ATTRIBUTES, "attribute of a computation")


def _parts_of_location(record: LocationRow, lines: Sequence[str]) -> Iterator[UnknownPart]:
    yield from _fields(record, lines[record.line], _LOCATION_FIELDS, "field of a location")


def _fields(record: Record, line: str, known: frozenset[str], what: str) -> Iterator[UnknownPart]:
    for match in _FIELD.finditer(line):
        if match[1] not in known:
            yield UnknownPart(record, what, match[1], 0, *match.span(1))


_FINDERS: dict[type[Record], Callable[[Any, Sequence[str]], Iterator[UnknownPart]]] = {
    AllocationLine: _parts_of_allocation,
    AssignedValue: _parts_of_value,
    ComputationEnd: _parts_of_end,
    ComputationLine: _parts_of_computation,
    InstructionLine: _parts_of_outer,
    ListedAllocation: _parts_of_allocation,
    LocationRow: _parts_of_location,
    ModuleHeader: _parts_of_header,
    ReportedAllocation: _parts_of_allocation,
    TableRow: _parts_of_report_row,
    UsedValue: _parts_of_entry,
}
