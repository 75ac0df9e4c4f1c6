"""The hover of a value, and its facts as text for other hovers."""

from hlo_lsp.ide.hover.headlines import value_headline
from hlo_lsp.ide.hover.origin_text import can_follow_data, origin_and_source_facts
from hlo_lsp.ide.hover.shapes import (
    describe_shape,
    memory_space_fact,
    size_facts,
    split_waste,
    truncated,
)
from hlo_lsp.memory.data_origin import source_label
from hlo_lsp.memory.sharing import values_sharing_memory
from hlo_lsp.memory.why_alive import lifetime_of
from hlo_lsp.model.display import Card, Fact, count_noun, format_bytes, join_limited
from hlo_lsp.model.dump_set import DumpSet, defining_text
from hlo_lsp.model.place import LocatedRecord, Value
from hlo_lsp.model.shape import try_shape
from hlo_lsp.model.sizes import target_of
from hlo_lsp.syntax.memory_records import AllocationLine, AssignedValue, RangeRow
from hlo_lsp.syntax.used_value import UsedValue

_MAX_LISTED_NAMES = 6


def list_facts(label: str, items: list[str], limit: int = _MAX_LISTED_NAMES) -> list[Fact]:
    """Return a fact with the first items, or no fact without items."""
    return [Fact(label, join_limited(items, limit))] if items else []


def counted_list(items: list[str], limit: int = _MAX_LISTED_NAMES) -> str:
    """Return the number of items and the first of them: ``2: `add.1`, `add.2```."""
    return f"{len(items):,}: {join_limited(items, limit)}"


def quoted_name(value: Value | AssignedValue | UsedValue) -> str:
    """Return the name and shape index of a value in backticks."""
    return f"`{value.name}{value.index or ''}`"


def value_card(dump: DumpSet, value: Value) -> Card:
    """Return the hover of a value: where its data came from, then how it occupies memory."""
    text = None if value.entry is None else defining_text(value.entry.record)
    if text is None:
        text = dump.text_of(value.name)
    shape, waste, sizes = _shape_facts(dump, value)
    users = [] if value.entry is None else [f"`{use.name}`" for use in value.entry.record.uses]
    facts = [
        *origin_and_source_facts(dump, value.name, value.index, text),
        *sharing_facts(dump, value),
        *waste,
        *live_range_facts(dump, value),
        *_consumer_facts(dump, value),
        *([Fact("uses", counted_list(users))] if users else []),
        *shape,
        *sizes,
    ]
    if value.assigned is not None and value.allocation is not None:
        record = value.assigned.record
        end = record.offset + record.size
        allocation = describe_allocation(value.allocation.record)
        facts.append(Fact("allocation", f"{allocation}, bytes {record.offset:,} to {end:,}"))
    if value.color is not None:
        facts.append(memory_space_fact(value.color, target_of(dump).backend))
    leaf = f"leaf {value.index} of" if value.index not in {None, "{}"} else "result of"
    opcode = "" if text is None or text.opcode.text == value.name else f" ({text.opcode.text})"
    phi = ", merged by control flow (phi)" if value.phi else ""
    facts.append(Fact("value", f"{value.id}, {leaf} `{value.name}`{opcode}{phi}"))
    return Card(quoted_name(value), tuple(facts), headline=value_headline(dump, value))


def describe_allocation(allocation: AllocationLine) -> str:
    """Return ``4, preallocated-temp, 66,048 B (64.5 KiB)``."""
    parts = (str(allocation.number), allocation_kind(allocation), format_bytes(allocation.size))
    return ", ".join(filter(None, parts))


def allocation_kind(allocation: AllocationLine) -> str:
    """Return the kind of an allocation in XLA's terms, empty if the dump prints none."""
    index = allocation.parameter_index or "{}"
    kinds = {
        f"parameter {allocation.parameter}{'' if index == '{}' else ' at ' + index}": (
            allocation.parameter is not None
        ),
        "output": allocation.output_shape is not None,
        "constant": allocation.constant,
        "thread-local": allocation.thread_local,
        "maybe-live-out": allocation.maybe_live_out,
        "preallocated-temp": allocation.preallocated_temp,
    }
    return " + ".join(kind for kind, applies in kinds.items() if applies)


