"""The ids of one list of headers: each stands once, and they ascend inside a group."""

from collections.abc import Iterator, Sequence, Set

from hlo_lsp.analysis.assignment.ordering import misplaced
from hlo_lsp.analysis.values.header_faults import Doubled, OutOfOrder
from hlo_lsp.analysis.values.header_list import Header, HeaderList, ids_of, key_of
from hlo_lsp.model.value import LocatedRecord
from hlo_lsp.syntax.memory_records import AssignedValue
from hlo_lsp.text.checkpoint import checkpoint

_STEP = 1000  # groups between two breaths: about 2 ms


def doubled(mine: HeaderList, other: HeaderList | None) -> Iterator[Doubled]:
    """The headers whose id another has that agrees better with the ``other`` list, or its place."""
    if sum(1 for _ in mine.ids.records()) == len(mine.ids):
        return
    several = [records for records in map(mine.ids.all, mine.ids) if len(records) > 1]
    for records in several:
        if _is_copied(records, mine):
            continue
        id_ = records[0].id
        theirs = None if other is None or id_ is None else other.ids.first(id_)
        twin = max(
            records,
            key=lambda record: (
                theirs is not None and key_of(theirs) == key_of(record),
                record not in mine.out_of_order,
                -record.line,
            ),
        )
        for record in records:
            if record is not twin:
                own = _own_id(record, mine, other)
                yield Doubled(mine.located(record), mine.located(twin), own)


def _is_copied(records: Sequence[Header], mine: HeaderList) -> bool:
    """Whether they are lines of one value under several allocations, which has its own rule."""
    heads = {
        mine.file.records.head_of(record) for record in records if isinstance(record, AssignedValue)
    }
    return len(heads) == len(records) and len({key_of(record) for record in records}) == 1


def _own_id(record: Header, mine: HeaderList, other: HeaderList | None) -> int | None:
    """The id that the other list has for what this header names, if nothing here has it."""
    key = record.key
    if other is None or key is None:
        return None
    ids = {found.id for found in other.keys.all(key)}
    free = [id_ for id_ in ids if id_ is not None and id_ not in mine.ids]
    return free[0] if len(free) == 1 else None


def out_of_order(mine: HeaderList, told: Set[Header]) -> list[OutOfOrder]:
    """The headers whose ids do not ascend, but for those that are ``told`` of already."""
    found: list[OutOfOrder] = []
    for count, group in enumerate(mine.groups):
        if count % _STEP == _STEP - 1:
            checkpoint()
        ids = ids_of(group)
        if not all(map(int.__lt__, ids, ids[1:])):
            rest = [record for record in group if record not in told]
            found += _out_of_order_in(rest, mine)
    return found


def _out_of_order_in(group: Sequence[Header], mine: HeaderList) -> Iterator[OutOfOrder]:
    def located(at: int | None) -> LocatedRecord[Header] | None:
        return None if at is None else mine.located(group[at])

    previous = -2
    for fault in misplaced(ids_of(group)):
        if fault.at != previous + 1:  # rows that moved together are told once
            yield OutOfOrder(
                mine.located(group[fault.at]),
                located(fault.swapped_with),
                located(fault.fits_before),
            )
        previous = fault.at
