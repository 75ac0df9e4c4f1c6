"""Files of one name prefix that belong to other compiles, or are missing.

A module keeps its id and name from compile to compile, so that files of several runs get mixed when
folders are copied together.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import combinations, islice
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.file_names import DumpName, FileRole
from hlo_lsp.model.memory_index import MultiMap
from hlo_lsp.model.query_cache import query
from hlo_lsp.model.sections import ending, is_joined
from hlo_lsp.model.shape import subshape_text
from hlo_lsp.model.stdout_dump import SectionFile
from hlo_lsp.model.unknown_forms import is_complete
from hlo_lsp.program.stages import module_at_buffer_assignment
from hlo_lsp.syntax.file_kinds import FileKind, detect_file_kind
from hlo_lsp.syntax.memory_records import AllocationLine, AssignedValue
from hlo_lsp.syntax.records import Record
from hlo_lsp.syntax.used_value import UsedValue, defining_text
from hlo_lsp.text.disk import BinaryFileError, UnreadableError, read_first_lines

_MAX_HEAD_BYTES = 1 << 14  # that show what a file is
_SAMPLE = 200  # facts of a file that are looked up in another
_MIN_FACTS = 3  # facts that a comparison needs
_MIN_DIFFERENCES = 10  # facts that differ: more than one damage changes
_WRITTEN = (FileRole.ASSIGNMENT, FileRole.VALUES, FileRole.LIVE_RANGE, FileRole.REPORT)

T = TypeVar("T")
R = TypeVar("R", bound=Record)


class Comparison(NamedTuple):
    """Agreement of the facts of two files: ids with their names, names, shapes."""

    agreeing: int
    compared: int
    what: str

    @property
    def is_foreign(self) -> bool:
        """Return whether so few agree that the files cannot be of one compile.

        Damage to some lines of one file leaves most facts as they were; the same program compiled
        for another chip changes many.
        """
        differing = self.compared - self.agreeing
        is_other_compile = differing >= _MIN_DIFFERENCES and differing * 10 >= self.compared
        return 2 * self.agreeing < self.compared or is_other_compile


# A file, one of another compile that it was compared with, and the comparison.
ForeignFile = tuple[DumpFile, DumpFile, Comparison]


@query(ignores_sizes=True)
def foreign_files(dump: Compile) -> tuple[ForeignFile, ...]:
    """Return the files that differ from others.

    Reports are not compared: they are recomputed from the allocations.
    """
    differing: dict[tuple[DumpFile, DumpFile], Comparison] = {}
    for pair in combinations([file for file in dump.files if _is_comparable(dump, file)], 2):
        comparison = _compare(*pair)
        if comparison is not None and comparison.is_foreign and all(map(is_complete, pair)):
            differing[pair] = comparison
        checkpoint()
    found: list[ForeignFile] = []
    while differing:
        counts = Counter(file for pair in differing for file in pair)
        foreign = max(counts, key=lambda file: (counts[file], _rank(file)))
        pair = next(pair for pair in differing if foreign in pair)
        other = pair[0] if pair[1] is foreign else pair[1]
        found.append((foreign, other, differing[pair]))
        differing = {pair: one for pair, one in differing.items() if foreign not in pair}
    return tuple(found)


def same_compile(dump: Compile, file: DumpFile) -> Compile:
    """Return the files of a set that are of one compile with this one; often the set itself."""
    return _compiles(dump).get(file, dump)


@query(ignores_sizes=True)
def _compiles(dump: Compile) -> dict[DumpFile, Compile]:
    """Return the sets of the files of a compile; empty without foreign files."""
    foreign = {found for found, _, _ in foreign_files(dump)}
    own = [file for file in dump.files if file not in foreign]

    def part(files: list[DumpFile]) -> Compile:
        return Compile(files, dump.thunk_names, dump.others, dump.frames, target=dump.target)

    common = part(own)
    alone = {file: part([file]) for file in foreign}
    return {**dict.fromkeys(own, common), **alone} if foreign else {}


def missing_companions(dump: Compile) -> Iterator[tuple[DumpFile, str]]:
    """Yield the problem of each memory file that is missing or unreadable beside another one.

    The used values and the live ranges are written together, or not at all; the allocations and
    the report always (dump.cc, DumpHloModuleBufferAssignmentIfEnabled and its callers). A file that
    is alone was sent so, and dumps in one file have no companions.
    """
    there: dict[FileRole, tuple[DumpFile, Path, str]] = {}
    for file in dump.files:
        parts = None if file.path is None else DumpName.of(file.path.name)
        if file.path is None or parts is None or isinstance(file, SectionFile):
            continue
        if parts.role.is_memory:
            there[parts.role] = file, file.path, file.path.name[: -parts.suffix.tail]
    if len(there) < 2 or there.keys().isdisjoint({FileRole.VALUES, FileRole.LIVE_RANGE}):
        return
    beside, path, stem = next(iter(there.values()))
    for role in _WRITTEN:
        name = f"{stem}-{role.value}.txt"
        problem = None if role in there else _problem(path.with_name(name))
        if problem is not None:
            yield beside, f"`{name}` {problem}"


def _problem(path: Path) -> str | None:
    """Return why a file was not read; None if it may only be too large to be read by now."""
    if not path.exists():
        return "is missing"
    try:
        head = read_first_lines(path, _MAX_HEAD_BYTES)
    except BinaryFileError:
        return "is not a dump"
    except UnreadableError:
        return "cannot be read"
    if detect_file_kind(head).is_dump:
        return None
    return "is not a dump" if any(map(str.strip, head)) else "is empty"


def _rank(file: DumpFile) -> int:
    if len(file.memory.allocations):
        return 0
    return 1 if file.kind is FileKind.MODULE else 2


def _is_comparable(dump: Compile, file: DumpFile) -> bool:
    if file.kind.is_memory:
        return not is_joined(file)
    return file is module_at_buffer_assignment(dump) and ending(file) is None


def _compare(one: DumpFile, other: DumpFile) -> Comparison | None:
    """Return the comparison with the fewest agreeing facts of all that two files allow."""
    found = [*_comparisons(one, other), *_comparisons(other, one)]
    found = [comparison for comparison in found if comparison.compared >= _MIN_FACTS]
    return min(found, key=lambda one: one.agreeing / one.compared, default=None)


def _comparisons(one: DumpFile, other: DumpFile) -> Iterator[Comparison]:
    mine, theirs, instructions = one.memory, other.memory, other.module.instructions
    if len(mine.assigned) and len(theirs.entries):
        is_shorter = len(mine.assigned) <= len(theirs.entries)
        ids: MultiMap[int, Any] = mine.assigned if is_shorter else theirs.entries
        sample = _sample(ids, len(ids))
        pairs = [(mine.assigned.first(id_), theirs.entries.first(id_)) for id_ in sample]
        yield _count("values", pairs, lambda pair: _is_same_value(*pair))
    known = theirs.assigned_keys if len(theirs.assigned) else theirs.entry_keys
    if len(mine.ranges) and len(known):
        if len(mine.ranges) <= len(known):
            keys = _sample(mine.ranges, len(mine.ranges))
            yield _count("live ranges", keys, lambda key: key in known)
        if len(theirs.assigned) and ending(one) is None and not mine.damaged:
            lasting = [value.key for value in _live_values(other)]
            yield _count("values", lasting, lambda key: key in mine.ranges)
    if not len(instructions):
        return
    if len(mine.steps):
        # A module text may omit instructions that the schedule names.
        names = _sample(mine.step_names, len(mine.step_names))
        names = [name for name in names if not other.module.is_compact or name in instructions]
        names = _named(other, names, str)
        yield _count("steps", names, lambda name: name in instructions)
    if len(mine.assigned):
        values = _named(other, _sampled_records(mine.assigned), lambda value: value.name)
        yield _count("values", values, lambda value: _is_in_module(other, value))
    elif len(mine.entries):
        entries = _named(other, _sampled_records(mine.entries), lambda entry: entry.name or "")
        yield _count("values", entries, lambda entry: (entry.name or "") in instructions)


def _named(module: DumpFile, facts: "Iterable[T]", name: "Callable[[T], str]") -> "list[T]":
    """Return facts about instructions, without those whose names the module text may omit."""
    found = list(facts)
    known = [fact for fact in found if name(fact) in module.module.instructions]
    return known if len(found) - len(known) <= module.module.omitted_count else found


def _count(what: str, facts: "Iterable[T]", agrees: "Callable[[T], bool]") -> Comparison:
    sampled, agreeing = list(facts), 0
    for fact in sampled:
        checkpoint()
        agreeing += agrees(fact)
    return Comparison(agreeing, len(sampled), what)


def _sample(facts: "Iterable[T]", total: int) -> "list[T]":
    """Return a sample of the items, evenly spread over the file."""
    return list(islice(facts, 0, None, max(1, total // _SAMPLE)))


def _sampled_records(records: "MultiMap[Any, R]") -> "list[R]":
    found = map(records.first, _sample(records, len(records)))
    return [record for record in found if record is not None]


def _live_values(file: DumpFile) -> Iterator[AssignedValue]:
    """Yield values that have a live range: not thread-local ones, and no constants."""
    for value in _sampled_records(file.memory.assigned):
        head = file.records.head_of(value)
        if isinstance(head, AllocationLine) and not head.thread_local and not head.constant:
            yield value


def _is_same_value(value: AssignedValue | None, entry: UsedValue | None) -> bool:
    if value is None or entry is None or value.key != entry.key:
        return False
    text = defining_text(entry) if entry.whole else None
    return text is None or subshape_text(text.shape.text, value.index) == value.shape


def _is_in_module(module: DumpFile, value: AssignedValue) -> bool:
    line = module.module.instructions.first(value.name)
    return line is not None and (
        not line.shape or subshape_text(line.shape, value.index) == value.shape
    )
