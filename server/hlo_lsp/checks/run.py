"""Runs the rules over the files of a set."""

import logging

from hlo_lsp.checks.catalogue import CATALOGUE
from hlo_lsp.checks.finding import Finding
from hlo_lsp.checks.rule import AnyRule, Case, Context
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.syntax.records import Record
from hlo_lsp.text.steps import Steps

logger = logging.getLogger(__name__)

_STEP = 400  # records looked at between two breaths: a few milliseconds


def check(dump: DumpSet, file: DumpFile) -> Steps[list[Finding]]:
    """What is wrong in one file of a set, in the order of its lines.

    The file must stay as it is meanwhile; whoever drives the steps looks at its version.
    """
    context = Context(dump)
    by_type: dict[type[Record], list[AnyRule]] = {}
    for rule in CATALOGUE:
        by_type.setdefault(rule.applies_to, []).append(rule)
    found: list[Finding] = []
    for count, record in enumerate(file.records):
        for rule in by_type.get(type(record), ()):
            case = Case(context, file, record, rule.code, rule.severity)
            try:
                found.extend(rule.check(case))
            except Exception:  # a fault of one rule must not silence the others
                logger.exception(
                    "rule %s failed on line %d of %s", rule.code, record.line + 1, file.label
                )
        if count % _STEP == _STEP - 1:
            yield
    return sorted(found, key=lambda finding: (finding.place.line, finding.place.start))
