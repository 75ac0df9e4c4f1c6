"""Runs the rules over the files of a set."""

import logging
from collections.abc import Iterator

from hlo_lsp.checks.catalogue import CATALOGUE
from hlo_lsp.checks.finding import Finding
from hlo_lsp.checks.rule import AnyRule, Case, Context
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine, ModuleHeader
from hlo_lsp.syntax.records import Record
from hlo_lsp.text.steps import Steps

logger = logging.getLogger(__name__)

_STEP = 150  # records looked at between two breaths: a few milliseconds


def check(dump: DumpSet, file: DumpFile) -> Steps[list[Finding]]:
    """What is wrong in one file of a set, in the order of its lines.

    The file must stay as it is meanwhile; whoever drives the steps looks at its version.
    """
    context = Context(dump)
    by_kind: dict[tuple[type[Record], str], list[AnyRule]] = {}
    found: list[Finding] = []
    for count, outer in enumerate(file.records):
        for record in _with_inner(outer):
            kind = type(record), record.opcode if isinstance(record, InstructionLine) else ""
            rules = by_kind.get(kind)
            if rules is None:
                rules = by_kind[kind] = [rule for rule in CATALOGUE if rule.concerns(*kind)]
            for rule in rules:
                case = Case(context, file, record, rule.code, rule.severity)
                try:
                    found.extend(rule.check(case))
                except Exception:  # a fault of one rule must not silence the others
                    logger.exception(
                        "rule %s failed on line %d of %s", rule.code, record.line + 1, file.label
                    )
                if isinstance(record, ModuleHeader):  # the layouts of a large step are long
                    yield
        if count % _STEP == _STEP - 1:
            yield
    return sorted(found, key=lambda finding: (finding.place.line, finding.place.start))


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
