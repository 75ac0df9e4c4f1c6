"""The hover of a value, and its facts as text for other hovers."""

from dataclasses import dataclass

from hlo_lsp.ide.hover.shapes import describe_shape, memory_space_fact, size_facts
from hlo_lsp.memory.sharing import values_sharing_memory
from hlo_lsp.model.display import Card, Fact, count_noun, format_bytes, join_limited
from hlo_lsp.model.dump_set import DumpSet, defining_text
from hlo_lsp.model.place import LocatedRecord, Value
from hlo_lsp.model.shape import try_shape
from hlo_lsp.model.sizes import target_of
from hlo_lsp.model.source import SourceLine
from hlo_lsp.syntax.instruction_text import InstructionText
from hlo_lsp.syntax.memory_records import AllocationLine, RangeRow


@dataclass(frozen=True, slots=True)
class StackFact(Fact):
    """The innermost Python line of a stack as ``source``, with its callers from the inside out.

    ``text`` describes the innermost line only.
    """

    callers: tuple[SourceLine, ...] = ()


_MAX_LISTED_NAMES = 6


def value_card(dump: DumpSet, value: Value) -> Card:
    """Return the hover of a value, with the most important facts first."""
    facts = [Fact("value", _identity(value)), *_shape_facts(dump, value)]
    if value.assigned is not None and value.allocation is not None:
        record = value.assigned.record
        end = record.offset + record.size
        allocation = describe_allocation(value.allocation.record)
        facts.append(Fact("allocation", f"{allocation}, bytes {record.offset:,} to {end:,}"))
        facts.append(Fact("shares memory with", _describe_sharing(dump, value)))
    facts.append(Fact("live range", describe_live_range(dump, value)))
    facts += _entry_facts(dump, value)
    return Card(f"`{value.name}{value.index or ''}`", tuple(facts))


def describe_allocation(allocation: AllocationLine) -> str:
    """Return ``4, preallocated-temp, 66,048 B (64.5 KiB)``."""
    return f"{allocation.number}, {allocation_kind(allocation)}, {format_bytes(allocation.size)}"


def allocation_kind(allocation: AllocationLine) -> str:
    """Return the kind of an allocation in XLA's terms."""
    kinds = []
    if allocation.parameter is not None:
        index = allocation.parameter_index or "{}"
        kinds.append(f"parameter {allocation.parameter}{'' if index == '{}' else ' at ' + index}")
    if allocation.output_shape is not None:
        kinds.append("output")
    for flag, word in (
        (allocation.constant, "constant"),
        (allocation.thread_local, "thread-local"),
        (allocation.maybe_live_out, "maybe-live-out"),
        (allocation.preallocated_temp, "preallocated-temp"),
    ):
        if flag:
            kinds.append(word)
    return " + ".join(kinds) or "none"


def describe_step_range(dump: DumpSet, live: RangeRow) -> str:
    """Return ``2-15 (13 steps): fusion.40 -> fusion.21`` with the names in backticks."""
    begin = step_name(dump, live.start_step)
    if live.start_step == 0 and begin != f"`{live.name}`":
        begin = "the start of the program"  # Parameters are live before their own step.
    names = f"{begin} -> {step_name(dump, live.end_step)}"
    steps = count_noun(live.end_step - live.start_step, "step")
    return f"{live.start_step}-{live.end_step} ({steps}): {names}"


def step_name(dump: DumpSet, step: int) -> str:
    """Return the instruction at a step in backticks, or ``the end of the program``."""
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
    peak = is_at_declared_peak(dump, value.live)
    peak_text = {
        True: ", live at the declared peak",
        False: ", not live at the declared peak",
        None: "",
    }[peak]
    peak_step = f" (step {dump.declared_peak})" if peak is not None else ""
    return describe_step_range(dump, value.live.record) + peak_text + peak_step


def source_facts(dump: DumpSet, text: InstructionText) -> list[Fact]:
    """Return the operation name and the Python stack of an instruction."""
    facts: list[Fact] = []
    op_name = text.metadata.get("op_name", "").replace("`", "'")
    if op_name:
        facts.append(Fact("op_name", f"`{op_name}`"))
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


def _identity(value: Value) -> str:
    leaf = f"leaf {value.index} of" if value.index not in {None, "{}"} else "result of"
    phi = ", merged by control flow (phi)" if value.phi else ""
    return f"{value.id}, {leaf} `{value.name}`{phi}"


def _shape_facts(dump: DumpSet, value: Value) -> list[Fact]:
    target = target_of(dump)
    text = dump.shape_text(value)
    shape = None if text is None else try_shape(text)
    facts = []
    if text is not None and shape is not None:
        printed = text if len(text) <= 120 else f"{text[:120]}..."
        facts.append(Fact("shape", f"`{printed}`: {describe_shape(shape)}"))
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
        names.append(f"`{other.name}{other.index or ''}`{when}")
    return f"{count_noun(len(others), 'value')} over time: {join_limited(names, _MAX_LISTED_NAMES)}"


def _entry_facts(dump: DumpSet, value: Value) -> list[Fact]:
    if value.entry is None:
        return [Fact("defined by", f"`{value.name}`")]
    entry = value.entry.record
    text = defining_text(entry)
    opcode = f", {text.opcode.text}" if text is not None else ""
    uses = list(entry.uses)
    users = [f"`{use.name}`" for use in uses]
    facts = [
        Fact("defined by", f"`{value.name}`{opcode}"),
        Fact("uses", f"{len(uses)}: {join_limited(users, _MAX_LISTED_NAMES)}" if users else "none"),
    ]
    return facts if text is None else facts + source_facts(dump, text)
