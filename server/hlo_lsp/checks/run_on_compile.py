"""Runs rules on a compile: what one found holds until a file changes that it reads."""

import logging
import time

from hlo_lsp.checks.case import Survey
from hlo_lsp.checks.context import Context
from hlo_lsp.checks.finding import Finding, Severity
from hlo_lsp.checks.rule import Part, WholeRule
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet, FileVersions
from hlo_lsp.model.section_order import is_joined
from hlo_lsp.model.truncation import ending

logger = logging.getLogger(__name__)


def on_compile(context: Context, rule: WholeRule) -> list[Finding]:
    """The findings of a rule, remembered until a file changes that it reads."""
    found = remembered(context, rule)
    if found is None:
        state = _state(context, rule)
        found = []
        if rule.needs_whole_files and not all(map(_is_whole, _read(context, rule))):
            context.dump.remember(_key(context, rule), state, (found, []))
            return found
        begun = time.thread_time()  # while the job is paused it does not advance
        try:
            for finding in rule.check(Survey(context, rule.code, rule.severity)):
                found.append(finding)
        except Exception:  # a fault of one rule must not silence the others
            logger.exception("rule %s failed on %s", rule.code, context.dump.files[0].label)
        _note(context.dump, rule, time.thread_time() - begun)
        told_of = {file for file, _ in state} | {one.place.file for one in found}
        told_of |= {related.place.file for one in found for related in one.related}
        context.dump.remember(_key(context, rule), state, (found, context.dump.state(told_of)))
    return found


def remembered(context: Context, rule: WholeRule) -> list[Finding] | None:
    """What a rule found when all was as it is now, if that holds, and still stands there."""
    state = _state(context, rule)
    known: tuple[list[Finding], FileVersions] | None = context.dump.remembered(
        _key(context, rule), state
    )
    if known is None:
        return None
    found, versions = known
    holds = not found or all(file.version == version for file, version in versions)
    return found if holds else None


def _note(dump: DumpSet, rule: WholeRule, seconds: float) -> None:
    """Rules share work, and whoever comes first pays for it: what each has paid counts for long."""
    before: float = dump.remembered((cost, rule), []) or 0.0
    dump.remember((cost, rule), [], max(seconds, 0.8 * before))


def cost(dump: DumpSet, rule: WholeRule) -> tuple[bool, int, float]:
    """What to sort rules by: advice last, then how much they read, then the seconds they took.

    What reads little is near to what is being edited.
    """
    seconds: float = dump.remembered((cost, rule), []) or 0.0
    return rule.severity.rank > Severity.WARNING.rank, len(rule.reads), seconds


def _is_whole(file: DumpFile) -> bool:
    """Whether a file is one dump, and all of it."""
    return ending(file) is None and not is_joined(file)


def _key(context: Context, rule: WholeRule) -> object:
    return rule, context.thresholds


def _read(context: Context, rule: WholeRule) -> dict[DumpFile, set[Part]]:
    """The files that a rule reads, with what it reads in each."""
    files = {file: {part for part in rule.reads if part.is_in(file)} for file in context.dump.files}
    return {file: read for file, read in files.items() if read}


def _state(context: Context, rule: WholeRule) -> FileVersions:
    """The files that a rule reads, as they are now.

    Of a file that has nothing in it that makes a part, as it is broken or cut off, nobody knows who
    speaks of it.
    """
    dump, read = context.dump, _read(context, rule)
    rough = [file for file, parts in read.items() if parts == {Part.VALUES}]
    exact = [file for file in read if file not in rough]
    exact += (file for file in dump.files if not any(part.is_in(file) for part in Part))
    if Part.ORIGINAL in rule.reads:
        exact += dump.others
    return dump.state(exact) + dump.state(rough, but_places=True)
