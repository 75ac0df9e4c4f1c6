"""Names in module text: defined once, before they are used."""

from collections.abc import Iterator

from hlo_lsp.checks.case import Case
from hlo_lsp.checks.finding import Finding, Related
from hlo_lsp.checks.places import head_place, name_place, part_place
from hlo_lsp.checks.rule import AnyRule, error
from hlo_lsp.hlo.vocabulary import vocabulary
from hlo_lsp.syntax.instruction_text import TextSpan
from hlo_lsp.syntax.module_records import ComputationLine, InlineComputation, InstructionLine

CALLING = frozenset(
    name
    for opcode in vocabulary().opcodes.values()
    for name in (opcode.name, f"{opcode.name}-start")  # so asynchronous calls may be printed
    if opcode.calls and vocabulary().opcode(name) is not None
)


def undefined_instruction(case: Case[InstructionLine]) -> Iterator[Finding]:
    """An operand, and a control predecessor, is an instruction of the same computation.

    Names hold within their computation: a computation sees nothing of its caller but what it gets
    as parameters. Example: in `%b = f32[] negate(%a)` an instruction `%a` stands above.
    """
    for span, found in _mentioned(case):
        if found is None:
            head = case.scopes.of(case.record)
            assert head is not None  # or nothing is mentioned
            yield case.report(
                part_place(case.file, case.record, span),
                f"there is no instruction `{span.text}` in `{head.head.name}`",
                *_elsewhere(case, span.text),
            )


def use_before_definition(case: Case[InstructionLine]) -> Iterator[Finding]:
    """An instruction stands below its operands and its control predecessors.

    XLA prints computations in an order in which they can run, and its parser knows only the names
    that it has read. A computation cannot use its own result either.
    """
    for span, found in _mentioned(case):
        if found is case.record:
            place = part_place(case.file, case.record, span)
            yield case.report(place, f"`{span.text}` uses its own result")
        elif found is not None and _order(found) > _order(case.record):
            yield case.report(
                part_place(case.file, case.record, span),
                f"`{span.text}` is used on line {case.number(case.record)}, but defined only on "
                f"line {case.number(found)}",
                Related(name_place(case.file, found), f"`{span.text}` is defined here"),
            )


def undefined_computation(case: Case[InstructionLine]) -> Iterator[Finding]:
    """A computation that is called is in the file: `calls=`, `to_apply=`, `condition=`, ...

    A module text is complete: it holds every computation that it names. The text of a single
    computation, without the head of a module, is not.
    """
    if case.scopes.misses_heads or case.scopes.is_fragment:
        return
    for callee in case.scopes.callees(case.record):
        if callee.computation is None and callee.span is not None:
            yield case.report(
                part_place(case.file, case.record, callee.span),
                f"there is no computation `{callee.name}` in this module",
            )


def callee_below(case: Case[InstructionLine]) -> Iterator[Finding]:
    """A computation stands above the instructions that call it.

    XLA's parser knows only the computations that it has read.
    """
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


def duplicate_instruction(case: Case[ComputationLine]) -> Iterator[Finding]:
    """A computation has one instruction of each name.

    XLA even makes names unique in the whole module, but two computations may share one.
    """
    scope = case.scopes.scope(case.record)
    for member in scope.members if len(scope.names) < len(scope.members) else ():
        first = scope.names[member.name]
        if first is not member:
            yield case.report(
                name_place(case.file, member),
                f"`{case.record.name}` has another instruction `{member.name}`, on line "
                f"{case.number(first)}",
                Related(name_place(case.file, first), f"the first `{member.name}`"),
            )


def duplicate_computation(case: Case[ComputationLine]) -> Iterator[Finding]:
    """A module has one computation of each name."""
    if isinstance(case.record, InlineComputation):
        return
    first = case.scopes.computation(case.record.name)
    if first is not None and first is not case.record:
        yield case.report(
            head_place(case.file, case.record),
            f"there is another computation `{case.record.name}`, on line {case.number(first)}",
            Related(head_place(case.file, first), f"the first `{case.record.name}`"),
        )


_Mention = tuple[TextSpan, InstructionLine | None]


def _mentioned(case: Case[InstructionLine]) -> list[_Mention]:
    """What is read, and predecessors, with what they stand for; none where all is plainly well.

    What a broken line may define is left out.
    """
    resolved = case.scopes.resolved(case.record)
    if resolved is None or resolved.is_plain:
        return []
    parsed = case.record.parsed
    spans = (*parsed.reads, *parsed.predecessors)
    suspects = [(span, resolved.scope.names.get(span.text)) for span in spans]
    return [
        (span, found)
        for span, found in suspects
        if found is not None or not resolved.scope.may_define(span.text)
    ]


def _order(instruction: InstructionLine) -> tuple[int, int]:
    return instruction.line, instruction.column


def _elsewhere(case: Case[InstructionLine], name: str) -> list[Related]:
    """The instruction of this name in another computation."""
    other = case.file.module.instructions.first(name)
    if other is None:
        return []
    home = case.file.module.computation_of(other)
    where = "outside of any computation" if home is None else f"in `{home.name}`"
    return [Related(name_place(case.file, other), f"one of this name is {where}")]


RULES: tuple[AnyRule, ...] = (
    error("undefined-instruction", InstructionLine, undefined_instruction),
    error("use-before-definition", InstructionLine, use_before_definition),
    error("undefined-computation", InstructionLine, undefined_computation, CALLING),
    error("use-before-definition", InstructionLine, callee_below, CALLING),
    error("duplicate-name", ComputationLine, duplicate_instruction),
    error("duplicate-name", ComputationLine, duplicate_computation),
)
