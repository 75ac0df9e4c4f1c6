"""The run of a rule on a compile. Findings are cached until a file that the rule reads changes."""

import logging
import time

from hlo_lsp.checks.case import CompileCheck
from hlo_lsp.checks.context import Context
from hlo_lsp.checks.finding import Finding, Severity
from hlo_lsp.checks.rule import Part, WholeRule
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet, FileVersions
from hlo_lsp.model.section_order import is_joined
from hlo_lsp.model.truncation import ending

logger = logging.getLogger(__name__)


def on_compile(context: Context, rule: WholeRule) -> list[Finding]:
    """Return the findings of a rule, cached until a file that it reads changes."""
    found = remembered(context, rule)
    if found is None:
        state = _state(context, rule)
        found = []
        if rule.needs_whole_files and not all(map(_is_whole, _read(context, rule))):
            context.dump.remember(_key(context, rule), state, (found, []))
            return found
        begun = time.thread_time()  # excludes the time in which the job is paused
        try:
            for finding in rule.check(CompileCheck(context, rule.code, rule.severity)):
                found.append(finding)
        except Exception:  # an exception in one rule must not stop the others
            logger.exception("rule %s failed on %s", rule.code, context.dump.files[0].label)
        _note(context.dump, rule, time.thread_time() - begun)
        reported_files = {file for file, _ in state} | {one.place.file for one in found}
        reported_files |= {related.place.file for one in found for related in one.related}
        context.dump.remember(
            _key(context, rule), state, (found, context.dump.state(reported_files))
        )
    return found


def remembered(context: Context, rule: WholeRule) -> list[Finding] | None:
    """Return the cached findings of a rule, or None if they are unknown or outdated."""
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
    """Record the time of a rule in seconds.

    Rules share cached queries, and the first one pays for them. Earlier times therefore decay
    slowly.
    """
    before: float = dump.remembered((cost, rule), []) or 0.0
    dump.remember((cost, rule), [], max(seconds, 0.8 * before))


def cost(dump: DumpSet, rule: WholeRule) -> tuple[bool, int, float]:
    """Return the sort key of a rule: advice last, then the number of parts, then seconds.

    A rule that reads few parts probably reads the file that is being edited.
    """
    seconds: float = dump.remembered((cost, rule), []) or 0.0
    return rule.severity.rank > Severity.WARNING.rank, len(rule.reads), seconds


def _is_whole(file: DumpFile) -> bool:
    """Return True if a file is exactly one complete dump."""
    return ending(file) is None and not is_joined(file)


def _key(context: Context, rule: WholeRule) -> object:
    return rule, context.thresholds


def _read(context: Context, rule: WholeRule) -> dict[DumpFile, set[Part]]:
    """Return the files that a rule reads, with the parts that it reads in each."""
    files = {file: {part for part in rule.reads if part.is_in(file)} for file in context.dump.files}
    return {file: read for file, read in files.items() if read}


def _state(context: Context, rule: WholeRule) -> FileVersions:
    """Return the current versions of the files that a rule reads.

    A file without any part may be malformed or truncated. Every rule may depend on it.
    """
    dump, read = context.dump, _read(context, rule)
    rough = [file for file, parts in read.items() if parts == {Part.VALUES}]
    exact = [file for file in read if file not in rough]
    exact += (file for file in dump.files if not any(part.is_in(file) for part in Part))
    if Part.ORIGINAL in rule.reads:
        exact += dump.others
    return dump.state(exact) + dump.state(rough, but_places=True)
