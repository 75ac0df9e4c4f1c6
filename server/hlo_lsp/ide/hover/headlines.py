"""The first line of a hover: size, memory space, live steps, and origin in one sentence."""

from hlo_lsp.ide.hover.origin_text import (
    known_origin,
    known_peak_step,
    origin_label,
)
from hlo_lsp.memory.data_origin import source_label
from hlo_lsp.model.backend import space_title
from hlo_lsp.model.display import count_noun, format_short_bytes
from hlo_lsp.model.dump_set import DumpSet, defining_text
from hlo_lsp.model.place import Value
from hlo_lsp.syntax.instruction_text import InstructionText
from hlo_lsp.syntax.memory_records import AllocationLine, AssignedValue

SEPARATOR = " · "


def value_headline(dump: DumpSet, value: Value) -> str:
    """Return ``4.00 MiB in VMEM · steps 2033-2062, not at the peak · train.py:25 dot_general``."""
    text = None if value.entry is None else defining_text(value.entry.record)
    return _joined(
        _size(dump, value), _steps(dump, value), _origin(dump, value.name, value.index, text)
    )


def result_headline(
    dump: DumpSet,
    line: tuple[str, str | None, InstructionText | None],
    value: Value | None,
    leaves: list[Value],
) -> str:
    """Return the headline of an instruction; that of a tuple has the sizes of its leaves.

    Args:
        dump: The compile.
        line: The name of the instruction, the shape index in its result, and its text.
        value: The value at that index, which another instruction may define.
        leaves: The values in the elements of a tuple.
    """
    origin = _origin(dump, *line)
    if value is None:
        return origin
    sizes = _leaf_sizes(dump, leaves)
    if sizes:  # The leaves are live at other steps than the table of pointers to them.
        return _joined(sizes, origin)
    return _joined(_size(dump, value), _steps(dump, value), origin)


def allocation_headline(
    dump: DumpSet, allocation: AllocationLine, kind: str, values: list[AssignedValue]
) -> str:
    """Return ``303.22 MiB in HBM · preallocated-temp · 5,539 values``.

    The last part is the origin if there is only one value.
    """
    size = _size_in_space(dump, allocation.size, allocation.color)
    contents = count_noun(len(values), "value")
    if len(values) == 1:
        contents = _origin(dump, values[0].name, values[0].index, None)
    return _joined(size, kind, contents)


def steps_label(dump: DumpSet, value: Value) -> str:
    """Return ``2033-2062, not at the peak``: the peak is that of the memory space of the value.

    A value that is in memory the whole time, such as a parameter, is not compared with the peak
    where its live range excludes it.
    """
    if value.live is None:
        return ""
    live = value.live.record
    steps = str(live.start_step)
    if live.end_step != live.start_step:
        steps += f"-{live.end_step}"
    allocation = None if value.allocation is None else value.allocation.record
    peak = None if allocation is None else known_peak_step(dump, allocation.color)
    if allocation is None or peak is None:
        return steps
    if live.start_step <= peak <= live.end_step:
        return f"{steps}, at the peak"
    return f"{steps}, not at the peak" if allocation.preallocated_temp else steps


def _size(dump: DumpSet, value: Value) -> str:
    if value.assigned is None:
        return ""
    size = value.assigned.record.size
    if value.allocation is not None and value.allocation.record.thread_local:
        return f"{format_short_bytes(size)}, thread-local"
    return _size_in_space(dump, size, value.color)


def _leaf_sizes(dump: DumpSet, leaves: list[Value]) -> str:
    """Return ``4.0 KiB in HBM and 512 B in VMEM in 2 values``, empty if no size is known."""
    sizes: dict[int | None, int] = {}
    for value in leaves:
        if value.assigned is not None:
            sizes[value.color] = sizes.get(value.color, 0) + value.assigned.record.size
    parts = [_size_in_space(dump, size, space) for space, size in sizes.items()]
    return f"{' and '.join(parts)} in {count_noun(len(leaves), 'value')}" if parts else ""


def _size_in_space(dump: DumpSet, size: int, space: int | None) -> str:
    if space is None:
        return format_short_bytes(size)
    return f"{format_short_bytes(size)} in {space_title(space, dump.backend)}"


def _steps(dump: DumpSet, value: Value) -> str:
    label = steps_label(dump, value)
    if not label:
        return ""
    return f"steps {label}" if "-" in label.partition(",")[0] else f"step {label}"


def _origin(dump: DumpSet, name: str, index: str | None, text: InstructionText | None) -> str:
    origin = known_origin(dump, name, index)
    label = "" if origin is None else origin_label(origin, name)
    if label or text is None:
        return label
    source = dump.frames.line_of(dump.stack(text))
    return source_label(source, text.metadata.get("op_name"))


def _joined(*parts: str) -> str:
    return SEPARATOR.join(part for part in parts if part)
