"""The run of all rules on one file of a compile.

One wrong number often contradicts several others, so that several rules report it. A rule does not
decide which number is wrong: ``precedence.toml`` selects the finding that is kept on a line.
"""

import logging
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from graphlib import TopologicalSorter
from itertools import groupby
from operator import attrgetter
from typing import Any

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.checks.catalogue import CATALOGUE, DEFAULT_RULES
from hlo_lsp.checks.framework.finding import Finding, Severity
from hlo_lsp.checks.framework.options import DEFAULTS, Limits
from hlo_lsp.checks.framework.rule import (
    AnyRule,
    InstructionForm,
    Pace,
    RecordContext,
    Rule,
    WholeRule,
    enclosing_computation,
    instruction_form,
)
from hlo_lsp.checks.incremental_records import CleanRecords, clean_records
from hlo_lsp.hlo.vocabulary import read_toml
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.computation import Computation
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.padded_sizes import target_of
from hlo_lsp.model.place import Place
from hlo_lsp.model.sections import ending, is_joined
from hlo_lsp.model.stdout_dump import SectionFile
from hlo_lsp.model.unknown_forms import NO_FORMS, irregular_in_block, unknown_forms
from hlo_lsp.program.computation_forms import ComputationForms, has_only_whole_names
from hlo_lsp.program.foreign_files import same_compile
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.module_records import (
    ComputationLine,
    InstructionLine,
    ModuleHeader,
    with_inner_records,
)
from hlo_lsp.syntax.records import BlankLine, Record, RecordBlock

logger = logging.getLogger(__name__)

_RECORDS_PER_BATCH = 150
_MAX_CLEAN_FORMS = 20_000  # of 0.4 KB each
_MIN_GROWTH = 1.2  # of findings before all of them are compared again


@dataclass(frozen=True, slots=True)
class CheckProgress:
    """All findings in a file so far; ``pending`` has the codes that may still be reported."""

    findings: list[Finding]
    pending: frozenset[str]


def check(
    dump: Compile,
    file: DumpFile,
    rules: Sequence[AnyRule] = DEFAULT_RULES,
    thresholds: Limits = DEFAULTS,
) -> list[Finding]:
    """Return the findings in one file of a compile, in the order of its lines.

    The files must not change meanwhile. The caller compares their versions at checkpoints.
    """
    found: list[Finding] = []
    for progress in check_by_pace(dump, file, rules, thresholds):
        found = progress.findings
    return sort_findings(found)


def sort_findings(findings: list[Finding]) -> list[Finding]:
    """Sort findings by place, then by severity, most severe first, then by text.

    The order in which rules run varies, and the order of the output must not.
    """
    return sorted(
        findings,
        key=lambda one: (one.place.line, one.place.start, one.severity.rank, one.code, one.message),
    )


