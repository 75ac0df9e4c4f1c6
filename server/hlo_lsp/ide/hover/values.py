"""The hover of a value, its facts and headlines for other hovers, and the values of a result."""

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.display.cards import Card, Fact
from hlo_lsp.display.phrases import count_noun, join_limited, shortened
from hlo_lsp.hlo.dataflow import started_element
from hlo_lsp.hlo.notation import tuple_path
from hlo_lsp.ide.hover.origin_text import (
    origin_and_source_facts,
    origin_label,
    value_origin,
)
from hlo_lsp.ide.hover.shapes import (
    describe_shape,
    memory_space_fact,
    size_facts,
    split_waste,
)
from hlo_lsp.memory.donated_arguments import DonationState, donated_arguments
from hlo_lsp.memory.occupied_steps import occupied_steps
from hlo_lsp.memory.sharing import values_sharing_memory
from hlo_lsp.memory.why_alive import lifetime_of
from hlo_lsp.model.backend import space_title
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.padded_sizes import sizes_of_text, target_of
from hlo_lsp.model.place import LocatedRecord, Value
from hlo_lsp.model.shape import shape_indexes, try_shape
from hlo_lsp.program.data_origin import source_label
from hlo_lsp.program.instruction_owners import owner_of
from hlo_lsp.syntax.instruction_text import InstructionText
from hlo_lsp.syntax.memory_records import AllocationLine, AssignedValue, RangeRow
from hlo_lsp.syntax.module_records import normal_opcode
from hlo_lsp.syntax.used_value import UsedValue, defining_text
from hlo_lsp.text.amounts import format_bytes, format_short_bytes

_MAX_LISTED_NAMES = 6


def list_facts(label: str, items: list[str], limit: int = _MAX_LISTED_NAMES) -> list[Fact]:
    """Return a fact with the first items, or no fact without items."""
    return [Fact(label, join_limited(items, limit))] if items else []


def counted_list(items: list[str], limit: int = _MAX_LISTED_NAMES) -> str:
    """Return the number of items and the first of them: ``2: `add.1`, `add.2```."""
    return f"{len(items):,}: {join_limited(items, limit)}"


def quoted_name(value: Value | AssignedValue | UsedValue) -> str:
    """Return the name and shape index of a value in backticks."""
    return f"`{value.label}`"


