"""Runs the rules over the files of a compile."""

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from weakref import WeakKeyDictionary

from hlo_lsp.checks.case import Case
from hlo_lsp.checks.catalogue import DEFAULT
from hlo_lsp.checks.config.options import DEFAULTS, Thresholds
from hlo_lsp.checks.context import Context
from hlo_lsp.checks.finding import Finding
from hlo_lsp.checks.precedence import unsuppressed
from hlo_lsp.checks.rule import AnyRule, Pace, Rule, WholeRule
from hlo_lsp.checks.run_on_compile import cost, on_compile, remembered
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.section_order import is_joined
from hlo_lsp.model.sizes import Target
from hlo_lsp.model.truncation import ending
from hlo_lsp.program.foreign_files import same_compile
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine, ModuleHeader
from hlo_lsp.syntax.records import Record
from hlo_lsp.text.checkpoint import checkpoint

logger = logging.getLogger(__name__)

_STEP = 150  # records looked at between two breaths: a few milliseconds
# Records of memory files with which rules of pace LINE found nothing wrong: the rules, the target.
_Well = tuple[list[AnyRule], Target, set[Record]]
_WELL: "WeakKeyDictionary[DumpFile, _Well]" = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class CheckProgress:
    """All findings so far in a file; ``pending`` are the codes of which more may come."""

    findings: list[Finding]
    pending: frozenset[str]


def check(
    dump: DumpSet,
    file: DumpFile,
    rules: Sequence[AnyRule] = DEFAULT,
    thresholds: Thresholds = DEFAULTS,
) -> list[Finding]:
    """What is wrong in one file of a compile, in the order of its lines.

    The files must stay as they are meanwhile; whoever drives the steps looks at their versions.
    """
    found: list[Finding] = []
    for progress in check_by_pace(dump, file, rules, thresholds):
        found = progress.findings
    return in_order(found)


def in_order(findings: list[Finding]) -> list[Finding]:
    """Findings by their places, those at one place the worst first.

    Rules run in another order from time to time: what they say does not stand in another.
    """
    return sorted(
        findings,
        key=lambda one: (one.place.line, one.place.start, one.severity.rank, one.code),
    )


def check_by_pace(
    dump: DumpSet,
    file: DumpFile,
    rules: Sequence[AnyRule] = DEFAULT,
    thresholds: Thresholds = DEFAULTS,
) -> Iterator[CheckProgress]:
    """Yield what the quick rules find, then what the slower ones add.

    Rules on records begin where the text was edited last: there somebody waits for what they say.
    Of rules on the compile those come first that have nothing new to look at, then those that find
    errors, and of these the ones that took little time before or read few files.
    """
    context = Context(same_compile(dump, file), thresholds, whole=dump)
    on_records = [rule for rule in rules if isinstance(rule, Rule)]
    whole = [rule for rule in rules if isinstance(rule, WholeRule)]
    whole.sort(key=lambda rule: (remembered(context, rule) is None, *cost(dump, rule)))
    pending = Counter(rule.code for rule in rules)
    everything: list[Finding] = []
    for pace, group in groupby(sorted(on_records, key=_pace), key=_pace):
        of_pace = list(group)
        # In several modules nobody can tell which of them a name or a frame is of.
        joined = pace is not Pace.LINE and file.kind is FileKind.MODULE and is_joined(file)
        for found in _on_records(context, file, [] if joined else of_pace, pace):
            everything += found
            yield CheckProgress(_kept(everything, file), frozenset(pending))
        pending -= Counter(rule.code for rule in of_pace)
    for rule in whole:
        everything += on_compile(context, rule)
        pending -= Counter([rule.code])
        yield CheckProgress(_kept(everything, file), frozenset(pending))


def _kept(findings: list[Finding], file: DumpFile) -> list[Finding]:
    """The findings in a file that none of the compile suppresses."""
    return [one for one in unsuppressed(findings) if one.place.file is file]


def _pace(rule: "Rule[Record]") -> Pace:
    return rule.pace


def _on_records(
    context: Context, file: DumpFile, rules: "list[Rule[Record]]", pace: Pace
) -> Iterator[list[Finding]]:
    """What is found in some records, then in others; None between."""
    well = None
    if pace is Pace.LINE and file.kind.is_memory:
        well = _well(context, file, rules)
    still_well: set[Record] = set()
    by_kind = _ByKind(rules)
    found: list[Finding] = []
    cut = ending(file)
    cut_off = frozenset() if cut is None else cut.records
    for count, outer in enumerate(file.records.beginning_at(file.edited_line)):
        if count % _STEP == _STEP - 1:
            if found:
                yield found
                found = []
            checkpoint()
        if well is not None and outer in well:
            still_well.add(outer)
            continue
        before = len(found)
        for record in _with_inner(outer):
            kind = type(record), record.opcode if isinstance(record, InstructionLine) else ""
            for rule in by_kind[kind]:
                if record in cut_off and rule.code == "syntax":
                    continue  # that the text ends there is told by a code of its own
                _ask(rule, Case(context, file, record, rule.code, rule.severity), found)
                if isinstance(record, ModuleHeader):  # the layouts of a large step are long
                    checkpoint()
        if len(found) == before and outer not in cut_off:
            still_well.add(outer)
    if well is not None:
        _WELL[file] = [*rules], context.target, still_well
    yield found


class _ByKind(dict[tuple[type[Record], str], "list[Rule[Record]]"]):
    """The rules that look at records of a type and an opcode, chosen when first asked for."""

    def __init__(self, rules: "list[Rule[Record]]") -> None:
        super().__init__()
        self._rules = rules

    def __missing__(self, kind: tuple[type[Record], str]) -> "list[Rule[Record]]":
        fitting = self[kind] = [rule for rule in self._rules if rule.concerns(*kind)]
        return fitting


def _ask(rule: "Rule[Record]", case: "Case[Record]", found: list[Finding]) -> None:
    """Add what a rule says of a record; a fault of one rule must not silence the others."""
    try:
        found.extend(rule.check(case))
    except Exception:
        line = case.record.line + 1
        logger.exception("rule %s failed on line %d of %s", rule.code, line, case.file.label)


def _well(context: Context, file: DumpFile, rules: "list[Rule[Record]]") -> set[Record]:
    known_rules, target, well = _WELL.get(file, ([], None, set()))
    return well if known_rules == rules and target == context.target else set()


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