def check_by_pace(
    dump: Compile,
    file: DumpFile,
    rules: Sequence[AnyRule] = DEFAULT_RULES,
    thresholds: Limits = DEFAULTS,
) -> Iterator[CheckProgress]:
    """Yield the findings of the quick rules, then those that the slower rules add.

    Rules on records begin at the line of the last edit, where a user expects diagnostics first.
    Of the rules on the compile, advice comes last. Those that find nothing in this file run only if
    they may suppress what was found; if all rules are such ones, nothing is yielded.
    """
    if isinstance(file, SectionFile) and file.is_fragment:
        return
    own = same_compile(dump, file)
    codes = {rule.code for rule in rules}
    # What a code that is not selected suppresses stays suppressed.
    above = suppressors_of(codes) - codes
    running = [*rules, *(rule for rule in CATALOGUE if rule.code in above)]
    on_records = [rule for rule in running if isinstance(rule, Rule)]
    whole = [rule for rule in running if isinstance(rule, WholeRule)]
    whole.sort(key=lambda rule: rule.severity.rank > Severity.WARNING.rank)
    clean = clean_records(file, tuple(on_records), target_of(own))
    pending = Counter(rule.code for rule in running)
    everything: list[Finding] = []
    kept: list[Finding] = []
    kept_from = 0  # findings
    by_pace = attrgetter("pace")
    for pace, group in groupby(sorted(on_records, key=by_pace), key=by_pace):
        of_pace = list(group)
        is_module = file.kind is FileKind.MODULE
        # In a file of several modules, the module of a name or a frame is unknown.
        is_skipped = is_module and (pace is Pace.LINE or is_joined(file))
        for found in () if is_skipped else _on_records(own, file, of_pace, clean[pace]):
            everything += found
            if len(everything) > _MIN_GROWTH * kept_from:
                kept, kept_from = _kept(everything, file, codes), len(everything)
            yield CheckProgress(kept, frozenset(pending) & codes)
        pending -= Counter(rule.code for rule in of_pace)
    here = [rule for rule in whole if rule.may_find_in(file)]
    elsewhere = [rule for rule in whole if not rule.may_find_in(file)]
    pending -= Counter(rule.code for rule in elsewhere)
    for rule in here:
        everything += rule.findings(own, dump, thresholds)
        pending -= Counter([rule.code])
        if len(everything) > kept_from:
            kept, kept_from = _kept(everything, file, codes), len(everything)
        yield CheckProgress(kept, frozenset(pending) & codes)
    above = suppressors_of({one.code for one in everything if one.place.file is file})
    found_elsewhere = [
        finding
        for rule in elsewhere
        if rule.code in above
        for finding in rule.findings(own, dump, thresholds)
    ]
    if found_elsewhere:
        yield CheckProgress(_kept([*everything, *found_elsewhere], file, codes), frozenset())


def _kept(findings: list[Finding], file: DumpFile, codes: set[str]) -> list[Finding]:
    """Return the findings in a file with one of the codes that no other finding suppresses."""
    return [one for one in unsuppressed(findings) if one.place.file is file and one.code in codes]


def _on_records(
    dump: Compile, file: DumpFile, rules: "list[Rule[Record]]", clean: CleanRecords
) -> Iterator[list[Finding]]:
    """Yield the findings in the records of a file, in batches."""
    clean.refresh()
    checker = _RecordChecker(file, rules)
    found: list[Finding] = []
    block: RecordBlock | None = None
    irregular: frozenset[Record] = frozenset()
    is_memory = file.kind.is_memory
    scopes = _Scopes(file)
    repeated = _RepeatedComputations(file, clean) if checker.has_forms else None
    forms = None if repeated is None else repeated.forms
    finding_count = 0
    count = 0
    for count, outer in enumerate(file.records.beginning_at(file.edited_line)):
        if count % _RECORDS_PER_BATCH == 0:
            checkpoint()
            if found:
                yield found
                found = []
        if outer in clean.records or isinstance(outer, BlankLine):
            continue
        if (
            repeated is not None
            and isinstance(outer, ComputationLine)
            and repeated.is_clean(outer, finding_count)
        ):
            continue
        if outer.block is not block:
            block = outer.block
            irregular = irregular_in_block(file, block)
        is_regular = outer not in irregular
        if is_memory and not checker.by_kind[type(outer), "", is_regular, False]:
            continue
        scope: Computation | None = None
        form: InstructionForm | None = None
        if isinstance(outer, InstructionLine):
            scope = scopes.of(outer)
            form = None if scope is None else instruction_form(outer, scope, forms)
            if is_regular and checker.has_clean_form(outer, form):  # nearly always
                clean.records.add(outer)
                continue
        checkpoint()
        context: RecordContext[Any] = RecordContext(dump, file, outer, scope, form)
        own = checker.findings(context, is_regular=is_regular)
        if own:
            found += own
            finding_count += len(own)
        elif checker.is_whole(outer):
            clean.add(context)
    clean.trim(count)
    yield found


