"""The differences between two compiles as JSON, text, and Markdown."""

from collections.abc import Callable, Iterator, Sequence

from hlo_lsp.display.phrases import count_noun, join_dotted, shortened, shortened_change
from hlo_lsp.display.table import Cell, Table, markdown_table, text_lines
from hlo_lsp.memory.buffer_changes import BufferChange, ChangedBuffer
from hlo_lsp.memory.grouping import GroupKey, OwnedBuffer
from hlo_lsp.memory.savings import large_spaces
from hlo_lsp.program.instruction_matching import Node
from hlo_lsp.reports.cost_comparison import (
    cost_change_json,
    cost_change_lines,
    cost_change_markdown,
    cost_headline,
)
from hlo_lsp.reports.diff import GroupChange, InstructionDiff, ModuleDiff, SpaceDiff
from hlo_lsp.reports.summary import SpaceSummary
from hlo_lsp.reports.summary_text import buffer_json
from hlo_lsp.syntax.instruction_text import attributes_column
from hlo_lsp.syntax.module_records import InstructionLine
from hlo_lsp.syntax.statements import comma_separated_texts
from hlo_lsp.text.amounts import format_short_bytes, format_signed
from hlo_lsp.text.inert import Json, markdown_text

_MIN_SHARE = 0.3  # of corresponding instructions; below, two modules are unrelated
_MAX_SHAPE_CHARACTERS = 60
_MIN_SHOWN_BYTES = 1024  # of a change; memory spaces of semaphores change by a few bytes
_PHRASES = {
    BufferChange.NEW: "is new",
    BufferChange.GONE: "is gone",
    BufferChange.LARGER: "is larger",
    BufferChange.SMALLER: "is smaller",
    BufferChange.LIVE_AT_PEAK: "is now live at the peak",
    BufferChange.NOT_LIVE_AT_PEAK: "is no longer live at the peak",
    BufferChange.MOVED_IN: "is now in this memory space",
    BufferChange.MOVED_OUT: "is now in another memory space",
    BufferChange.OWN_BYTES: "now has its own buffer",
    BufferChange.SHARED_BYTES: "now shares a buffer",
}
_PHRASES_OF_PLATFORMS = {
    BufferChange.NEW: "only on {after}",
    BufferChange.GONE: "only on {before}",
    BufferChange.LARGER: "larger on {after}",
    BufferChange.SMALLER: "smaller on {after}",
    BufferChange.LIVE_AT_PEAK: "live at the peak only on {after}",
    BufferChange.NOT_LIVE_AT_PEAK: "live at the peak only on {before}",
    BufferChange.MOVED_IN: "in {space} on {before}",
    BufferChange.MOVED_OUT: "in {space} on {after}",
    BufferChange.OWN_BYTES: "shares a buffer on {before}",
    BufferChange.SHARED_BYTES: "shares a buffer on {after}",
}
_SHOWN_GROUPS = (GroupKey.LINE, GroupKey.SCOPE, GroupKey.SHAPE)


def headline(diff: ModuleDiff) -> str:
    """Return the answer in one sentence: how a peak changed, and by which buffer most."""
    name = diff.before.name
    if diff.after.name != name:
        name = f"{name} -> {diff.after.name}"
    if not diff.is_same_platform:
        name += f" (different platforms: {diff.before.backend.value} -> {diff.after.backend.value})"
    space = diff.main
    if diff.is_equal:
        return f"{name}: no differences"
    if diff.problems:
        return f"{name}: cannot be compared as a whole: {'; '.join(diff.problems)}"
    if not any(diff.is_memory_known):
        return f"{name}: {_program_change(diff)}"
    if not diff.is_same_platform:
        before, after = map(_peak_or_allocated, (diff.before.main, diff.after.main))
        return f"{name}: {before} -> {after}"
    if not all(diff.is_memory_known):
        side = "before" if diff.is_memory_known[1] else "after"
        return f"{name}: {_program_change(diff)}, and the memory {side} is unknown"
    assert space is not None  # no memory space is only on one platform
    if space.peaks is not None and space.peak_change:
        before, after = map(format_short_bytes, space.peaks)
        text = f"{space.title} peak {_signed(space.peak_change)} ({before} -> {after})"
    elif space.allocated_change:
        before, after = map(_known_size, space.allocated_sides)
        text = f"{space.title} allocated {_signed(space.allocated_change)} ({before} -> {after})"
        above = _above_peak(space)
        return f"{name}: {text}{f': {above}' if above else ''}"
    else:
        change = "" if diff.cost is None else cost_headline(diff.cost)
        return f"{name}: the same memory{f', cost {change}' if change else ''}"
    return f"{name}: {text}{_cause(diff, space)}"


