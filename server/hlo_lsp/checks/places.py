"""Places of the parts of a record in its file."""

from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import Place, Statement
from hlo_lsp.syntax.instruction_text import TextSpan
from hlo_lsp.syntax.line_fields import fields_of_line, rule_of
from hlo_lsp.syntax.module_records import ComputationLine, InlineComputation, InstructionLine
from hlo_lsp.syntax.records import Record
from hlo_lsp.syntax.used_value import UsedValue


def span_place(file: DumpFile, record: Record, text: str, start: int, end: int) -> Place:
    """Return the place of a part of the text of a record, which may take several lines.

    ``text`` has the columns of the record's lines.
    """
    return Statement(file, record.line, text).place(start, end)


def part_place(file: DumpFile, instruction: InstructionLine, part: TextSpan) -> Place:
    """Return the place of a part of an instruction."""
    return span_place(file, instruction, instruction.text, part.start, part.end)


def shape_place(file: DumpFile, instruction: InstructionLine) -> Place:
    """Return the place of the shape of an instruction, or of its opcode if it has no shape."""
    parsed = instruction.parsed
    return part_place(file, instruction, parsed.shape if parsed.shape.text else parsed.opcode)


def name_place(file: DumpFile, instruction: InstructionLine) -> Place:
    """Return the place of the name of an instruction."""
    return part_place(file, instruction, instruction.parsed.name)


def head_place(file: DumpFile, computation: ComputationLine) -> Place:
    """Return the place of the name of a computation; if it is inline, that of its attribute."""
    line = computation.line
    text = file.lines[line]
    inline = isinstance(computation, InlineComputation)
    word = computation.attribute if isinstance(computation, InlineComputation) else computation.name
    start = text.find(f"{word}=" if inline else word)
    if start < 0:
        return Place(file, line, len(text) - len(text.lstrip()), len(text.rstrip()))
    return Place(file, line, start, start + len(word))


def field_place(file: DumpFile, record: Record, role: str | None = None) -> Place:
    """Return the place of a field of a record's first line, or of the whole line.

    Args:
        file: the file of the record.
        record: the record.
        role: the name of the field in the grammar.
    """
    line = record.line
    text = file.lines[line]
    rule = rule_of(record, text)
    if rule is not None and role is not None:
        for field in fields_of_line(rule, text):
            if field.role == role:
                return Place(file, line, field.start, field.end)
    if isinstance(record, UsedValue) and record.column:
        return Place(file, line, record.column, len(text))
    return Place(file, line, len(text) - len(text.lstrip()), len(text.rstrip()))


def top_place(file: DumpFile) -> Place:
    """Return the place of the first line of a file that is not empty."""
    line = next((row for row, text in enumerate(file.lines) if text.strip()), 0)
    return Place(file, line, 0, len(file.lines[line]))
