"""Rules on the syntax of statements in module text."""

import re
from collections.abc import Iterator
from typing import Any

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.checks.framework.finding import Finding
from hlo_lsp.checks.framework.rule import (
    AnyRule,
    Reads,
    RecordContext,
    enclosing_computation,
    error,
)
from hlo_lsp.hlo.vocabulary import opcode_spec, opcodes_where, vocabulary
from hlo_lsp.model.place import name_place, part_place, span_place
from hlo_lsp.model.shape import ArrayShape, ShapeError, parse_shape, try_shape
from hlo_lsp.model.unknown_forms import unknown_forms
from hlo_lsp.model.unknown_texts import (
    ATTRIBUTE,
    is_unknown_attribute,
    is_unknown_shape,
    words_of,
)
from hlo_lsp.syntax.module_records import (
    MAX_INLINE_DEPTH,
    MAX_INNER_COLUMN,
    ComputationEnd,
    ComputationLine,
    InstructionLine,
    ModuleHeader,
)
from hlo_lsp.syntax.records import BrokenRecord
from hlo_lsp.syntax.statements import STRAY_QUOTES, is_balanced, tokens_with_depth, top_level_commas


def unclosed(context: "RecordContext[Any]") -> Iterator[Finding]:
    """Check that all brackets and strings of an instruction or module header are closed."""
    record, text = context.record, context.record.text
    at = record.column if isinstance(record, InstructionLine) else 0
    if _is_closed(text) or is_balanced(text, at) or _closes_computation(context):
        return
    opened: list[tuple[int, str]] = []
    for match, _ in tokens_with_depth(text, at):
        sign = match[0]
        if sign in STRAY_QUOTES:
            opened.append((match.start(), "this string is not closed"))
            break
        if sign in _PAIRS:
            opened.append((match.start(), f"this `{sign}` is not closed"))
        elif sign in _PAIRS.values() and opened:
            opened.pop()
        elif sign in _PAIRS.values():
            opened.append((match.start(), f"unmatched `{sign}`"))
            break
    for start, message in opened[-1:]:
        yield context.report(span_place(context.file, record, text, start, start + 1), message)


def cut_attribute(context: RecordContext[InstructionLine]) -> Iterator[Finding]:
    """Check the attributes after the operands: comma, name, `=`, and value."""
    record = context.record
    if record.text.endswith(_ENDS) and _ATTRIBUTES_BEGIN.search(record.text, record.opened):
        return  # fast path for nearly all lines
    if is_balanced(record.text, record.column):
        yield from _attributes(context, record.text, record.parsed.attributes_at)


def cut_header(context: RecordContext[ModuleHeader]) -> Iterator[Finding]:
    """Check the attributes after the module name: comma, name, `=`, and value."""
    if is_balanced(context.record.text, 0):
        checkpoint()
        end = context.record.name_end  # XLA's parser accepts a colon there
        colon = context.record.text.startswith(":", end)
        yield from _attributes(context, context.record.text, end + colon)


def unreadable_shape(context: RecordContext[InstructionLine]) -> Iterator[Finding]:
    """Check that the text between `=` and the opcode is a shape."""
    if not context.record.shape:
        return
    try:
        parse_shape(context.record.shape)
    except ShapeError as error:
        if not _is_closed(context.record.text) or is_unknown_shape(context.record.shape):
            return  # another rule reports it
        yield context.report(
            part_place(context.file, context.record, context.record.parsed.shape), str(error)
        )


def _closes_computation(context: "RecordContext[Any]") -> bool:
    """Return whether the brace of the computation is at the end of its last instruction."""
    module = context.file.module
    record = context.record
    head = module.scope_of(record) if isinstance(record, InstructionLine) else None
    if not isinstance(head, ComputationLine):
        return False
    return context.computation(head).closing_member is record


def open_computation(context: RecordContext[ComputationLine]) -> Iterator[Finding]:
    """Check that the body of a computation ends with a brace."""
    scope = context.computation(context.record)
    if (
        not scope.is_closed
        and not scope.is_cut
        and not unknown_forms(context.file).has_open_brackets
    ):
        yield context.report(
            name_place(context.file, context.record),
            f"`{context.record.name}` is not closed: expected `}}` after its instructions",
        )
    if context.record.is_read_in_part:
        yield context.report(
            name_place(context.file, context.record),
            f"`{context.record.name}` is read in part: only {MAX_INNER_COLUMN:,} characters of a"
            f" line and {MAX_INLINE_DEPTH} levels of inline computations are read",
        )


def outside_computation(context: RecordContext[InstructionLine]) -> Iterator[Finding]:
    """Check that instructions are in a computation. Of adjacent ones the first is reported."""
    record, file = context.record, context.file
    if context.scope is not None or isinstance(file.records.head_of(record), BrokenRecord):
        return
    if unknown_forms(file).has_open_brackets:
        return  # a brace may belong to one of them
    if file.module.header is None and not len(file.module.computations):
        return  # lines of a computation, as pasted into a message
    above = file.records.at(record.line - 1) if record.line > 0 else None
    if not isinstance(above, InstructionLine) or enclosing_computation(file, above) is not None:
        message = f"`{record.name}` is not in a computation: no computation header precedes it"
        yield context.report(name_place(file, record), message)