def _program_change(diff: ModuleDiff) -> str:
    """Return how the program differs, without its memory."""
    if diff.instructions is None:
        return "no module text on both sides"
    same = "the same instructions" if diff.is_same_platform else "different platforms"
    if diff.is_same_platform and not diff.instructions.is_equal:
        same = f"the program differs: {_instruction_counts(diff.instructions)}"
    return f"{same}{', other flags' if diff.flags else ''}"


def _known_size(count: int | None) -> str:
    return "unknown" if count is None else format_short_bytes(count)


def _peak_or_allocated(space: SpaceSummary | None) -> str:
    """Return the peak of a memory space, or its allocated bytes if the peak is unknown."""
    if space is None:
        return "unknown"
    if space.bytes is None:
        return f"{space.title} allocated {format_short_bytes(space.allocated_bytes)}"
    return f"{space.title} peak {format_short_bytes(space.bytes)}"


def _cause(diff: ModuleDiff, space: SpaceDiff) -> str:
    """Return the buffer that changed most in the direction of the peak, and its Python line."""
    cause = next((one for one in space.buffers if one.bytes * space.peak_change > 0), None)
    if cause is None:
        return ""
    place = _place(cause.buffer)
    text = f": {_name(cause.buffer)}{f' ({place})' if place else ''} {_phrase(diff, cause)}"
    source = cause.buffer.source
    lines = {one.name: one for one in space.groups[GroupKey.LINE]}
    line = lines.get(str(source))
    if line is None and source is not None:  # the folder of the file has another name after
        line = next((one for one in lines.values() if one.label == source.short), None)
    if line is None or line.bytes * cause.bytes <= cause.bytes**2:
        return text
    return f"{text}; {line.label} {_signed(line.bytes)} in all"


def diff_lines(diff: ModuleDiff, count: int) -> Iterator[str]:
    """Yield the lines of the text form, with at most ``count`` entries in each list."""
    instructions = diff.instructions
    is_alike = diff.is_same_platform  # otherwise, all layouts and most instructions differ
    if is_alike and instructions is not None and instructions.share < _MIN_SHARE:
        yield f"The modules differ widely: of the instructions, {_matched(instructions)}."
    yield headline(diff)
    yield from _compilers(diff)
    for space in filter(_is_shown, diff.spaces):
        yield from _space_lines(diff, space, count)
    if diff.cost is not None:
        yield from cost_change_lines(diff.cost, count)
    if instructions is None:
        if all(diff.is_memory_known):
            yield "no module text on both sides: buffers are matched by name and shape"
    elif not is_alike:
        yield f"instructions: {_matched(instructions)}"
    elif not instructions.is_equal:
        yield f"instructions: {_matched(instructions)}; {_instruction_counts(instructions)}"
        yield from (f"  + {_instruction(node)}" for node in instructions.added[:count])
        yield from (f"  - {_instruction(node)}" for node in instructions.removed[:count])
        yield from (f"  ~ {_changed(instructions, node)}" for node in instructions.changed[:count])
    if diff.flags:
        yield f"flags: {count_noun(len(diff.flags), 'change')}"
        yield from (
            f"  {flag.name}: {flag.before or 'not set'} -> {flag.after or 'not set'}"
            for flag in diff.flags[:count]
        )


def _compilers(diff: ModuleDiff) -> Iterator[str]:
    """Yield the releases of libtpu, if both are known and differ."""
    before, after = diff.compilers
    if before != after and None not in diff.compilers:
        yield f"compiled by another libtpu: {before} -> {after}"