def describe_step_range(dump: DumpSet, live: RangeRow) -> str:
    """Return ``2-15 (13 steps): fusion.40 -> fusion.21`` with the names in backticks."""
    begin = _step_name(dump, live.start_step)
    if live.start_step == 0 and begin != f"`{live.name}`":
        begin = "the start of the program"  # Parameters are live before their own step.
    names = f"{begin} -> {_step_name(dump, live.end_step)}"
    steps = count_noun(live.end_step - live.start_step, "step")
    return f"{live.start_step}-{live.end_step} ({steps}): {names}"


def _step_name(dump: DumpSet, step: int) -> str:
    row = dump.at_step(step)
    if row is not None:
        return f"`{row.record.name}`"
    return "the end of the program" if step == dump.last_step else f"step {step}"


def _consumer_facts(dump: DumpSet, value: Value) -> list[Fact]:
    """Return for what a value is kept, if it is alive until copies of it start."""
    lifetime = lifetime_of(dump, value) if can_follow_data(dump, value.name) else None
    last = None if lifetime is None else lifetime.last_consumer
    if last is None or last.copy is None or last.step is None:
        return []
    text, metadata = last.instruction.parsed, last.instruction.parsed.metadata
    label = source_label(dump.frames.line_of(dump.stack(text)), metadata.get("op_name"))
    parts = [f"step {last.step:,}, `{last.instruction.name}`", label, f"reads copy `{last.copy}`"]
    return [Fact("kept for", ", ".join(filter(None, parts)))]


def is_at_declared_peak(dump: DumpSet, live: LocatedRecord[RangeRow] | None) -> bool | None:
    """Return whether a value is live at XLA's declared peak; None if that is unknown."""
    peak_step = dump.declared_peak
    if peak_step is None or live is None:
        return None
    return live.record.start_step <= peak_step <= live.record.end_step


def live_range_facts(dump: DumpSet, value: Value) -> list[Fact]:
    """Return the live range of a value, or no fact if none is printed."""
    if value.live is None:
        if value.allocation is not None and value.allocation.record.thread_local:
            text = "thread-local: the computation runs per element and is not scheduled"
            return [Fact("live range", text)]
        return []
    text = describe_step_range(dump, value.live.record)
    is_at_peak = is_at_declared_peak(dump, value.live)
    if is_at_peak is not None:
        not_ = "" if is_at_peak else "not "
        text = f"{text}, {not_}live at the declared peak (step {dump.declared_peak})"
    return [Fact("live range", text)]


def sharing_facts(dump: DumpSet, value: Value) -> list[Fact]:
    """Return the other values that occupy the same bytes, or no fact if there are none."""
    others = values_sharing_memory(dump, value)
    if not others:
        return []
    names = []
    for other in others[:_MAX_LISTED_NAMES]:
        live = dump.live(other.key)
        when = "" if live is None else f" {live.record.start_step}-{live.record.end_step}"
        names.append(quoted_name(other) + when)
    names += [""] * (len(others) - len(names))
    count = count_noun(len(others), "value")
    return [
        Fact("shares memory with", f"{count} over time: {join_limited(names, _MAX_LISTED_NAMES)}")
    ]


def _shape_facts(dump: DumpSet, value: Value) -> tuple[list[Fact], list[Fact], list[Fact]]:
    """Return the shape of a value, its padding, and its sizes."""
    text = dump.shape_text(value)
    shape = None if text is None else try_shape(text)
    if text is None or shape is None:
        return [], [], []
    actual = None if value.assigned is None else value.assigned.record.size
    sizes = size_facts(text, target_of(dump), value.color or 0, actual)
    described = Fact("shape", f"`{truncated(text, 120)}`: {describe_shape(shape)}")
    return [described], *split_waste(sizes)
