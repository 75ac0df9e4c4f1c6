"""The hover of a value, and its facts as text for other hovers."""

from dataclasses import dataclass

from hlo_lsp.ide.hover.shapes import describe_shape, memory_space_fact, size_facts, truncated
from hlo_lsp.memory.sharing import values_sharing_memory
from hlo_lsp.model.display import Card, Fact, count_noun, format_bytes, join_limited
from hlo_lsp.model.dump_set import DumpSet, defining_text
from hlo_lsp.model.place import LocatedRecord, Value
from hlo_lsp.model.shape import try_shape
from hlo_lsp.model.sizes import target_of
from hlo_lsp.model.source import SourceLine
from hlo_lsp.syntax.instruction_text import InstructionText
from hlo_lsp.syntax.memory_records import AllocationLine, AssignedValue, RangeRow
from hlo_lsp.syntax.used_value import UsedValue

_MAX_LISTED_NAMES = 6


@dataclass(frozen=True, slots=True)
class StackFact(Fact):
    """The innermost Python line of a stack as ``source``, with its callers from the inside out.

    ``text`` describes the innermost line only.
    """

    callers: tuple[SourceLine, ...] = ()


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
    """Return the hover of a value, with the most important facts first."""
    leaf = f"leaf {value.index} of" if value.index not in {None, "{}"} else "result of"
    phi = ", merged by control flow (phi)" if value.phi else ""
    facts = [Fact("value", f"{value.id}, {leaf} `{value.name}`{phi}"), *_shape_facts(dump, value)]
    if value.assigned is not None and value.allocation is not None:
        record = value.assigned.record
        end = record.offset + record.size
        allocation = describe_allocation(value.allocation.record)
        facts.append(Fact("allocation", f"{allocation}, bytes {record.offset:,} to {end:,}"))
        facts.append(Fact("shares memory with", _describe_sharing(dump, value)))
    facts.append(Fact("live range", describe_live_range(dump, value)))
    return Card(quoted_name(value), (*facts, *_entry_facts(dump, value)))


def describe_allocation(allocation: AllocationLine) -> str:
    """Return ``4, preallocated-temp, 66,048 B (64.5 KiB)``."""
    return f"{allocation.number}, {allocation_kind(allocation)}, {format_bytes(allocation.size)}"


def allocation_kind(allocation: AllocationLine) -> str:
    """Return the kind of an allocation in XLA's terms."""
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
    return " + ".join(kind for kind, applies in kinds.items() if applies) or "none"


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


def is_at_declared_peak(dump: DumpSet, live: LocatedRecord[RangeRow] | None) -> bool | None:
    """Return whether a value is live at XLA's declared peak; None if that is unknown."""
    peak_step = dump.declared_peak
    if peak_step is None or live is None:
        return None
    return live.record.start_step <= peak_step <= live.record.end_step


def describe_live_range(dump: DumpSet, value: Value) -> str:
    """Return the live range of a value as text."""
    if value.live is None:
        if value.allocation is not None and value.allocation.record.thread_local:
            return "thread-local: the computation runs per element and is not scheduled"
        if dump.last_step is None:
            return "unknown: this compile has no live-range file"
        return "none printed"
    steps = describe_step_range(dump, value.live.record)
    is_at_peak = is_at_declared_peak(dump, value.live)
    if is_at_peak is None:
        return steps
    not_ = "" if is_at_peak else "not "
    return f"{steps}, {not_}live at the declared peak (step {dump.declared_peak})"


def source_facts(dump: DumpSet, text: InstructionText) -> list[Fact]:
    """Return the operation name and the Python stack of an instruction."""
    op_name = text.metadata.get("op_name", "").replace("`", "'")
    facts = [Fact("op_name", f"`{op_name}`")] if op_name else []
    return [*facts, *stack_facts(dump.stack(text))]


def stack_facts(stack: list[SourceLine]) -> list[Fact]:
    """Return the fact about a Python stack, which starts at the innermost line."""
    if not stack:
        return []
    return [StackFact("source", describe_source_line(stack), stack[0], tuple(stack[1:]))]


def describe_source_line(stack: list[SourceLine]) -> str:
    """Return the innermost Python line and its function as text."""
    function = stack[0].function
    return f"{stack[0]}{f' in `{function}`' if function else ''}"


def _shape_facts(dump: DumpSet, value: Value) -> list[Fact]:
    target = target_of(dump)
    text = dump.shape_text(value)
    shape = None if text is None else try_shape(text)
    facts = []
    if text is not None and shape is not None:
        facts.append(Fact("shape", f"`{truncated(text, 120)}`: {describe_shape(shape)}"))
        size = None if value.assigned is None else value.assigned.record.size
        facts += size_facts(text, target, value.color or 0, size)
    if value.color is not None:
        facts.append(memory_space_fact(value.color, target.backend))
    return facts


def _describe_sharing(dump: DumpSet, value: Value) -> str:
    others = values_sharing_memory(dump, value)
    if not others:
        return "none"
    names = []
    for other in others:
        live = dump.live(other.key)
        when = "" if live is None else f" {live.record.start_step}-{live.record.end_step}"
        names.append(quoted_name(other) + when)
    return f"{count_noun(len(others), 'value')} over time: {join_limited(names, _MAX_LISTED_NAMES)}"


def _entry_facts(dump: DumpSet, value: Value) -> list[Fact]:
    if value.entry is None:
        return [Fact("defined by", f"`{value.name}`")]
    entry = value.entry.record
    text = defining_text(entry)
    opcode = f", {text.opcode.text}" if text is not None else ""
    users = [f"`{use.name}`" for use in entry.uses]
    return [
        Fact("defined by", f"`{value.name}`{opcode}"),
        Fact("uses", counted_list(users) if users else "none"),
        *([] if text is None else source_facts(dump, text)),
    ]
