"""Rules on the operands and attributes that an opcode requires."""

from collections.abc import Iterator

from hlo_lsp.checks.case import RecordCheck
from hlo_lsp.checks.finding import Finding
from hlo_lsp.checks.places import part_place
from hlo_lsp.checks.rule import AnyRule, error
from hlo_lsp.hlo.vocabulary import vocabulary
from hlo_lsp.model.shape import ArrayShape, try_shape
from hlo_lsp.syntax.module_records import InstructionLine
from hlo_lsp.syntax.statements import is_balanced

_LITERAL = {"constant", "parameter"}  # these have a value or a number instead of operands
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


def operand_count(case: RecordCheck[InstructionLine]) -> Iterator[Finding]:
    """Check the number of operands: two of `add`, one of `negate`, none of `iota`.

    Unknown opcodes and opcodes with a variable number of operands are skipped.
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


def missing_attribute(case: RecordCheck[InstructionLine]) -> Iterator[Finding]:
    """Check that an instruction has its required attributes: `dimensions` of a `reduce`.

    XLA's parser rejects text without them. The values of the attributes are not checked.
    """
    record = case.record
    required = vocabulary().opcodes[record.opcode].required
    if record.opcode == "broadcast" and not _is_of_scalar(case):
        required = _DIMENSIONS
    # Fast path: XLA prints the required attributes before the metadata.
    own = record.text[record.opened :].partition(", metadata={")[0]
    if all(any(f" {name}=" in own for name in group) for group in required):
        return
    present = {attribute.name for attribute in record.parsed.attributes}
    missing = [group for group in required if present.isdisjoint(group)]
    if missing and is_balanced(record.text, record.column):
        words = [" or ".join(f"`{name}`" for name in group) for group in missing]
        listed = " and ".join([*filter(None, [", ".join(words[:-1])]), words[-1]])
        yield case.report(
            part_place(case.file, record, record.parsed.opcode),
            f"`{record.opcode}` needs {listed}",
        )


def _is_of_scalar(case: RecordCheck[InstructionLine]) -> bool:
    """Return True unless the operand is known to be an array with dimensions.

    XLA's parser accepts a `broadcast` without `dimensions` only if the operand is a scalar.
    """
    resolved = case.scopes.resolved(case.record)
    operand = None if resolved is None else next(iter(resolved.operands), None)
    shape = None if operand is None else try_shape(operand.shape)
    return not (isinstance(shape, ArrayShape) and shape.dims)


RULES: tuple[AnyRule, ...] = (
    error("operand-count", InstructionLine, operand_count, COUNTED),
    error("missing-attribute", InstructionLine, missing_attribute, NEEDING),
)