def _space_lines(diff: ModuleDiff, space: SpaceDiff, count: int) -> Iterator[str]:
    yield f"{space.title}: {_totals(space)}"
    for key in _SHOWN_GROUPS:
        shown = [one for one in space.groups[key] if _is_large(one.bytes)]
        if shown and (diff.is_same_platform or key is not GroupKey.SHAPE):
            yield f"  by {key.value}: {_groups(shown, count)}"
    if above := _above_peak(space):
        yield f"  above the peak: {above}"
    large = [changed for changed in space.buffers if _is_large(changed.bytes)][:count]
    rows = [(_signed(changed.bytes), _buffer(diff, changed)) for changed in large]
    rest = space.buffers[len(large) :]
    if rest:
        size = _signed(sum(changed.bytes for changed in rest))
        rows.append((size, count_noun(len(rest), "more buffer")))
    yield from text_lines([Table((">bytes", "buffer"), rows, has_titles=False)])


def _above_peak(space: SpaceDiff) -> str:
    """Return how the allocated bytes that no value occupies at the peak changed, by cause."""
    sides = (space.before, space.after)
    lost = [side.lost.above_peak for side in sides if side is not None and side.lost is not None]
    if len(lost) < len(sides):
        return ""
    changes = {cause: lost[1][cause] - count for cause, count in lost[0].items()}
    return join_dotted(
        [f"{cause} {_signed(count)}" for cause, count in changes.items() if _is_large(count)],
        len(changes),
    )


def first_change(diff: ModuleDiff) -> str:
    """Return the first instruction that differs, or how the memory differs."""
    found = diff.instructions
    if found is None or found.is_equal:
        return headline(diff).removeprefix(f"{diff.before.name}: ")
    return _first_instruction_change(found)


def _first_instruction_change(found: InstructionDiff) -> str:
    if found.changed:
        return _changed(found, found.changed[0])
    if found.added and found.removed:
        one, other = found.removed[0].record, found.added[0].record
        if one.name == other.name:  # the opcode differs, so they do not correspond
            return f"{one.name}: {one.opcode} -> {other.opcode}"
    only, title = (found.added, "also has") if found.added else (found.removed, "does not have")
    return f"{title} {_instruction(only[0])}"


NameCell = Callable[[str, ChangedBuffer], Cell]


def diff_markdown(diff: ModuleDiff, count: int) -> Iterator[str]:
    """Yield the lines of the Markdown form: the headline and the sections."""
    yield from (f"# {markdown_text(headline(diff))}", "")
    yield from diff_sections(diff, count, lambda name, _: f"`{name}`")


def diff_sections(diff: ModuleDiff, count: int, name_cell: NameCell) -> Iterator[str]:
    """Yield the lines of the Markdown form below the headline.

    Args:
        diff: The differences.
        count: Maximum number of entries in each list.
        name_cell: Returns the cell with the name of a buffer, such as one with links.
    """
    for compilers in _compilers(diff):
        yield from (markdown_text(compilers), "")
    titles: tuple[str, ...] = ("memory space", ">allocated", ">change", ">peak", ">change")
    sides = [_space_cells(space) for space in large_spaces(diff.spaces, _largest_side)]
    yield from markdown_table(Table(titles, sides))
    for space in diff.spaces:
        if space.only_on is not None or not _is_shown(space):
            continue
        yield from ("", f"## {space.title}", "")
        rows = [
            (
                name_cell(_name(changed.buffer), changed),
                _place(changed.buffer),
                _signed(changed.bytes),
                _phrase(diff, changed),
            )
            for changed in space.buffers
            if _is_large(changed.bytes)
        ][:count]
        yield from markdown_table(Table(("buffer", "origin", ">bytes", "change"), rows))
    if diff.cost is not None:
        yield from cost_change_markdown(diff.cost, count)
    if diff.instructions is not None and not diff.instructions.is_equal:
        found = diff.instructions
        counts = f"; {_instruction_counts(found)}" if diff.is_same_platform else ""
        yield from ("", f"Instructions: {_matched(found)}{counts}.")
    if diff.flags:
        yield ""
        flags = [
            (f"`{flag.name}`", flag.before or "not set", flag.after or "not set")
            for flag in diff.flags[:count]
        ]
        yield from markdown_table(Table(("flag", "before", "after"), flags))


def _largest_side(space: SpaceDiff) -> int:
    return max(size or 0 for size in space.allocated_sides)