class _RecordChecker:
    """The rules of a pace, and the forms of instructions in which they found nothing.

    The layers of a model differ in names: nine of ten instructions of L96 have the form of another
    one. The rules that read only the form find nothing in these, either.
    """

    def __init__(self, file: DumpFile, rules: "list[Rule[Record]]") -> None:
        self._file = file
        self.by_kind = _RulesByKind(rules)
        self._clean_forms: dict[InstructionForm | None, list[Rule[Record]]] = {}
        cut = ending(file)
        self._cut_off = frozenset() if cut is None else cut.records
        self._unknown = unknown_forms(file) if file.kind is FileKind.MODULE else NO_FORMS

    @property
    def has_forms(self) -> bool:
        """True if the form of a computation determines what the rules find in its records."""
        is_known = self._file.kind is FileKind.MODULE and not self._unknown.forms
        return is_known and not self._cut_off

    def is_whole(self, record: Record) -> bool:
        """Return whether a record is not truncated, and the file has no unknown forms."""
        return not self._unknown.forms and record not in self._cut_off

    def has_clean_form(self, record: InstructionLine, form: InstructionForm | None) -> bool:
        """Return whether no rule finds anything in a regular instruction of a form."""
        return self._clean_forms.get(form) == [] and self.is_whole(record)

    def findings(self, outer: "RecordContext[Any]", *, is_regular: bool) -> list[Finding]:
        """Return the findings in a record and in the records inside of it."""
        record = outer.record
        form = outer.form if is_regular and self.is_whole(record) else None
        rules_beyond_form = self._clean_forms.get(form)
        found: list[Finding] = []
        if rules_beyond_form is not None:
            if rules_beyond_form:  # nearly never
                _apply(rules_beyond_form, outer, found)
            return found
        is_known = not self._unknown.forms or not self._unknown.concern(self._file, record)
        for context in _contexts(outer):
            fitting = self.by_kind[_key(context, is_regular=is_regular)]
            if context.record in self._cut_off:  # another rule reports the truncation
                fitting = [rule for rule in fitting if rule.code != "syntax"]
            if not is_known:
                fitting = [rule for rule in fitting if rule.code == "syntax"]
            _apply(fitting, context, found)
        if form is not None and not found:
            if len(self._clean_forms) == _MAX_CLEAN_FORMS:
                self._clean_forms.clear()
            fitting = self.by_kind[_key(outer, is_regular=True)]
            self._clean_forms[form] = [rule for rule in fitting if not rule.is_of_form(form)]
        return found


class _RepeatedComputations:
    """The forms of computations in whose records no rule finds anything."""

    def __init__(self, file: DumpFile, clean: CleanRecords) -> None:
        self.forms = ComputationForms(file.module)
        self._file = file
        self._clean = clean
        self._clean_forms: set[int] = set()
        # The last computation, its form, and the number of findings before it.
        self._last: tuple[Computation, int, int] | None = None

    def is_clean(self, head: ComputationLine, finding_count: int) -> bool:
        """Return whether a computation has the form of a clean one, and its records are clean.

        Of other computations, all records must be checked before the next call.

        Args:
            head: The line that opens the computation.
            finding_count: The number of findings in all records before it.
        """
        if self._last is not None:
            scope, number, before = self._last
            if finding_count == before and has_only_whole_names(scope):
                self._clean_forms.add(number)
            self._last = None
        scope = self._file.module.computation(head)
        if not self._clean.records.isdisjoint(scope.members[:1]):
            return False  # after an edit, most records of a computation remain clean
        found = self.forms.of(head)
        if found in self._clean_forms and scope.closing is not None:
            self._clean.records.update((head, *scope.members, scope.closing))
            return True
        if found is not None:
            self._last = scope, found, finding_count
        return False


class _Scopes:
    """The computations that enclose instructions, for records in the order of the file."""

    def __init__(self, file: DumpFile) -> None:
        self._file = file
        self._above: InstructionLine | None = None
        self._scope: Computation | None = None

    def of(self, record: InstructionLine) -> Computation | None:
        """Return the computation of an instruction; adjacent instructions have the same one."""
        above = self._above
        if (
            above is None
            or above.block is not record.block
            or above.start + above.line_count != record.start
        ):
            self._scope = enclosing_computation(self._file, record)
        self._above = record
        return self._scope


def _contexts(outer: "RecordContext[Record]") -> "Iterator[RecordContext[Record]]":
    """Yield the contexts of a record and of the records in it."""
    yield outer
    dump, file, record = outer.dump, outer.file, outer.record
    if getattr(record, "bodies", ()) or getattr(record, "members", ()):  # nearly never
        for inner in with_inner_records(record):
            if inner is not record:
                scope = form = None
                if isinstance(inner, InstructionLine):
                    scope = enclosing_computation(file, inner)
                    form = None if scope is None else instruction_form(inner, scope)
                yield RecordContext(dump, file, inner, scope, form)


