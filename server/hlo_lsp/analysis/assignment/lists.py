"""The values that stand below each allocation of a file."""

from dataclasses import dataclass
from weakref import WeakKeyDictionary

from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.value import LocatedRecord
from hlo_lsp.syntax.memory_records import AllocationLine, AssignedValue
from hlo_lsp.syntax.records import BrokenRecord
from hlo_lsp.text.checkpoint import checkpoint

_STEP = 2000  # records between two breaths


@dataclass(frozen=True, eq=False)
class Listed:
    """An allocation and the values below it, as they stand in the file.

    ``whole`` says that no line among them is broken. It is the same object as long as none of its
    lines is another one, so that facts about it can be kept while others are edited.
    """

    allocation: AllocationLine
    values: tuple[AssignedValue, ...]
    whole: bool


_Lists = dict[AllocationLine, Listed]
_KNOWN: "WeakKeyDictionary[DumpFile, tuple[int, _Lists]]" = WeakKeyDictionary()


def lists_of(file: DumpFile) -> _Lists:
    """The allocations of a file in order, remembered until it changes."""
    version, known = _KNOWN.get(file, (-1, {}))
    if version != file.version:
        version = file.version
        known = _read(file, known)
        _KNOWN[file] = version, known
    return known


def listed_under(allocation: LocatedRecord[AllocationLine]) -> Listed:
    """What is listed under one allocation."""
    return (lists_of(allocation.file))[allocation.record]


def _read(file: DumpFile, old: _Lists) -> _Lists:
    found: _Lists = {}
    head: AllocationLine | None = None
    values: list[AssignedValue] = []
    whole = True

    def ended() -> None:
        if head is not None:
            listed, known = tuple(values), old.get(head)
            is_known = known is not None and known.whole is whole and known.values == listed
            found[head] = known if known and is_known else Listed(head, listed, whole)

    for count, record in enumerate(file.records):
        if count % _STEP == _STEP - 1:
            checkpoint()
        if type(record) is AssignedValue:
            values.append(record)
            continue
        whole = whole and not isinstance(record, BrokenRecord)
        if record.is_head:
            ended()
            head = record if isinstance(record, AllocationLine) else None
            values, whole = [], True
    ended()
    return found
