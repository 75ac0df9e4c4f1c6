"""The values that the result of an instruction holds: where they lie and how long they live."""

from hlo_lsp.analysis.cards.card import Fact, listed
from hlo_lsp.analysis.cards.values import at_declared_peak, live_words
from hlo_lsp.model.bytesize import readable
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.value import Value

_LEAVES = 8  # of a tuple, the largest
_SHOWN = 6  # names in a list


def held_facts(dump: DumpSet, name: str, index: str | None) -> list[Fact]:
    """Return the value at an index of a result, and for a whole tuple the values of its leaves.

    The instruction may forward a value that another one defines: then its place and its live range
    are those of the forwarded value.
    """
    facts = []
    value = dump.value_at(name, index)
    leaves = _leaves(dump, name)
    if value is not None and value.key == name + (index or "{}"):
        facts.append(Fact("value", f"`{value.mention}`"))
    else:
        passed = [
            f"`{held.name}{held.index or ''}`" for at, held in leaves if at == (index or "{}")
        ]
        if passed:
            facts.append(Fact("passes on", listed(passed, _SHOWN)))
    if value is not None:
        if value.assigned is not None and value.allocation is not None:
            facts.append(Fact("lies in", _place(value)))
        facts.append(Fact("live", live_words(dump, value)))
    return [*facts, *_leaf_facts(dump, name, leaves)] if index is None else facts


def _leaves(dump: DumpSet, name: str) -> list[tuple[str, Value]]:
    """The values in a result with the indices at which they are."""
    found = []
    for entry in dump.entries_at(name):
        value = None if entry.record.id is None else dump.value(entry.record.id)
        if value is not None:
            places = (place for place in entry.record.positions if place.name == name)
            found += [(place.index or "{}", value) for place in places]
    return found


def _leaf_facts(dump: DumpSet, name: str, leaves: list[tuple[str, Value]]) -> list[Fact]:
    """The leaves of a tuple that are buffers, the largest first."""
    inner = [(index, value) for index, value in leaves if index != "{}"]
    inner.sort(key=lambda leaf: -(leaf[1].assigned.record.size if leaf[1].assigned else 0))
    facts = [
        Fact(f"leaf {index}", _leaf_words(dump, name, index, value))
        for index, value in inner[:_LEAVES]
    ]
    if len(inner) > _LEAVES:
        facts.append(Fact("and", f"{len(inner) - _LEAVES:,} more"))
    return facts


def _leaf_words(dump: DumpSet, name: str, index: str, value: Value) -> str:
    parts = []
    if value.name != name or (value.index or "{}") != index:
        parts.append(f"`{value.name}{value.index or ''}`")
    if value.assigned is not None and value.allocation is not None:
        parts.append(_place(value))
    if value.live is not None:
        row = value.live.record
        peak = ", at the declared peak" if at_declared_peak(dump, value.live) else ""
        parts.append(f"live {row.start_step}-{row.end_step}{peak}")
    return ", ".join(parts) or f"value {value.id}"


def _place(value: Value) -> str:
    """``allocation 24 at offset 512, 4,096 B``."""
    assert value.assigned is not None
    assert value.allocation is not None
    record = value.assigned.record
    number = value.allocation.record.number
    return f"allocation {number} at offset {record.offset:,}, {readable(record.size)}"
