"""Entries under ``Used values`` against the program: positions and uses."""

from collections.abc import Iterator, Sequence

from hlo_lsp.analysis.values.headers import disagreements
from hlo_lsp.analysis.values.positions import Doubt, Wrong, position_faults
from hlo_lsp.analysis.values.use_faults import UseFaults, WrongOperand, WrongUses, use_faults
from hlo_lsp.checks.case import Survey
from hlo_lsp.checks.finding import Finding, Related, Severity
from hlo_lsp.checks.fix import Fix
from hlo_lsp.checks.places import name_place, part_place
from hlo_lsp.checks.rule import AnyRule, Part, WholeRule
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import Place
from hlo_lsp.syntax.used_value import UsedValue

_NAMED = 3  # uses in a sentence
_NONE = "(none)"


def position_mismatch(survey: Survey) -> Iterator[Finding]:
    """The first position of a value is the instruction that makes it; no position is doubled.

    Every part of every instruction is a position of one value, with an index if the instruction
    is a tuple.
    """
    faults = position_faults(survey.dump)
    if faults is None:
        return
    headers = disagreements(survey.dump)
    suspects = headers.suspects
    is_whole = not (headers.unused or headers.short or headers.doubled)
    told: set[UsedValue] = set()
    for wrong in faults.wrong:
        doubted = (wrong.doubt is Doubt.HEADER and wrong.entry.id in suspects) or (
            wrong.doubt is Doubt.WHOLE_LIST and not is_whole
        )
        if not doubted and wrong.entry not in told:
            told.add(wrong.entry)
            place = _row_place(faults.file, wrong.entry, wrong.row)
            finding = survey.accuse(place, wrong.message, *_twin(faults.file, wrong))
            is_twice = wrong.twin is wrong.entry
            yield finding.fixed(Fix.drop(faults.file, place.line, 1)) if is_twice else finding


def _twin(file: DumpFile, wrong: Wrong) -> Iterator[Related]:
    if wrong.twin is not None:
        yield Related(_row_place(file, wrong.twin, wrong.twin_row), "the same position")


def use_mismatch(survey: Survey) -> Iterator[Finding]:
    """The uses of a value are the instructions with one of its positions among their operands.

    They are compared with the module text, or with the texts behind `from instruction` where that
    is all there is.
    """
    faults = use_faults(survey.dump)
    if faults is None:
        return
    for wrong in faults.entries:
        yield _wrong_uses(survey, faults, wrong)
    for operand in faults.operands:
        finding = _wrong_operand(survey, faults, operand)
        if finding is not None:
            yield finding


def _wrong_uses(survey: Survey, faults: UseFaults, wrong: WrongUses) -> Finding:
    entry, lines = wrong.entry, wrong.entry.lines
    row = lines.index(" uses:")
    by = "the module text" if faults.module is not None else "the instructions of the entries"
    surplus, missing = wrong.surplus, wrong.missing
    if surplus:
        row = max(place for place, line in enumerate(lines) if line.strip() == surplus[0])
    if wrong.lacks_none:
        message = f"there is no use, but not `{_NONE}` either, which other entries have"
    elif surplus[:1] == (_NONE,) and not missing:
        message = f"`{_NONE}` stands below uses"
    elif len(surplus) == 1 and len(missing) == 1:
        message = f"this use is `{missing[0]}` by {by}"
    elif surplus and missing:
        message = f"by {by} {_these(surplus)} no use, and {_these(missing)} missing"
    elif surplus and _is_twice(lines, surplus[0]):
        message = f"the use `{surplus[0]}` is listed twice"
    elif surplus:
        message = f"by {by} {_these(surplus)} no use of value {entry.id} `{entry.key}`"
    else:
        message = f"by {by} {_these(missing)} missing"
    finding = survey.accuse(_row_place(faults.file, entry, row), message)
    if len(surplus) == len(missing) == 1:
        return finding.put(missing[0])
    if len(surplus) == 1 and not missing:
        return finding.fixed(Fix.drop(faults.file, finding.place.line, 1))
    return finding


def _is_twice(lines: Sequence[str], use: str) -> bool:
    return sum(line.strip() == use for line in lines) > 1


def _these(uses: tuple[str, ...]) -> str:
    shown = ", ".join(f"`{use}`" for use in uses[:_NAMED])
    more = f" and {len(uses) - _NAMED:,} more" if len(uses) > _NAMED else ""
    return f"{shown}{more} {'is' if len(uses) == 1 else 'are'}"


def _wrong_operand(survey: Survey, faults: UseFaults, wrong: WrongOperand) -> Finding | None:
    """An operand that the entries contradict: in the module text, or in the text of an entry."""
    if faults.module is None:
        entry = survey.dump.find(lambda index: index.entry_keys, f"{wrong.user}{{}}")
        if entry is None:
            return None
        place = _row_place(entry.file, entry.record, len(entry.record.lines) - 1)
    else:
        line = faults.module.module.instructions.first(wrong.user)
        if line is None:
            return None
        operands = line.parsed.operands
        place = (
            part_place(faults.module, line, operands[wrong.operand])
            if wrong.operand < len(operands)
            else name_place(faults.module, line)
        )
    return survey.accuse(
        place,
        f"under `Used values` operand {wrong.operand} of `{wrong.user}` is `{wrong.printed}`",
    )


def _row_place(file: DumpFile, entry: UsedValue, row: int) -> Place:
    text = entry.lines[row]
    return Place(file, entry.line + row, len(text) - len(text.lstrip()), len(text.rstrip()))


_READ = frozenset({Part.ALLOCATIONS, Part.ENTRIES, Part.RANGES, Part.MODULE})
RULES: tuple[AnyRule, ...] = (
    WholeRule(
        "position-mismatch", Severity.ERROR, position_mismatch, _READ, needs_whole_files=False
    ),
    WholeRule(
        "use-mismatch",
        Severity.ERROR,
        use_mismatch,
        frozenset({Part.ENTRIES, Part.RANGES, Part.MODULE}),
        needs_whole_files=False,
    ),
)
