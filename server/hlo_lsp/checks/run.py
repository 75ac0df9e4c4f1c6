"""Runs the rules over the files of a compile."""

import logging
from collections.abc import Iterator, Sequence
from itertools import groupby
from weakref import WeakKeyDictionary

from hlo_lsp.analysis.sizes import Target
from hlo_lsp.checks.case import Case, Survey
from hlo_lsp.checks.catalogue import DEFAULT
from hlo_lsp.checks.context import Context
from hlo_lsp.checks.finding import Finding
from hlo_lsp.checks.rule import AnyRule, Pace, Rule, WholeRule
from hlo_lsp.checks.thresholds import DEFAULTS, Thresholds
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine, ModuleHeader
from hlo_lsp.syntax.records import Record
from hlo_lsp.text.steps import Steps

logger = logging.getLogger(__name__)

_STEP = 150  # records looked at between two breaths: a few milliseconds
# Records of memory files with which rules of pace LINE found nothing wrong, for a target.
_Well = tuple[Target, set[Record]]
_WELL: "WeakKeyDictionary[DumpFile, _Well]" = WeakKeyDictionary()


def check(
    dump: DumpSet,
    file: DumpFile,
    rules: Sequence[AnyRule] = DEFAULT,
    thresholds: Thresholds = DEFAULTS,
) -> Steps[list[Finding]]:
    """What is wrong in one file of a compile, in the order of its lines.

    The files must stay as they are meanwhile; whoever drives the steps looks at their versions.
    """
    found: list[Finding] = []
    for part in check_by_pace(dump, file, rules, thresholds):
        if part is None:
            yield
        else:
            found += part
    return in_order(found)


def in_order(findings: list[Finding]) -> list[Finding]:
    """Findings by their places."""
    return sorted(findings, key=lambda finding: (finding.place.line, finding.place.start))


def check_by_pace(
    dump: DumpSet,
    file: DumpFile,
    rules: Sequence[AnyRule] = DEFAULT,
    thresholds: Thresholds = DEFAULTS,
) -> Iterator[list[Finding] | None]:
    """What the quick rules find, then the slower ones; None wherever others may have a turn."""
    context = Context(dump, thresholds)
    on_records = [rule for rule in rules if isinstance(rule, Rule)]
    for pace, group in groupby(sorted(on_records, key=_pace), key=_pace):
        yield from _on_records(context, file, list(group), pace)
    for rule in rules:
        if isinstance(rule, WholeRule):
            found = yield from _on_compile(context, rule)
            yield [finding for finding in found if finding.place.file is file]


def _pace(rule: "Rule[Record]") -> Pace:
    return rule.pace


def _on_records(
    context: Context, file: DumpFile, rules: "list[Rule[Record]]", pace: Pace
) -> Iterator[list[Finding] | None]:
    well = _well(context, file) if pace is Pace.LINE and file.kind.is_memory else None
    still_well: set[Record] = set()
    by_kind: dict[tuple[type[Record], str], list[Rule[Record]]] = {}
    found: list[Finding] = []
    for count, outer in enumerate(file.records):
        if count % _STEP == _STEP - 1:
            yield None
        if well is not None and outer in well:
            still_well.add(outer)
            continue
        before = len(found)
        for record in _with_inner(outer):
            kind = type(record), record.opcode if isinstance(record, InstructionLine) else ""
            fitting = by_kind.get(kind)
            if fitting is None:
                fitting = by_kind[kind] = [rule for rule in rules if rule.concerns(*kind)]
            for rule in fitting:
                case = Case(context, file, record, rule.code, rule.severity)
                try:
                    found.extend(rule.check(case))
                except Exception:  # a fault of one rule must not silence the others
                    logger.exception(
                        "rule %s failed on line %d of %s", rule.code, record.line + 1, file.label
                    )
                if isinstance(record, ModuleHeader):  # the layouts of a large step are long
                    yield None
        if len(found) == before:
            still_well.add(outer)
    if well is not None:
        _WELL[file] = context.target, still_well
    yield found


def _well(context: Context, file: DumpFile) -> set[Record]:
    target, well = _WELL.get(file, (None, set()))
    return well if target == context.target else set()


def _on_compile(context: Context, rule: WholeRule) -> Steps[list[Finding]]:
    """The findings of a rule, remembered until a file changes that it reads."""
    files = [file for file in context.dump.files if any(part.is_in(file) for part in rule.reads)]
    state = context.dump.state(files)
    key = rule, context.thresholds
    found: list[Finding] | None = context.dump.remembered(key, state)
    if found is None:
        found = []
        try:
            for finding in rule.check(Survey(context, rule.code, rule.severity)):
                if finding is None:
                    yield
                else:
                    found.append(finding)
        except Exception:
            logger.exception("rule %s failed on %s", rule.code, context.dump.files[0].label)
        context.dump.remember(key, state, found)
    return found


def _with_inner(record: Record) -> Iterator[Record]:
    """A record and those inside of it: computations written in place, and their instructions."""
    yield record
    if isinstance(record, InstructionLine):
        inside: tuple[Record, ...] = record.bodies
    elif isinstance(record, ComputationLine):
        inside = record.members
    else:
        return
    for inner in inside:
        yield from _with_inner(inner)
