"""The shape of a value against the instruction that defines it."""

from collections.abc import Iterator

from hlo_lsp.analysis.values.definitions import Source, WrongShape, wrong_shapes
from hlo_lsp.checks.case import Survey
from hlo_lsp.checks.finding import Finding, Related, Severity
from hlo_lsp.checks.places import field_place, shape_place
from hlo_lsp.checks.rule import AnyRule, Part, WholeRule
from hlo_lsp.model.place import Place
from hlo_lsp.syntax.used_value import UsedValue

_LONGEST = 80  # characters of a shape in a sentence


def shape_definition_mismatch(survey: Survey) -> Iterator[Finding]:
    """The shape of a value is that of its instruction at its index, with layout and all.

    Of three places that print it the one is accused that differs from the others.
    """
    wrong = wrong_shapes(survey.dump)
    for fault in wrong:
        record = fault.value.record
        if fault.source is Source.ALLOCATION:
            what = f"the shape of value {record.id} `{record.key}`"
        else:
            what = f"the shape of `{record.name}`"
        printed, right = _first_difference(fault.printed, fault.right)
        message = f"{what} is `{printed}` here, and `{right}` {fault.by.value}"
        yield survey.accuse(_place(fault), message, *_related(fault)).put(fault.right)


def _first_difference(one: str, other: str) -> tuple[str, str]:
    """Two shapes, of long ones only the parts around the first sign that differs."""
    if max(len(one), len(other)) <= _LONGEST:
        return one, other
    pairs = zip(one, other, strict=False)
    at = next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
    start = max(0, at - _LONGEST // 2)
    return tuple(  # type: ignore[return-value]
        f"{'...' if start else ''}{text[start : start + _LONGEST]}"
        f"{'...' if start + _LONGEST < len(text) else ''}"
        for text in (one, other)
    )


def _place(fault: WrongShape) -> Place:
    if fault.source is Source.MODULE and fault.instruction is not None:
        return shape_place(fault.instruction.file, fault.instruction.record)
    value = fault.value
    if isinstance(value.record, UsedValue) and fault.span is not None:
        row = value.record.line + len(value.record.lines) - 1
        return Place(value.file, row, fault.span.start, fault.span.end)
    return field_place(value.file, value.record, "SHAPE")


def _related(fault: WrongShape) -> Iterator[Related]:
    line = fault.instruction
    if line is not None and fault.source is not Source.MODULE:
        yield Related(shape_place(line.file, line.record), "the shape in the module text")
    elif line is not None:
        yield Related(field_place(fault.value.file, fault.value.record), "the value")


RULES: tuple[AnyRule, ...] = (
    WholeRule(
        "shape-definition-mismatch",
        Severity.ERROR,
        shape_definition_mismatch,
        frozenset({Part.ALLOCATIONS, Part.ENTRIES, Part.MODULE}),
        needs_whole_files=False,
    ),
)
