"""Runs the rules over the files of a compile."""

import logging
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from weakref import WeakKeyDictionary

from hlo_lsp.analysis.files.ending import ending
from hlo_lsp.analysis.files.sections import is_joined
from hlo_lsp.analysis.files.siblings import kin
from hlo_lsp.analysis.shapes.sizes import Target
from hlo_lsp.checks.case import Case, Survey
from hlo_lsp.checks.catalogue import DEFAULT
from hlo_lsp.checks.context import Context
from hlo_lsp.checks.finding import Finding, Severity
from hlo_lsp.checks.rule import AnyRule, Pace, Rule, WholeRule
from hlo_lsp.checks.wishes.thresholds import DEFAULTS, Thresholds
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet, State
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine, ModuleHeader
from hlo_lsp.syntax.records import Record
from hlo_lsp.text.steps import Steps

logger = logging.getLogger(__name__)

_STEP = 150  # records looked at between two breaths: a few milliseconds
# Records of memory files with which rules of pace LINE found nothing wrong: the rules, the target.
_Well = tuple[list[AnyRule], Target, set[Record]]
_WELL: "WeakKeyDictionary[DumpFile, _Well]" = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class Part:
    """What some of the rules found. ``pending`` are the codes of those that come later."""

    findings: list[Finding]
    pending: frozenset[str]


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
            found += part.findings
    return in_order(found)


def in_order(findings: list[Finding]) -> list[Finding]:
    """Findings by their places."""
    return sorted(findings, key=lambda finding: (finding.place.line, finding.place.start))


def check_by_pace(
    dump: DumpSet,
    file: DumpFile,
    rules: Sequence[AnyRule] = DEFAULT,
    thresholds: Thresholds = DEFAULTS,
) -> Iterator[Part | None]:
    """What the quick rules find, then the slower ones; None wherever others may have a turn.

    Of rules on the compile those come first that have nothing new to look at, then those that find
    errors, and of these the ones that took little time before or read few files.
    """
    kindred = yield from kin(dump, file)
    context = Context(kindred, thresholds, whole=dump)
    on_records = [rule for rule in rules if isinstance(rule, Rule)]
    on_compile = [rule for rule in rules if isinstance(rule, WholeRule)]
    on_compile.sort(key=lambda rule: (_remembered(context, rule) is None, *_cost(dump, rule)))
    pending = Counter(rule.code for rule in rules)
    for pace, group in groupby(sorted(on_records, key=_pace), key=_pace):
        of_pace = list(group)
        found = yield from _on_records(context, file, of_pace, pace)
        pending -= Counter(rule.code for rule in of_pace)
        yield Part(found, frozenset(pending))
    for rule in on_compile:
        found = yield from _on_compile(context, rule)
        pending -= Counter([rule.code])
        yield Part([one for one in found if one.place.file is file], frozenset(pending))


def _cost(dump: DumpSet, rule: WholeRule) -> tuple[bool, float, int]:
    seconds: float = dump.remembered((_cost, rule), []) or 0.0
    return rule.severity.rank > Severity.WARNING.rank, seconds, len(rule.reads)


def _pace(rule: "Rule[Record]") -> Pace:
    return rule.pace


def _on_records(
    context: Context, file: DumpFile, rules: "list[Rule[Record]]", pace: Pace
) -> Steps[list[Finding]]:
    well = None
    if pace is Pace.LINE and file.kind.is_memory:
        well = _well(context, file, rules)
    still_well: set[Record] = set()
    by_kind: dict[tuple[type[Record], str], list[Rule[Record]]] = {}
    found: list[Finding] = []
    cut = ending(file)
    cut_off = frozenset() if cut is None else cut.records
    for count, outer in enumerate(file.records):
        if count % _STEP == _STEP - 1:
            yield
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
                if record in cut_off and rule.code == "syntax":
                    continue  # that the text ends there is told by a code of its own
                case = Case(context, file, record, rule.code, rule.severity)
                try:
                    found.extend(rule.check(case))
                except Exception:  # a fault of one rule must not silence the others
                    logger.exception(
                        "rule %s failed on line %d of %s", rule.code, record.line + 1, file.label
                    )
                if isinstance(record, ModuleHeader):  # the layouts of a large step are long
                    yield
        if len(found) == before and outer not in cut_off:
            still_well.add(outer)
    if well is not None:
        _WELL[file] = [*rules], context.target, still_well
    return found


def _well(context: Context, file: DumpFile, rules: "list[Rule[Record]]") -> set[Record]:
    known_rules, target, well = _WELL.get(file, ([], None, set()))
    return well if known_rules == rules and target == context.target else set()


def _on_compile(context: Context, rule: WholeRule) -> Steps[list[Finding]]:
    """The findings of a rule, remembered until a file changes that it reads."""
    found = _remembered(context, rule)
    if found is None:
        state = _state(context, rule)
        found = []
        if rule.needs_whole_files and not all(_is_whole(file) for file, _ in state):
            context.dump.remember(_key(context, rule), state, found)
            return found
        seconds, begun = 0.0, time.monotonic()
        try:
            for finding in rule.check(Survey(context, rule.code, rule.severity)):
                if finding is None:
                    seconds += time.monotonic() - begun
                    yield  # the time that others take does not count
                    begun = time.monotonic()
                else:
                    found.append(finding)
        except Exception:
            logger.exception("rule %s failed on %s", rule.code, context.dump.files[0].label)
        seconds += time.monotonic() - begun
        context.dump.remember((_cost, rule), [], seconds)
        context.dump.remember(_key(context, rule), state, found)
    return found


def _is_whole(file: DumpFile) -> bool:
    """Whether a file is one dump, and all of it."""
    return ending(file) is None and not is_joined(file)


def _remembered(context: Context, rule: WholeRule) -> list[Finding] | None:
    found: list[Finding] | None = context.dump.remembered(
        _key(context, rule), _state(context, rule)
    )
    return found


def _key(context: Context, rule: WholeRule) -> object:
    return rule, context.thresholds


def _state(context: Context, rule: WholeRule) -> State:
    files = context.dump.files
    return context.dump.state(
        file for file in files if any(part.is_in(file) for part in rule.reads)
    )


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
