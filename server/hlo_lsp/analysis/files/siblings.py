"""Whether the files of one stem are of one compile, and whether one of them is missing.

A module keeps its id and name from compile to compile, so that files of several runs get mixed when
folders are copied together.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, count, islice
from pathlib import Path
from typing import TypeVar

from hlo_lsp.analysis.files.ending import ending
from hlo_lsp.analysis.files.sections import is_joined
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet, defining_text
from hlo_lsp.model.file_names import DumpName, FileRole
from hlo_lsp.model.sizes import subshape_text
from hlo_lsp.model.stdout_dump import SectionFile
from hlo_lsp.program.passes import module_at_buffer_assignment
from hlo_lsp.syntax.file_kinds import FileKind, detect_file_kind
from hlo_lsp.syntax.memory_records import AllocationLine, AssignedValue
from hlo_lsp.syntax.used_value import UsedValue
from hlo_lsp.text.checkpoint import checkpoint
from hlo_lsp.text.disk import UnreadableError, read_document_until

_HEAD = 200  # lines that tell what a file is
_SAMPLE = 200  # facts of a file that are looked for in another
_FEWEST = 3  # facts that say anything
_MANY = 10  # facts that differ: more than one damage does

T = TypeVar("T")
Pair = tuple[AssignedValue | None, UsedValue | None]


@dataclass(frozen=True, slots=True)
class Comparison:
    """How many facts of two files agree: ids with their names, names, shapes."""

    agreeing: int
    compared: int
    what: str

    @property
    def is_alien(self) -> bool:
        """Whether so few agree that the files cannot be of one compile.

        Damage to some lines of one file leaves most facts as they were; the same program compiled
        for another chip changes many.
        """
        differing = self.compared - self.agreeing
        is_other_compile = differing >= _MANY and differing * 10 >= self.compared
        return self.compared >= _FEWEST and (2 * self.agreeing < self.compared or is_other_compile)

    @property
    def is_kindred(self) -> bool:
        """Whether most of enough facts agree.

        Half of them are no sign: names like ``copy.3`` and ``fusion`` are in many programs.
        """
        return self.compared >= _FEWEST and 3 * self.agreeing > 2 * self.compared


@dataclass(frozen=True, slots=True)
class Stranger:
    """A file that is of another compile than most, by a comparison with one of those."""

    file: DumpFile
    home: DumpFile
    comparison: Comparison


@dataclass(frozen=True, slots=True)
class MissingSibling:
    """A file that XLA writes together with others that are there.

    ``trouble`` says what there is in its place: ``is missing``, ``is empty``, ``is no dump``.
    """

    beside: DumpFile
    name: str
    trouble: str


def strangers(dump: DumpSet) -> tuple[Stranger, ...]:
    """The files that do not belong to the others; remembered until one changes.

    Of two groups of files the larger one is at home, of two alike the one with the allocations.
    Reports are not looked at: they are made again from the allocations, which says more.
    """
    state = dump.state(dump.files, but_places=True)
    known: tuple[Stranger, ...] | None = dump.remembered(strangers, state)
    if known is None:
        known = _strangers(dump)
        dump.remember(strangers, state, known)
    return known


def kin(dump: DumpSet, file: DumpFile) -> DumpSet:
    """The files of a set that are of one compile with this one, as a set; often the set itself.

    Remembered until a file changes, with all that was found out about it.
    """
    odd = {stranger.file for stranger in (strangers(dump))}
    if not odd:
        return dump
    key = kin, file if file in odd else None
    state = dump.state(dump.files, but_places=True)
    known: DumpSet | None = dump.remembered(key, state)
    if known is None:
        files = [file] if file in odd else [one for one in dump.files if one not in odd]
        known = DumpSet(files, dump.thunk_names, dump.others)
        dump.remember(key, state, known)
    return known


def missing_siblings(dump: DumpSet) -> list[MissingSibling]:
    """The memory files that are missing beside others of their generation.

    The used values and the live ranges are written together, or not at all; the allocations and
    the report always (dump.cc, DumpHloModuleBufferAssignmentIfEnabled and its callers). A file that
    is alone was sent so, and dumps in one file have no others to miss.
    """
    there: dict[FileRole, tuple[DumpFile, str]] = {}
    for file in dump.files:
        parts = None if file.path is None else DumpName.of(file.path.name)
        if parts is None or isinstance(file, SectionFile) or not parts.role.is_memory:
            continue
        assert file.path is not None
        there[parts.role] = file, file.path.name[: -parts.suffix.tail]
    split = there.keys() & {FileRole.VALUES, FileRole.LIVE_RANGE}
    if len(there) < 2 or not split:
        return []
    beside, stem = next(iter(there.values()))
    assert beside.path is not None
    names = [f"{stem}-{role.value}.txt" for role in _WRITTEN if role not in there]
    troubles = [(name, _trouble(beside.path.with_name(name))) for name in names]
    return [MissingSibling(beside, name, trouble) for name, trouble in troubles if trouble]


def _trouble(path: Path) -> str | None:
    """What a file has that was not read; None if it may only be too large to have been so far."""
    if not path.exists():
        return "is missing"
    lines = count(1)
    try:
        head = read_document_until(path, lambda _: next(lines) > _HEAD).lines
    except UnreadableError:
        return "cannot be read"
    if detect_file_kind(head) is not FileKind.OTHER:
        return None
    return "is no dump" if any(map(str.strip, head)) else "is empty"


_WRITTEN = (FileRole.ASSIGNMENT, FileRole.VALUES, FileRole.LIVE_RANGE, FileRole.REPORT)


def _strangers(dump: DumpSet) -> tuple[Stranger, ...]:
    files = [file for file in dump.files if _can_be_compared(dump, file)]
    found: dict[tuple[DumpFile, DumpFile], Comparison] = {}
    for one, other in combinations(files, 2):
        state = dump.state((one, other), but_places=True)
        known: Comparison | None = dump.remembered((_compare, one, other), state)
        if known is None:
            known = _compare(one, other)
            dump.remember((_compare, one, other), state, known)
            checkpoint()
        found[one, other] = known
    group = {file: {file} for file in files}
    for (one, other), comparison in found.items():
        if comparison.is_kindred and group[one] is not group[other]:
            group[one] |= group[other]
            for file in group[other]:
                group[file] = group[one]
    home = max(group.values(), key=len, default=set())
    odd: list[Stranger] = []
    for (one, other), comparison in found.items():
        if comparison.is_alien and (one in home) != (other in home):
            stranger, at_home = (other, one) if one in home else (one, other)
            if all(known.file is not stranger for known in odd):
                odd.append(Stranger(stranger, at_home, comparison))
    return (*odd, *_intruders(found, home))


def _intruders(
    found: "dict[tuple[DumpFile, DumpFile], Comparison]", home: set[DumpFile]
) -> Iterator[Stranger]:
    """Files that are like some of the others at home, and too much unlike one of them.

    That is the one that differs from most; of two that of another kind than the allocations.
    """
    alien = {
        pair: comparison
        for pair, comparison in found.items()
        if comparison.is_alien and home.issuperset(pair)
    }
    while alien:
        count = Counter(file for pair in alien for file in pair)
        stranger = max(count, key=lambda file: (count[file], not len(file.memory.allocations)))
        pair = next(pair for pair in alien if stranger in pair)
        yield Stranger(stranger, pair[0] if pair[1] is stranger else pair[1], alien[pair])
        alien = {pair: one for pair, one in alien.items() if stranger not in pair}


def _can_be_compared(dump: DumpSet, file: DumpFile) -> bool:
    if file.kind.is_memory:
        return not is_joined(file)
    return file is module_at_buffer_assignment(dump) and ending(file) is None


def _compare(one: DumpFile, other: DumpFile) -> Comparison:
    """The comparison with the fewest agreeing facts of all that the two files allow."""
    pairs = ((one, other), (other, one))
    found = [
        comparison for a, b in pairs for comparison in _comparisons(a, b) if comparison.compared
    ]
    telling = [comparison for comparison in found if comparison.compared >= _FEWEST]
    least = min(telling, key=lambda one: one.agreeing / one.compared, default=None)
    return least or Comparison(0, 0, "facts")


def _comparisons(one: DumpFile, other: DumpFile) -> Iterator[Comparison]:
    mine, theirs = one.memory, other.memory
    if len(mine.assigned) and len(theirs.entries) and one is not other:
        values = _sample(mine.assigned.firsts(), len(mine.assigned))
        entries = _sample(theirs.entries.firsts(), len(theirs.entries))
        pairs: list[Pair] = [(value, theirs.entries.first(value.id)) for value in values]
        if len(mine.assigned) > len(theirs.entries):
            pairs = [(mine.assigned.first(entry.id or 0), entry) for entry in entries]
        yield _count("values", pairs, lambda pair: _same_value(*pair))
    known = theirs.assigned_keys if len(theirs.assigned) else theirs.entry_keys
    if len(mine.ranges) and len(known):
        if len(mine.ranges) <= len(known):
            keys = _sample(mine.ranges, len(mine.ranges))
            yield _count("live ranges", keys, lambda key: key in known)
        if len(theirs.assigned) and ending(one) is None and not mine.damaged:
            lasting = [value.key for value in _sampled_temporaries(other)]
            yield _count("values", lasting, lambda key: key in mine.ranges)
    if len(mine.steps) and len(other.module.instructions):
        names = _sample(mine.step_names, len(mine.step_names))
        yield _count("steps", names, lambda name: name in other.module.instructions)
    if len(mine.assigned) and len(other.module.instructions):
        values = _sample(mine.assigned.firsts(), len(mine.assigned))
        yield _count("values", values, lambda value: _is_in_module(other, value))
    if len(mine.entries) and len(other.module.instructions) and not len(mine.assigned):
        entries = _sample(mine.entries.firsts(), len(mine.entries))
        yield _count(
            "values", entries, lambda entry: (entry.name or "") in other.module.instructions
        )


def _count(what: str, facts: "Iterable[T]", agrees: "Callable[[T], bool]") -> Comparison:
    sampled = list(facts)
    return Comparison(sum(map(agrees, sampled)), len(sampled), what)


def _sample(facts: "Iterable[T]", count: int) -> "list[T]":
    """Some of many, from all over the file."""
    return list(islice(facts, 0, None, max(1, count // _SAMPLE)))


def _sampled_temporaries(file: DumpFile) -> list[AssignedValue]:
    """Values that have a live range: not those of thread-local computations, and no constants."""
    found = []
    for value in _sample(file.memory.assigned.firsts(), len(file.memory.assigned)):
        head = file.records.head_of(value)
        if isinstance(head, AllocationLine) and not head.thread_local and not head.constant:
            found.append(value)
    return found


def _same_value(value: AssignedValue | None, entry: UsedValue | None) -> bool:
    if value is None or entry is None or value.key != entry.key:
        return False
    text = defining_text(entry) if entry.whole else None
    return text is None or subshape_text(text.shape.text, value.index) == value.shape


def _is_in_module(module: DumpFile, value: AssignedValue) -> bool:
    named = module.module.instructions.first(value.name)
    return named is not None and (
        not named.shape or subshape_text(named.shape, value.index) == value.shape
    )