_Key = tuple[type[Record], str, bool, bool]


def _key(context: "RecordContext[Any]", *, is_regular: bool) -> _Key:
    """Return the key of the rules that apply to a record."""
    record = context.record
    if not isinstance(record, InstructionLine):
        return type(record), "", is_regular, False
    return type(record), record.opcode, is_regular, context.form is not None


class _RulesByKind(dict[_Key, "list[Rule[Record]]"]):
    """The rules that apply to records of a type and an opcode, selected on first access.

    The last parts of a key are whether the text and the operands of the record are regular.
    """

    def __init__(self, rules: "list[Rule[Record]]") -> None:
        super().__init__()
        self._rules = rules

    def __missing__(self, key: _Key) -> "list[Rule[Record]]":
        kind, opcode, is_regular, is_plain = key
        fitting = self[key] = [
            rule
            for rule in self._rules
            if rule.concerns(kind, opcode, is_regular=is_regular, is_plain=is_plain)
        ]
        return fitting


def _apply(
    rules: "list[Rule[Record]]", context: "RecordContext[Record]", found: list[Finding]
) -> None:
    """Add the findings of rules on a record."""
    is_header = isinstance(context.record, ModuleHeader)
    for rule in rules:
        context.code, context.severity = rule.code, rule.severity
        try:
            found.extend(rule.check(context))
        except Exception:  # a defect of one rule must not hide the findings of the others
            line = context.record.line + 1
            logger.exception("rule %s failed on line %d of %s", rule.code, line, context.file.label)
        if is_header:  # its layouts may be long
            checkpoint()


class Scope(Enum):
    """The part of a dump that a finding shares with the findings that it suppresses."""

    LINE = "line"
    RECORD = "record"
    FILE = "file"


Table = Mapping[str, Mapping[Scope, frozenset[str]]]
SUPPRESSES: Table = {
    code: {Scope(scope): frozenset(codes) for scope, codes in scopes.items()}
    for code, scopes in read_toml("precedence", __package__).items()
}


def ranks(table: Table) -> dict[str, int]:
    """Return a number for each code of a table, greater than those of the codes that suppress it.

    Raises:
        CycleError: a code suppresses itself, directly or through others.
    """
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for code, scopes in table.items():
        for suppressed in frozenset().union(*scopes.values()):
            sorter.add(suppressed, code)
    return {code: rank for rank, code in enumerate(sorter.static_order())}


_RANKS = ranks(SUPPRESSES)


def unsuppressed(findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings that no other one suppresses, in the same order."""
    kept: set[int] = set()
    suppressed: defaultdict[tuple[Scope, DumpFile, object], set[str]] = defaultdict(set)
    for number in sorted(range(len(findings)), key=lambda at: _RANKS.get(findings[at].code, 0)):
        finding = findings[number]
        places = (finding.place, *(related.place for related in finding.related))
        if any(finding.code in suppressed[key] for place in places for key in _keys(place)):
            continue
        kept.add(number)
        for scope, codes in SUPPRESSES.get(finding.code, {}).items():
            for key in (key for place in places for key in _keys(place) if key[0] is scope):
                suppressed[key] |= codes
    return [finding for number, finding in enumerate(findings) if number in kept]


def _keys(place: Place) -> Iterable[tuple[Scope, DumpFile, object]]:
    file, line = place.file, place.line
    record: Record | int = file.records.at(line) or line
    return (Scope.LINE, file, line), (Scope.RECORD, file, record), (Scope.FILE, file, None)


def suppressors_of(codes: Iterable[str]) -> set[str]:
    """Return the codes that suppress some of these, directly or through others."""
    found: set[str] = set()
    left = set(codes)
    while left:
        left = {
            code
            for code, scopes in SUPPRESSES.items()
            if code not in found and any(left & suppressed for suppressed in scopes.values())
        }
        found |= left
    return found
