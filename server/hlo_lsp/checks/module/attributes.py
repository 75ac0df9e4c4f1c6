"""What an opcode must have: operands and attributes."""

from collections.abc import Iterator

from hlo_lsp.checks.case import Case
from hlo_lsp.checks.finding import Finding
from hlo_lsp.checks.places import part_place
from hlo_lsp.checks.rule import AnyRule, error
from hlo_lsp.hlo.vocabulary import vocabulary
from hlo_lsp.model.shape import ArrayShape, try_shape
from hlo_lsp.syntax.module_records import InstructionLine
from hlo_lsp.syntax.statements import is_balanced

_LITERAL = {"constant", "parameter"}  # a value or a number stands where operands would
COUNTED = frozenset(
    opcode.name
    for opcode in vocabulary().opcodes.values()
    if opcode.arity is not None and opcode.name not in _LITERAL
)
_DIMENSIONS = (("dimensions",),)
NEEDING = frozenset(
    opcode.name
    for opcode in vocabulary().opcodes.values()
    if opcode.required or opcode.name == "broadcast"
)


def operand_count(case: Case[InstructionLine]) -> Iterator[Finding]:
    """Many opcodes take a fixed number of operands: `add` two, `negate` one, `iota` none.

    Of opcodes that this tool does not know nothing is said.
    """
    record = case.record
    opcode = vocabulary().opcodes[record.opcode]
    resolved = case.scopes.resolved(record)
    count = len(record.operands if resolved is None else resolved.names)
    if count != opcode.arity and is_balanced(record.text, record.column):
        names = ", ".join(operand.name for operand in opcode.operands)
        takes = f"{opcode.arity} operand{'' if opcode.arity == 1 else 's'}"
        yield case.report(
            part_place(case.file, record, record.parsed.literal if count else record.parsed.opcode),
            f"`{opcode.name}` takes {takes}{f' ({names})' if names else ''}, not {count}",
        )


def missing_attribute(case: Case[InstructionLine]) -> Iterator[Finding]:
    """An opcode has the attributes without which it means nothing: `dimensions` of a `reduce`.

    XLA's parser refuses the text without them. The value is not looked at.
    """
    record = case.record
    required = vocabulary().opcodes[record.opcode].required
    if record.opcode == "broadcast" and not _is_of_scalar(case):
        required = _DIMENSIONS
    # Quickly: what an opcode needs is printed in front of what every instruction may have.
    own = record.text[record.opened :].partition(", metadata={")[0]
    if all(any(f" {name}=" in own for name in group) for group in required):
        return
    there = {attribute.name for attribute in record.parsed.attributes}
    missing = [group for group in required if there.isdisjoint(group)]
    if missing and is_balanced(record.text, record.column):
        words = [" or ".join(f"`{name}`" for name in group) for group in missing]
        listed = " and ".join([*filter(None, [", ".join(words[:-1])]), words[-1]])
        yield case.report(
            part_place(case.file, record, record.parsed.opcode),
            f"`{record.opcode}` needs {listed}",
        )


def _is_of_scalar(case: Case[InstructionLine]) -> bool:
    """Whether the operand is known to be no array: only of those XLA's parser knows what to do."""
    resolved = case.scopes.resolved(case.record)
    operand = None if resolved is None else next(iter(resolved.operands), None)
    shape = None if operand is None else try_shape(operand.shape)
    return not (isinstance(shape, ArrayShape) and shape.dims)


RULES: tuple[AnyRule, ...] = (
    error("operand-count", InstructionLine, operand_count, COUNTED),
    error("missing-attribute", InstructionLine, missing_attribute, NEEDING),
)
