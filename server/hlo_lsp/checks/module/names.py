"""Rules on names in module text: each is defined once, before its uses."""

from collections.abc import Iterator

from hlo_lsp.checks.finding import Finding, Related
from hlo_lsp.checks.rule import AnyRule, RecordCheck, error
from hlo_lsp.hlo.vocabulary import vocabulary
from hlo_lsp.model.place import head_place, name_place, part_place
from hlo_lsp.syntax.instruction_text import TextSpan
from hlo_lsp.syntax.module_records import ComputationLine, InlineComputation, InstructionLine

CALLING = frozenset(
    name
    for opcode in vocabulary().opcodes.values()
    for name in (opcode.name, f"{opcode.name}-start")  # the short form of asynchronous calls
    if opcode.calls and vocabulary().opcode(name) is not None
)


def undefined_instruction(case: RecordCheck[InstructionLine]) -> Iterator[Finding]:
    """Check that operands and control predecessors are defined in the same computation."""
    for span, found in _references(case):
        if found is None:
            head = case.scopes.of(case.record)
            assert head is not None  # references require a computation
            yield case.report(
                part_place(case.file, case.record, span),
                f"undefined instruction `{span.text}` in `{head.head.name}`",
                *_elsewhere(case, span.text),
            )


def use_before_definition(case: RecordCheck[InstructionLine]) -> Iterator[Finding]:
    """Check that an instruction follows its operands and control predecessors."""
    record = case.record
    for span, found in _references(case):
        place = part_place(case.file, record, span)
        if found is record:
            yield case.report(place, f"`{span.text}` uses its own result")
        elif found is not None and (found.line, found.column) > (record.line, record.column):
            yield case.report(
                place,
                f"`{span.text}` is used on line {case.number(record)}, but defined only on line "
                f"{case.number(found)}",
                Related(name_place(case.file, found), f"`{span.text}` is defined here"),
            )


def undefined_computation(case: RecordCheck[InstructionLine]) -> Iterator[Finding]:
    """Check that called computations exist: `calls=`, `to_apply=`, `condition=`, and others.

    A module text contains every computation that it names. A single computation without the header
    of a module is skipped.
    """
    if case.scopes.misses_heads or case.scopes.is_fragment:
        return
    for callee in case.scopes.callees(case.record):
        if callee.computation is None and callee.span is not None:
            yield case.report(
                part_place(case.file, case.record, callee.span),
                f"undefined computation `{callee.name}`",
            )


def callee_below(case: RecordCheck[InstructionLine]) -> Iterator[Finding]:
    """Check that a computation precedes the instructions that call it."""
    scope = case.scopes.of(case.record)
    own = None if scope is None else scope.head
    for callee in case.scopes.callees(case.record):
        computation, span = callee.computation, callee.span
        if computation is None or span is None:
            continue
        if computation is own:
            message = f"`{callee.name}` calls itself"
        elif computation.line > case.record.line:
            message = (
                f"computation `{callee.name}` is called on line {case.number(case.record)}, but "
                f"defined only on line {case.number(computation)}"
            )
        else:
            continue
        yield case.report(
            part_place(case.file, case.record, span),
            message,
            Related(head_place(case.file, computation), f"`{callee.name}` is defined here"),
        )


def duplicate_instruction(case: RecordCheck[ComputationLine]) -> Iterator[Finding]:
    """Check that instruction names are unique in their computation."""
    scope = case.scopes.scope(case.record)
    for member in scope.members if len(scope.names) < len(scope.members) else ():
        first = scope.names[member.name]
        if first is not member:
            yield case.report(
                name_place(case.file, member),
                f"duplicate instruction `{member.name}` in `{case.record.name}`, "
                f"first defined on line {case.number(first)}",
                Related(name_place(case.file, first), f"the first `{member.name}`"),
            )


def duplicate_computation(case: RecordCheck[ComputationLine]) -> Iterator[Finding]:
    """Check that computation names are unique in the module."""
    name, first = case.record.name, case.scopes.computation(case.record.name)
    if first not in {None, case.record} and not isinstance(case.record, InlineComputation):
        assert first is not None
        yield case.report(
            head_place(case.file, case.record),
            f"duplicate computation `{name}`, first defined on line {case.number(first)}",
            Related(head_place(case.file, first), f"the first `{name}`"),
        )


def _references(
    case: RecordCheck[InstructionLine],
) -> list[tuple[TextSpan, InstructionLine | None]]:
    """Return the references of an instruction with their definitions.

    The list is empty if all references clearly resolve. Names that a malformed line may define are
    omitted.
    """
    resolved = case.resolved
    if resolved is None or resolved.is_plain:
        return []
    parsed, scope = case.record.parsed, resolved.scope
    spans = (*parsed.reads, *parsed.predecessors)
    return [
        (span, scope.names.get(span.text))
        for span in spans
        if span.text in scope.names or not scope.may_define(span.text)
    ]


def _elsewhere(case: RecordCheck[InstructionLine], name: str) -> list[Related]:
    other = case.file.module.instructions.first(name)
    if other is None:
        return []
    home = case.file.module.computation_of(other)
    where = "outside of any computation" if home is None else f"in `{home.name}`"
    return [Related(name_place(case.file, other), f"an instruction of this name is {where}")]


RULES: tuple[AnyRule, ...] = (
    error("undefined-instruction", InstructionLine, undefined_instruction),
    error("use-before-definition", InstructionLine, use_before_definition),
    error("undefined-computation", InstructionLine, undefined_computation, CALLING),
    error("use-before-definition", InstructionLine, callee_below, CALLING),
    error("duplicate-name", ComputationLine, duplicate_instruction),
    error("duplicate-name", ComputationLine, duplicate_computation),
)
