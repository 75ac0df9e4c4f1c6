"""Rules on names in module text: each is defined once, before its uses."""

from collections.abc import Iterator

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.checks.framework.finding import Finding, Related, Severity
from hlo_lsp.checks.framework.rule import (
    AnyRule,
    CompileContext,
    Places,
    Reads,
    RecordContext,
    WholeRule,
    enclosing_computation,
    error,
)
from hlo_lsp.hlo.vocabulary import opcodes_where
from hlo_lsp.model.computation import Computation
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.omitted_instructions import omitted_instructions
from hlo_lsp.model.place import name_place, part_place, shape_place
from hlo_lsp.model.query_cache import query
from hlo_lsp.model.shape import brief_shape
from hlo_lsp.model.unknown_forms import unknown_forms
from hlo_lsp.syntax.instruction_text import TextSpan, tuples_of_element
from hlo_lsp.syntax.module_records import ComputationLine, InlineComputation, InstructionLine

CALLING = opcodes_where(lambda one: bool(one.calls))


def undefined_instruction(context: RecordContext[InstructionLine]) -> Iterator[Finding]:
    """Check that operands and control predecessors are defined in the same computation."""
    for span, found in _references(context):
        if found is None:
            head = context.scope
            assert head is not None  # references require a computation
            name, place = span.text, part_place(context.file, context.record, span)
            holders = (head.instruction(each) for each in tuples_of_element(name))
            holder = next(filter(None, holders), None)
            if holder is None:
                yield context.report(
                    place,
                    _undefined(name.partition("#")[0], head),
                    *_elsewhere(context, name.partition("#")[0]),
                )
            else:
                yield context.report(
                    place,
                    f"no element `{name}`: `{holder.name}` is {brief_shape(holder.shape)}",
                    Related(shape_place(context.file, holder), f"the shape of `{holder.name}`"),
                )


def _undefined(name: str, scope: Computation) -> str:
    return f"undefined instruction `{name}` in `{scope.head.name}`"


def undefined_predecessor(context: CompileContext) -> Iterator[Finding]:
    """Check the control predecessors in a text that omits instructions.

    They are instructions of the same computation, or omitted ones, which the memory files know if
    they know the instruction itself.
    """
    file = next((file for file in context.dump.files if file.module.is_compact), None)
    if file is None:
        return
    omitted = omitted_instructions(context.dump)
    for record in file.module.instructions.records():
        checkpoint()
        if "control-predecessors=" not in record.text:
            continue
        scope = enclosing_computation(file, record)
        if scope is None or context.dump.step(record.name) is None:
            continue
        for span in record.parsed.predecessors:
            name = span.text
            is_known = name in scope.names or scope.may_define(name) or omitted.may_contain(name)
            if not is_known and context.dump.step(name) is None:
                yield context.report(part_place(file, record, span), _undefined(name, scope))


def use_before_definition(context: RecordContext[InstructionLine]) -> Iterator[Finding]:
    """Check that an instruction follows its operands and control predecessors."""
    record = context.record
    for span, found in _references(context):
        place = part_place(context.file, record, span)
        if found is not None and found.printed is record:
            yield context.report(place, f"`{record.name}` uses its own result")
        elif found is not None and (found.line, found.printed.column) > (
            record.line,
            record.column,
        ):
            yield context.report(
                place,
                f"`{span.text}` is used on line {context.number(record)}, but defined only on line "
                f"{context.number(found)}",
                Related(name_place(context.file, found), f"`{span.text}` is defined here"),
            )


def undefined_computation(context: RecordContext[InstructionLine]) -> Iterator[Finding]:
    """Check that called computations exist: `calls=`, `to_apply=`, `condition=`, and others."""
    if not has_all_computations(context.file):
        return
    for callee in context.file.module.named_callees(context.record):
        if callee.computation is None and callee.span is not None:
            yield context.report(
                part_place(context.file, context.record, callee.span),
                f"undefined computation `{callee.name}`",
            )


