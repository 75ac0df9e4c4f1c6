"""What is wrong in a file, for every request that is about it."""

from collections.abc import Callable, Sequence

from hlo_lsp.checks.finding import Finding
from hlo_lsp.checks.run import Part, check_by_pace, in_order
from hlo_lsp.features.running import steadily
from hlo_lsp.features.session import Asked
from hlo_lsp.features.spare_memory import give_back
from hlo_lsp.text.steps import Steps

Tell = Callable[[list[Finding], frozenset[str]], None]


class _Key(tuple[object, ...]):
    """What findings are remembered under: nothing else has keys of this type."""

    __slots__ = ()


async def findings(asked: Asked, tell: Tell | None = None) -> list[Finding]:
    """What is wrong in a file, in the order of its lines, as its text is at the end of the work.

    Meanwhile ``tell`` is told between two slices of the work what was found so far, and which
    codes are still to come. If the text changes it begins anew.
    """
    async with asked.turn:
        return await _findings(asked, tell)


def known_findings(asked: Asked) -> list[Finding] | None:
    """What is wrong in a file, if that was found out already; its text is as it was then."""
    state = asked.dump.state(asked.dump.files)
    known: list[Finding] | None = asked.dump.remembered(_key(asked), state)
    return known if all(file.is_fresh for file in asked.dump.files) else None


async def findings_of_all(parts: Sequence[Asked]) -> list[Finding]:
    """What is wrong in the files of a text, all of them as they are at the end of the work."""
    while True:
        files = [file for asked in parts for file in asked.dump.files]
        before = [file.version for file in files]
        found = [one for asked in parts for one in await findings(asked)]
        if [file.version for file in files] == before and all(file.is_fresh for file in files):
            return found


async def _findings(asked: Asked, tell: Tell | None) -> list[Finding]:
    known = known_findings(asked)
    if known is not None:
        return known
    found = await steadily(asked.dump, lambda: _looked(asked, tell), asked.rest)
    asked.dump.remember(_key(asked), asked.dump.state(asked.dump.files), found)
    give_back()
    return found


def _key(asked: Asked) -> _Key:
    return _Key((asked.file, asked.selection))


def state_of(asked: Asked, selection: int) -> str:
    """A text that stays the same as long as the findings in a file do.

    ``selection`` is a number that only this selection of rules has.
    """
    versions = ".".join(str(file.version) for file in asked.dump.files)
    return f"{asked.dump.number}-{versions}@{asked.file.first_line}/{selection}"


def _looked(asked: Asked, tell: Tell | None) -> Steps[list[Finding]]:
    chosen = asked.selection
    part: Part | None
    found: list[Finding] = []
    pending: frozenset[str] = frozenset()
    for part in check_by_pace(asked.dump, asked.file, chosen.rules, chosen.thresholds):
        if part is not None:
            found += part.findings
            pending = part.pending
            continue
        if tell is not None and pending:
            tell(found, pending)
        yield
    return in_order(found)