def lone_brace(context: RecordContext[ComputationEnd]) -> Iterator[Finding]:
    """Check that a brace at the start of a line closes a computation."""
    records, line = context.file.records, context.record.line
    head = records.head_of(context.record)
    if isinstance(head, BrokenRecord) or (
        line > 0 and isinstance(records.at(line - 1), InstructionLine)
    ):
        return  # it closes a computation whose header is malformed or missing
    if unknown_forms(context.file).has_open_brackets:
        return  # the brace may belong to one of them
    scope = context.computation(head) if isinstance(head, ComputationLine) else None
    if scope is None or scope.is_inside or scope.end != line:
        yield context.report(context.place(), "unmatched `}`")


def _attributes(context: "RecordContext[Any]", text: str, start: int) -> Iterator[Finding]:
    """Report the first part between commas that is not an attribute.

    The part before the first comma must be empty. Another rule reports parts of unknown forms.
    """
    known = words_of(context.record)
    for number, stop in enumerate((*top_level_commas(text, start, len(text)), len(text))):
        part = text[start:stop]
        found = part.strip()
        is_known = ATTRIBUTE.match(part) if number else not found
        if not (is_known or is_unknown_attribute(found, known, is_first=number == 0)):
            begin = start + len(part) - len(part.lstrip()) if found else start
            place = span_place(
                context.file, context.record, text, begin, begin + max(len(found), 1)
            )
            expected = "an attribute: `NAME=VALUE`" if number else "`,`"
            words = f"`{found[:20]}`" if found else "nothing"
            yield context.report(place, f"expected {expected}, found {words}")
            return
        start = stop + 1


def _is_closed(text: str) -> bool:
    """Return True if the numbers of opening and closing brackets, also in strings, agree.

    This is a fast test, because nearly all statements are balanced.
    """
    count = text.count
    return count('"') % 2 == 0 and all(count(one) == count(other) for one, other in _PAIRS.items())


_ATTRIBUTES_BEGIN = re.compile(r"\)(?:, [\w\-]+=|$)")
_ENDS = (")", "}", '"')
_PAIRS = {"(": ")", "[": "]", "{": "}"}


_LITERAL = {"constant", "parameter"}  # these have a value or a number instead of operands
COUNTED = opcodes_where(lambda one: one.arity is not None or one.fewest > 0) - _LITERAL
_DIMENSIONS = (("dimensions",),)
NEEDING = opcodes_where(lambda one: bool(one.required)) | {"broadcast"}


def operand_count(context: RecordContext[InstructionLine]) -> Iterator[Finding]:
    """Check the number of operands: two of `add`, one of `negate`, none of `iota`.

    Of opcodes with a variable number, such as `dot`, it checks the fewest. Unknown opcodes are
    skipped.
    """
    record = context.record
    opcode = vocabulary().opcodes[record.opcode]
    resolved = context.resolved
    count = len(record.operands if resolved is None else resolved.names)
    is_wrong = count < opcode.fewest if opcode.arity is None else count != opcode.arity
    if is_wrong and is_balanced(record.text, record.column):
        names = ", ".join(operand.name for operand in opcode.operands)
        takes = f"{opcode.fewest} operand{'' if opcode.fewest == 1 else 's'}"
        takes = f"at least {takes}" if opcode.arity is None else takes
        yield context.report(
            part_place(
                context.file, record, record.parsed.literal if count else record.parsed.opcode
            ),
            f"`{opcode.name}` takes {takes}{f' ({names})' if names else ''}, not {count}",
        )


def missing_attribute(context: RecordContext[InstructionLine]) -> Iterator[Finding]:
    """Check that an instruction has its required attributes: `dimensions` of a `reduce`."""
    record = context.record
    required = opcode_spec(record.spelled).required
    if record.opcode == "broadcast" and not _is_of_scalar(context):
        required = _DIMENSIONS
    # Fast path: XLA prints the required attributes before the metadata.
    own = record.text[record.opened :].partition(", metadata={")[0]
    if all(any(f" {name}=" in own for name in group) for group in required):
        return
    present = {attribute.name for attribute in record.parsed.attributes}
    if "calls" in present:
        present.add("to_apply")  # HloPrintOptions::Canonical() prints it so
    missing = [group for group in required if present.isdisjoint(group)]
    if missing and is_balanced(record.text, record.column):
        words = [" or ".join(f"`{name}`" for name in group) for group in missing]
        listed = " and ".join([*filter(None, [", ".join(words[:-1])]), words[-1]])
        yield context.report(
            part_place(context.file, record, record.parsed.opcode),
            f"`{record.spelled}` needs {listed}",
        )


def _is_of_scalar(context: RecordContext[InstructionLine]) -> bool:
    """Return True unless the operand is known to be an array with dimensions.

    XLA's parser accepts a `broadcast` without `dimensions` only if the operand is a scalar.
    """
    operand = next(iter(context.operands), None)
    shape = None if operand is None else try_shape(operand.shape)
    return not (isinstance(shape, ArrayShape) and shape.dims)


RULES: tuple[AnyRule, ...] = (
    error("operand-count", InstructionLine, operand_count, COUNTED, reads=Reads.FORM),
    error("missing-attribute", InstructionLine, missing_attribute, NEEDING, reads=Reads.FORM),
    error("syntax", ModuleHeader, unclosed),
    error("syntax", ModuleHeader, cut_header),
    error("syntax", ComputationLine, open_computation),
    error("syntax", ComputationEnd, lone_brace),
    error("syntax", InstructionLine, unclosed, reads=Reads.TEXT),
    error("syntax", InstructionLine, cut_attribute, reads=Reads.TEXT),
    error("syntax", InstructionLine, unreadable_shape, reads=Reads.TEXT),
    error("syntax", InstructionLine, outside_computation, reads=Reads.OPERANDS),
)
