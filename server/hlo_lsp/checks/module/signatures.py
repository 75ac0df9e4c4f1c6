"""Rules on the headers of computations and modules: parameters and results."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from hlo_lsp.checks.case import RecordCheck
from hlo_lsp.checks.finding import Finding, Related
from hlo_lsp.checks.places import head_place, part_place, shape_place, span_place
from hlo_lsp.checks.rule import AnyRule, error
from hlo_lsp.model.module_index import parameter_number
from hlo_lsp.model.place import Place
from hlo_lsp.model.shape_compatibility import shape_difference
from hlo_lsp.program.computations import signature, split_at_commas
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine, ModuleHeader
from hlo_lsp.syntax.statements import closing_bracket

_LAYOUT = re.compile(r"\bentry_computation_layout=(?=\{)")
# The prefix of extracted modules in libtpu; most of them have a module-wide backend_config.
_EXTRACTED = "extracted"
_ARROW = re.compile(r"\)\s*->\s*")


@dataclass(frozen=True, slots=True)
class _Header:
    """A header that lists parameters and a result, with its name for messages and its place."""

    name: str
    place: Place


def numbered_parameters(case: RecordCheck[ComputationLine]) -> Iterator[Finding]:
    """Check that the parameters of a computation are numbered 0, 1, 2 ..., each once.

    Their number agrees with the header of the computation.
    """
    scope = case.scopes.scope(case.record)
    highest = -1
    for member in scope.members:
        number = parameter_number(member)
        if number is None:
            if member.opcode == "parameter":
                yield case.report(
                    part_place(case.file, member, member.parsed.opcode),
                    "`parameter` takes its number: `parameter(0)`",
                )
            continue
        highest = max(highest, number)
        first = scope.parameters[number]
        if first is not member and first.name != member.name:
            yield case.report(
                part_place(case.file, member, member.parsed.literal),
                f"duplicate parameter {number} in `{case.record.name}`, first defined on line "
                f"{case.number(first)}",
                Related(shape_place(case.file, first), f"the first parameter {number}"),
            )
    count = sum(member.opcode == "parameter" for member in scope.members)
    if not scope.is_intact or len(scope.parameters) != count:
        return
    missing = next((number for number in range(highest) if number not in scope.parameters), None)
    listed = signature(case.record)
    if missing is not None and scope.is_sound:
        last = scope.parameters[highest]
        yield case.report(
            part_place(case.file, last, last.parsed.literal),
            f"this is parameter {highest}, but `{case.record.name}` has no parameter {missing}",
            Related(head_place(case.file, case.record), f"`{case.record.name}` begins here"),
        )
    elif listed is not None and len(listed[0]) != count and scope.is_sound:
        yield case.report(
            head_place(case.file, case.record),
            f"the header of `{case.record.name}` lists {_parameters(len(listed[0]))}, but the "
            f"computation has {count}",
        )


def signature_shapes(case: RecordCheck[ComputationLine]) -> Iterator[Finding]:
    """Check the shapes that the header of a computation lists against parameters and root.

    The header has no layouts. Up to jax 0.4 it has no shapes either.
    """
    listed = signature(case.record)
    if listed is None:
        return
    scope = case.scopes.scope(case.record)
    head = _Header(f"the header of `{case.record.name}`", head_place(case.file, case.record))
    for number, shape in enumerate(listed[0]):
        parameter = scope.parameters.get(number)
        yield from _compared(case, parameter, f"parameter {number}", head, shape)
    yield from _compared(case, scope.root, "the root", head, listed[1])


def entry_layout(case: RecordCheck[ModuleHeader]) -> Iterator[Finding]:
    """Check `entry_computation_layout` against parameters and root of the entry computation.

    Modules that libtpu extracts for SparseCore are skipped: their layout is that of another module.
    """
    record = case.record
    if record.name.startswith(_EXTRACTED) or "backend_config=" in record.text:
        return
    entry = case.file.module.entry
    found = _LAYOUT.search(record.text)
    close = None if found is None else closing_bracket(record.text, found.end())
    opened = -1 if found is None else record.text.find("(", found.end())
    if found is None or close is None or entry is None or opened < 0:
        return
    shut = closing_bracket(record.text, opened)
    arrow = None if shut is None else _ARROW.match(record.text, shut)
    if shut is None or arrow is None:
        return
    place = span_place(case.file, record, record.text, found.start(), found.end() - 1)
    head = _Header("the module header", place)
    scope = case.scopes.scope(entry)
    if not entry.is_entry:
        return  # without ENTRY the last computation is the entry, but it may be truncated
    shapes = split_at_commas(record.text, opened + 1, shut)
    parameters = scope.counted_parameters
    if parameters is not None and len(parameters) != len(shapes) and scope.is_sound:
        yield case.report(
            place,
            f"the module header lists {_parameters(len(shapes))}, but `{entry.name}` has "
            f"{len(parameters)}",
            Related(head_place(case.file, entry), f"`{entry.name}` is the entry"),
        )
    else:
        for number, shape in enumerate(shapes):
            parameter = scope.parameters.get(number)
            yield from _compared(case, parameter, f"parameter {number}", head, shape)
    yield from _compared(case, scope.root, "the root", head, record.text[arrow.end() : close])


def _compared(
    case: "RecordCheck[ComputationLine] | RecordCheck[ModuleHeader]",
    instruction: InstructionLine | None,
    what: str,
    head: _Header,
    listed: str,
) -> Iterator[Finding]:
    """Compare the shape of an instruction with the one that a header lists for it."""
    if instruction is None or not instruction.shape:
        return
    listed = _without_index_comment(listed)
    found = None if listed == instruction.shape else shape_difference(instruction.shape, listed)
    if found is not None:
        yield case.report(
            shape_place(case.file, instruction),
            f"{what} is {found.first}{found.where}, but "
            f"{head.name} lists {found.second}{found.where}",
            Related(head.place, f"listed in {head.name}"),
        )


def _without_index_comment(shape: str) -> str:
    """Return the shape without the leading ``/*index=5*/``."""
    return shape.partition("*/")[2].strip() if shape.startswith("/*") else shape.strip()


def _parameters(count: int) -> str:
    return f"{count} parameter{'' if count == 1 else 's'}"


RULES: tuple[AnyRule, ...] = (
    error("shape-mismatch", ComputationLine, signature_shapes),
    error("shape-mismatch", ModuleHeader, entry_layout),
    error("parameter-number", ComputationLine, numbered_parameters),
)