def _space_cells(space: SpaceDiff) -> tuple[str, ...]:
    lone = space.before or space.after
    if space.only_on is not None and lone is not None:
        peak = "unknown" if lone.bytes is None else format_short_bytes(lone.bytes)
        allocated = format_short_bytes(lone.allocated_bytes)
        return f"{space.title}, only on {space.only_on.value}", allocated, "", peak, ""
    allocated, peak = _known_size(space.allocated_sides[1]), _known_size(space.peak_sides[1])
    change = "unknown" if space.allocated is None else _signed(space.allocated_change)
    peak_change = "unknown" if space.peaks is None else _signed(space.peak_change)
    return space.title, allocated, change, peak, peak_change


def diff_json(diff: ModuleDiff, count: int) -> Json:
    """Return the differences as JSON; see docs/json_schema.md."""
    instructions = diff.instructions
    return {
        **{
            key: {"name": side.name, "path": side.file.label, "compiler": compiler}
            for key, side, compiler in zip(
                ("before", "after"), (diff.before, diff.after), diff.compilers, strict=True
            )
        },
        "is_equal": diff.is_equal,
        "complete": not diff.problems and all(diff.is_memory_known),
        "problems": list(diff.problems),
        "headline": headline(diff),
        "spaces": [_space_json(space, count) for space in diff.spaces],
        "cost": None if diff.cost is None else cost_change_json(diff.cost, count),
        "instructions": None
        if instructions is None
        else {
            "matched": instructions.matched,
            "matched_by": {
                reason.name.lower(): count for reason, count in instructions.matched_by.items()
            },
            "before": instructions.matched + len(instructions.removed),
            "after": instructions.matched + len(instructions.added),
            "added": len(instructions.added),
            "removed": len(instructions.removed),
            "changed": len(instructions.changed),
            "examples": {
                "added": [_instruction(node) for node in instructions.added[:count]],
                "removed": [_instruction(node) for node in instructions.removed[:count]],
                "changed": [_changed(instructions, node) for node in instructions.changed[:count]],
            },
        },
        "flags": None
        if diff.flags is None
        else [
            {"name": flag.name, "before": flag.before, "after": flag.after} for flag in diff.flags
        ],
    }


def _space_json(space: SpaceDiff, count: int) -> Json:
    return {
        "name": space.title,
        "before": _side_json(space.before),
        "after": _side_json(space.after),
        "allocated_change_bytes": None if space.allocated is None else space.allocated_change,
        "peak_change_bytes": None if space.peaks is None else space.peak_change,
        "groups": {
            key.value: [
                {"name": one.name, "before_bytes": one.before, "after_bytes": one.after}
                for one in changes[:count]
            ]
            for key, changes in space.groups.items()
        },
        "buffer_count": len(space.buffers),
        "buffers": [
            {
                "change": one.change.value,
                "change_bytes": one.bytes,
                "before": None if one.before is None else buffer_json(one.before),
                "after": None if one.after is None else buffer_json(one.after),
            }
            for one in space.buffers[:count]
        ],
    }


def _side_json(space: SpaceSummary | None) -> Json | None:
    if space is None:
        return None
    return {
        "allocated_bytes": space.allocated_bytes,
        "peak_bytes": space.bytes,
        "peak_step": space.step,
    }


def _totals(space: SpaceDiff) -> str:
    lone = space.before or space.after
    if space.only_on is not None and lone is not None:
        peak = "" if lone.bytes is None else f" · peak {format_short_bytes(lone.bytes)}"
        allocated = format_short_bytes(lone.allocated_bytes)
        return f"only on {space.only_on.value} · allocated {allocated}{peak}"
    before, after = map(_known_size, space.allocated_sides)
    change = "" if space.allocated is None else f" ({_signed(space.allocated_change)})"
    text = f"allocated {before} -> {after}{change}"
    if any(space.peak_sides):
        first, second = map(_known_size, space.peak_sides)
        change = "" if space.peaks is None else f" ({_signed(space.peak_change)})"
        text += f" · peak {first} -> {second}{change}"
    return text


def _is_large(change: int) -> bool:
    """Return whether a change is worth an entry."""
    return abs(change) >= _MIN_SHOWN_BYTES


def _groups(changes: Sequence[GroupChange], count: int) -> str:
    return join_dotted([f"{one.label} {_signed(one.bytes)}" for one in changes], count)