def value_card(dump: Compile, value: Value) -> Card:
    """Return the hover of a value: how it occupies memory, and where its data came from."""
    text = None if value.entry is None else defining_text(value.entry.record)
    if text is None:
        text = dump.text_of(value.name)
    shape, waste, sizes = _shape_facts(dump, value)
    users = [] if value.entry is None else [f"`{use.name}`" for use in value.entry.record.uses]
    facts = [
        *waste,
        *live_range_facts(dump, value),
        *sharing_facts(dump, value),
        *donation_facts(dump, value, text),
        *_consumer_facts(dump, value),
        *origin_and_source_facts(dump, value.name, value.index, text),
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
    part = "result"
    if value.index not in {None, "{}"}:
        part = part_label(dump, value, value.index)
    opcode = "" if text is None or text.opcode.text == value.name else f" ({text.opcode.text})"
    phi = ", merged by control flow (phi)" if value.phi else ""
    facts.append(Fact("value", f"{value.id}, {part} of `{value.name}`{opcode}{phi}"))
    return Card(quoted_name(value), tuple(facts), headline=value_headline(dump, value))


def part_label(dump: Compile, value: Value, index: str | None) -> str:
    """Return ``leaf {1}`` for a value at a shape index, or ``element {0}`` for a nested tuple."""
    is_tuple = (dump.shape_text(value) or "").startswith("(")
    return f"{'element' if is_tuple else 'leaf'} {index}"


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


def describe_step_range(dump: Compile, live: RangeRow) -> str:
    """Return ``2-15 (13 steps): fusion.40 -> fusion.21`` with the names in backticks."""
    begin = _step_name(dump, live.start_step)
    if live.start_step == 0 and begin != f"`{live.name}`":
        begin = "the start of the program"  # Parameters are live before their own step.
    names = f"{begin} -> {_step_name(dump, live.end_step)}"
    steps = count_noun(live.end_step - live.start_step, "step")
    return f"{live.start_step:,}-{live.end_step:,} ({steps}): {names}"


def _step_name(dump: Compile, step: int) -> str:
    row = dump.at_step(step)
    if row is not None:
        return f"`{row.record.name}`"
    return "the end of the program" if step == dump.last_step else f"step {step:,}"


def _consumer_facts(dump: Compile, value: Value) -> list[Fact]:
    """Return for what a value is kept, if it is alive until copies of it start."""
    lifetime = lifetime_of(dump, value)
    last = None if lifetime is None else lifetime.last_consumer
    if last is None or last.copy is None or last.step is None:
        return []
    owner = owner_of(dump, last.instruction.name)
    label = "" if owner is None else source_label(owner.source, owner.op_name)
    parts = [f"step {last.step:,}, `{last.instruction.name}`", label, f"reads copy `{last.copy}`"]
    return [Fact("kept for", ", ".join(filter(None, parts)))]


def is_at_declared_peak(dump: Compile, live: LocatedRecord[RangeRow] | None) -> bool | None:
    """Return whether a value is live at XLA's declared peak; None if that is unknown."""
    peak_step = dump.declared_peak
    if peak_step is None or live is None:
        return None
    return live.record.start_step <= peak_step <= live.record.end_step


def live_range_facts(dump: Compile, value: Value) -> list[Fact]:
    """Return the live range of a value, or no fact if none is printed."""
    if value.live is None:
        if value.allocation is not None and value.allocation.record.thread_local:
            runs = "in a custom call" if _is_offloaded(dump, value) else "per element"
            text = f"thread-local: the computation runs {runs} and is not scheduled"
            return [Fact("live range", text)]
        return []
    return [Fact("live range", describe_step_range(dump, value.live.record) + _peak(dump, value))]


def _is_offloaded(dump: Compile, value: Value) -> bool:
    """Return whether a custom call runs the computation of a value, such as on the SparseCore."""
    line = dump.instruction(value.name)
    home = None if line is None else line.file.module.computation_of(line.record)
    if line is None or home is None:
        return False
    return any(one.opcode == "custom-call" for one in line.file.module.callers(home))


def _peak(dump: Compile, value: Value) -> str:
    """Return whether a value occupies bytes at the peak of its memory space.

    If that peak is unknown, it is compared with XLA's declared peak of all memory spaces.
    """
    steps = occupied_steps(dump, value)
    if steps is None:
        return ""
    if steps.is_fixed:
        return "; its bytes are occupied during the whole program"
    is_at, step, owner = is_at_declared_peak(dump, value.live), dump.declared_peak, "XLA"
    if steps.peak_step is not None and value.allocation is not None:
        is_at, step = steps.is_at_peak, steps.peak_step
        owner = space_title(value.allocation.record.color, dump.backend)
    return "" if step is None else f", {'' if is_at else 'not '}at {owner}'s peak (step {step:,})"


def donation_facts(dump: Compile, value: Value, text: InstructionText | None) -> list[Fact]:
    """Return what becomes of the buffer of an argument, if the value is one."""
    is_parameter = text is not None and text.opcode.text == "parameter"
    if not is_parameter or value.allocation is None:
        return []
    return allocation_donation_facts(dump, value.allocation.record)


def allocation_donation_facts(dump: Compile, allocation: AllocationLine) -> list[Fact]:
    """Return what becomes of the buffer of an argument in an allocation, if it is one."""
    if allocation.parameter is None or allocation.thread_local:
        return []
    key = allocation.parameter, tuple_path(allocation.parameter_index)
    arguments = donated_arguments(dump)
    if arguments is None:  # without the module text, the allocation shows whether an output uses it
        title = DonationState.DONATED.title
        return [Fact("donation", title)] if allocation.maybe_live_out else []
    return [Fact("donation", one.text) for one in arguments if (one.parameter, one.index) == key]


def sharing_facts(dump: Compile, value: Value) -> list[Fact]:
    """Return the other values that occupy the same bytes, or no fact if there are none."""
    others = values_sharing_memory(dump, value)
    if not others:
        return []
    names = []
    for other in others[:_MAX_LISTED_NAMES]:
        live = dump.live(other.key)
        when = "" if live is None else f" {live.record.start_step:,}-{live.record.end_step:,}"
        names.append(quoted_name(other) + when)
    names += [""] * (len(others) - len(names))
    count = count_noun(len(others), "value")
    return [
        Fact("shares memory with", f"{count} over time: {join_limited(names, _MAX_LISTED_NAMES)}")
    ]


def _shape_facts(dump: Compile, value: Value) -> tuple[list[Fact], list[Fact], list[Fact]]:
    """Return the shape of a value, its padding, and its sizes."""
    text = dump.shape_text(value)
    shape = None if text is None else try_shape(text)
    if text is None or shape is None:
        return [], [], []
    sizes = size_facts(text, sizes_of_text(text, target_of(dump), value.color, value.size))
    described = Fact("shape", f"`{shortened(text, 120)}`: {describe_shape(shape)}")
    return [described], *split_waste(sizes)


SEPARATOR = " · "


def value_headline(dump: Compile, value: Value) -> str:
    """Return ``4.00 MiB in VMEM · steps 2,033-2,062, not at the peak · train.py:25 mul``."""
    text = None if value.entry is None else defining_text(value.entry.record)
    return _joined(
        _size(dump, value), _steps(dump, value), _origin(dump, value.name, value.index, text)
    )


def result_headline(
    dump: Compile,
    line: tuple[str, str | None, InstructionText | None],
    value: Value | None,
    parts: list[Value],
) -> str:
    """Return the headline of an instruction; that of a tuple has the sizes of its parts.

    Args:
        dump: The compile.
        line: The name of the instruction, the shape index in its result, and its text.
        value: The value at that index, which another instruction may define.
        parts: The values with the data of the result, live at different steps.
    """
    origin = _origin(dump, *line)
    if len(parts) > 1:
        return _joined(_sizes(dump, parts), origin)
    if value is None:
        return origin
    return _joined(_size(dump, value), _steps(dump, value), origin)


def allocation_headline(
    dump: Compile, allocation: AllocationLine, kind: str, values: list[AssignedValue]
) -> str:
    """Return ``303.22 MiB in HBM · preallocated-temp · 5,539 values``.

    The last part is the origin if there is only one value.
    """
    size = _size_in_space(dump, allocation.size, allocation.color)
    contents = count_noun(len(values), "value")
    if len(values) == 1:
        contents = _origin(dump, values[0].name, values[0].index, None)
    return _joined(size, kind, contents)


def _size(dump: Compile, value: Value) -> str:
    if value.size is None:
        return ""
    if value.allocation is not None and value.allocation.record.thread_local:
        return f"{format_short_bytes(value.size)}, thread-local"
    return _size_in_space(dump, value.size, value.color)


def _sizes(dump: Compile, values: list[Value]) -> str:
    """Return ``4.0 KiB in HBM and 512 B in VMEM in 2 values``, empty if no size is known."""
    sizes: dict[int | None, int] = {}
    for value in values:
        if value.size is not None:
            sizes[value.color] = sizes.get(value.color, 0) + value.size
    parts = [_size_in_space(dump, size, space) for space, size in sizes.items()]
    return f"{' and '.join(parts)} in {count_noun(len(values), 'value')}" if parts else ""


def _size_in_space(dump: Compile, size: int, space: int | None) -> str:
    if space is None:
        return format_short_bytes(size)
    return f"{format_short_bytes(size)} in {space_title(space, dump.backend)}"


def _steps(dump: Compile, value: Value) -> str:
    steps = occupied_steps(dump, value)
    return "" if steps is None else steps.text


def _origin(dump: Compile, name: str, index: str | None, text: InstructionText | None) -> str:
    origin = value_origin(dump, name, index)
    label = "" if origin is None else origin_label(origin, name)
    if label or text is None:
        return label
    source = dump.frames.line_of(dump.stack_of(text.metadata))
    return source_label(source, text.metadata.get("op_name"))


def _joined(*parts: str) -> str:
    return SEPARATOR.join(part for part in parts if part)


Leaf = tuple[str, Value]  # a shape index in a result, and the value there


def result_leaves(dump: Compile, name: str) -> list[Leaf]:
    """Return the values in the result of an instruction, as the list of used values has them."""
    found = []
    for entry in dump.entries_at(name):
        checkpoint()
        value = None if entry.record.id is None else dump.value(entry.record.id)
        if value is not None:
            places = (place for place in entry.record.positions if place.name == name)
            found += [(place.index or "{}", value) for place in places]
    return found


def data_leaves(dump: Compile, text: InstructionText, leaves: list[Leaf]) -> list[Leaf]:
    """Return the values with the data of a result, the largest first.

    Tables of pointers, contexts of async instructions, and the buffers of operands do not belong to
    the data, unless the instruction only forwards buffers.

    Args:
        dump: The compile.
        text: The instruction.
        leaves: The values in its result, empty if they are unknown.
    """
    name, shape = text.name.text, text.shape.text
    if not shape.startswith("("):
        value = dump.value_at(name)
        return [] if value is None else [("{}", value)]
    if not leaves:
        defined = ((index or "{}", dump.value_of_key(f"{name}{index or '{}'}"))
                   for index in shape_indexes(shape))  # fmt: skip
        leaves = [(index, value) for index, value in defined if value is not None]
    arrays = {
        value.id: (index, value)
        for index, value in leaves
        if not (dump.shape_text(value) or "").startswith("(") and not _is_context(text, index)
    }
    passed = {entry.record.id for span in text.operands for entry in dump.entries_at(span.text)}
    own = [leaf for leaf in arrays.values() if leaf[1].id not in passed]
    return sorted(own or arrays.values(), key=lambda leaf: -(leaf[1].size or 0))


def data_index(text: InstructionText, data: list[Leaf]) -> str | None:
    """Return the shape index of the largest part of a result; None for the whole result."""
    if data:
        return None if data[0][0] == "{}" else data[0][0]
    element = started_element(normal_opcode(text.opcode.text, text.shape.text))
    return None if element is None or not text.shape.text.startswith("(") else f"{{{element}}}"


def _is_context(text: InstructionText, index: str) -> bool:
    opcode = normal_opcode(text.opcode.text, text.shape.text)
    number = index.strip("{}").partition(",")[0]
    has_contexts = opcode.endswith("-start") and opcode != "all-reduce-start"
    return has_contexts and number not in {"0", "1"}