@query
def has_all_computations(file: DumpFile) -> bool:
    """Return whether a module text contains every computation that it names.

    XLA:GPU up to jax 0.7 prints the computation of a Triton kernel without a module.
    """
    module = file.module
    if unknown_forms(file).has_outside or any(broken.is_head for broken in module.damaged):
        return False
    named = [one for one in module.all_computations() if not isinstance(one, InlineComputation)]
    return module.header is not None or len(named) != 1 or named[0].is_entry


def callee_below(context: RecordContext[InstructionLine]) -> Iterator[Finding]:
    """Check that a computation precedes the instructions that call it."""
    resolved = context.resolved
    own = None if resolved is None else resolved.scope.head
    for callee in context.file.module.named_callees(context.record):
        computation, span = callee.computation, callee.span
        if computation is None or span is None:
            continue
        if computation is own:
            message = f"`{callee.name}` calls itself"
        elif computation.line > context.record.line:
            message = (
                f"computation `{callee.name}` is called on line "
                f"{context.number(context.record)}, but defined only on line "
                f"{context.number(computation)}"
            )
        else:
            continue
        yield context.report(
            part_place(context.file, context.record, span),
            message,
            Related(name_place(context.file, computation), f"`{callee.name}` is defined here"),
        )


def duplicate_instruction(context: RecordContext[ComputationLine]) -> Iterator[Finding]:
    """Check that instruction names are unique in their computation."""
    scope = context.computation(context.record)
    for member in scope.members if len(scope.names) < len(scope.members) else ():
        first = scope.names[member.name]
        if first is not member:
            yield context.report(
                name_place(context.file, member),
                f"duplicate instruction `{member.name}` in `{context.record.name}`, "
                f"first defined on line {context.number(first)}",
                Related(name_place(context.file, first), f"the first `{member.name}`"),
            )


def repeated_computation_name(context: RecordContext[ComputationLine]) -> Iterator[Finding]:
    """Check that computation names are unique in the module."""
    name, first = context.record.name, context.file.module.named(context.record.name)
    if first is None or isinstance(context.record, InlineComputation):
        return
    if first is not context.record and not isinstance(first, InlineComputation):
        yield context.report(
            name_place(context.file, context.record),
            f"duplicate computation `{name}`, first defined on line {context.number(first)}",
            Related(name_place(context.file, first), f"the first `{name}`"),
        )


def _references(
    context: RecordContext[InstructionLine],
) -> list[tuple[TextSpan, InstructionLine | None]]:
    """Return the references of an instruction with their definitions.

    The list is empty if all references clearly resolve. Names that a malformed line may define are
    omitted.
    """
    resolved = context.resolved
    if resolved is None or resolved.is_plain:
        return []
    parsed, scope = context.record.parsed, resolved.scope
    spans = [*parsed.reads]
    # A compact text names instructions here that it omits; another rule checks these names.
    is_compact = context.file.module.is_compact
    spans += [one for one in parsed.predecessors if not is_compact or one.text in scope.names]
    return [
        (span, found)
        for span in spans
        if (found := scope.instruction(span.text)) is not None or not scope.may_define(span.text)
    ]


def _elsewhere(context: RecordContext[InstructionLine], name: str) -> list[Related]:
    other = context.file.module.instructions.first(name)
    if other is None:
        return []
    home = context.file.module.computation_of(other)
    where = "outside of any computation" if home is None else f"in `{home.name}`"
    return [Related(name_place(context.file, other), f"an instruction of this name is {where}")]


RULES: tuple[AnyRule, ...] = (
    WholeRule("undefined-instruction", Severity.ERROR, undefined_predecessor, places=Places.ALL),
    error("undefined-instruction", InstructionLine, undefined_instruction, reads=Reads.OPERANDS),
    error("use-before-definition", InstructionLine, use_before_definition, reads=Reads.OPERANDS),
    error(
        *("undefined-computation", InstructionLine, undefined_computation, CALLING),
        reads=Reads.CALLEES,
    ),
    error("use-before-definition", InstructionLine, callee_below, CALLING, reads=Reads.CALLEES),
    error("duplicate-name", ComputationLine, duplicate_instruction),
    error("duplicate-name", ComputationLine, repeated_computation_name),
)