def _is_shown(space: SpaceDiff) -> bool:
    if not all(space.is_known):
        return any((size or 0) >= _MIN_SHOWN_BYTES for size in space.allocated_sides)
    changes = (space.peak_change, space.allocated_change, *(one.bytes for one in space.buffers))
    return any(map(_is_large, changes))


def _buffer(diff: ModuleDiff, one: ChangedBuffer) -> str:
    value = one.buffer.buffer.value
    shape = "" if value is None else f" {_short(value.record.shape)}"
    place = _place(one.buffer)
    return f"{_name(one.buffer)}{shape}{f' {place}' if place else ''} {_phrase(diff, one)}"


def _phrase(diff: ModuleDiff, one: ChangedBuffer) -> str:
    if not diff.is_same_platform:
        before, after = diff.before.backend.value, diff.after.backend.value
        phrase = _PHRASES_OF_PLATFORMS[one.change]
        return phrase.format(before=before, after=after, space=one.other_space)
    if one.other_space is None:
        return _PHRASES[one.change]
    return f"{'was' if one.change is BufferChange.MOVED_IN else 'is now'} in {one.other_space}"


def _name(owned: OwnedBuffer) -> str:
    value = owned.buffer.value
    if value is None:
        number = owned.buffer.allocation.record.number
        return f"bytes of allocation {number} without values"
    return value.record.label


def _place(owned: OwnedBuffer) -> str:
    return "" if owned.origin is None else owned.origin.label


def _matched(instructions: InstructionDiff) -> str:
    return f"{instructions.matched:,} correspond ({instructions.share:.0%} of both modules)"


def _instruction_counts(instructions: InstructionDiff) -> str:
    return (
        f"{len(instructions.added):,} added, {len(instructions.removed):,} removed, "
        f"{len(instructions.changed):,} changed"
    )


def _instruction(node: Node) -> str:
    shape = _short(node.record.shape)
    return f"{node.record.name} = {shape} {node.opcode} {node.op_name}".rstrip()


def _changed(found: InstructionDiff, node: Node) -> str:
    """Return how an instruction changed, or the first change inside of a fusion."""
    other = node.match
    assert other is not None
    names = node.record.name
    if other.record.name != names:
        names += f" -> {other.record.name}"
    shape, opcode, _ = node.operation
    if shape != other.record.shape:
        return f"{names}: {_change(shape, other.record.shape)}"
    if opcode != other.opcode:
        return f"{names}: {opcode} -> {other.opcode}"
    if node.operation != other.operation and (attributes := _attribute_changes(node, other)):
        return f"{names}: {attributes}"
    if (read := node.other_operand) is not None:
        return f"{names}: reads {read[0].record.name} -> {read[1].record.name}"
    inside = found.inside(node)
    if inside is not None and not inside.is_equal:
        return f"{names}: {_first_instruction_change(inside)}"
    if node.opcode == "constant":
        return f"{names}: {_change(*(_literal(one.record) for one in (node, other)))}"
    what = "operands" if node.operation != other.operation else "fused computation"
    if (node.operation, node.content) == (other.operation, other.content):
        what = "elements of tuples"
    return f"{names}: different {what}"


def _literal(constant: InstructionLine) -> str:
    """Return the value of a constant as it is printed."""
    text, start = constant.text, constant.opened
    return text[start : attributes_column(text, start)].removesuffix(")")


def _attribute_changes(node: Node, other: Node) -> str:
    """Return the attributes that differ: ``dimensions {0} -> {1}``."""
    before, after = (_attributes(one.operation[2]) for one in (node, other))
    return ", ".join(
        f"{name} {_change(before.get(name, 'none'), after.get(name, 'none'))}"
        for name in dict.fromkeys([*before, *after])
        if before.get(name) != after.get(name)
    )


def _attributes(text: str) -> dict[str, str]:
    start = text.find(",") + 1  # after the bracket of the operands
    parts = (part.partition("=") for part in comma_separated_texts(text, start, len(text)))
    return {name: value for name, equals, value in parts if equals}


def _change(before: str, after: str) -> str:
    return shortened_change(before, after, _MAX_SHAPE_CHARACTERS)


def _short(shape: str) -> str:
    return shortened(shape, _MAX_SHAPE_CHARACTERS)


def _signed(count: int) -> str:
    return format_signed(count, format_short_bytes)
