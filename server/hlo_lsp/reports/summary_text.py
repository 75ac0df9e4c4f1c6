"""The memory summary as JSON, text, and Markdown."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from hlo_lsp.display.phrases import capitalized, count_noun
from hlo_lsp.display.table import Link, Table, markdown_table
from hlo_lsp.memory.group_tree import GroupNode
from hlo_lsp.memory.grouping import BufferGroup, OwnedBuffer
from hlo_lsp.memory.savings import AT_MOST
from hlo_lsp.model.place import LocatedRecord
from hlo_lsp.model.source import SourceLine
from hlo_lsp.program.data_origin import Origin
from hlo_lsp.reports.cost import cost_line, total_json
from hlo_lsp.reports.summary import ModuleSummary, SpaceSummary
from hlo_lsp.text.amounts import format_short_bytes as _size
from hlo_lsp.text.amounts import in_seconds
from hlo_lsp.text.inert import (
    Json,
    markdown_block,
    markdown_code,
    markdown_link,
    markdown_text,
)

_UNKNOWN = "unknown: "
_CODE_SIZE = "generated_code_size_in_bytes"  # no file of a dump has it


def summary_json(summary: ModuleSummary, count: int) -> Json:
    """Return a summary as JSON; see docs/json_schema.md."""
    peak = summary.logical_peak
    main = summary.main
    return {
        "name": summary.name,
        "path": summary.file.label,
        "backend": summary.backend.value,
        "total_bytes": summary.total_bytes,
        "capacity_bytes": summary.capacity_bytes,
        "by_space": {
            str(space.space): {
                "name": space.title,
                "allocated_bytes": space.allocated_bytes,
                "peak_bytes": space.bytes,
                "peak_step": space.step,
                "groups": _groups_json(space, count),
                "arguments": [
                    {"name": one.name, "bytes": one.bytes, "buffers": one.buffers}
                    for one in space.arguments[:count]
                ],
            }
            for space in summary.spaces
        },
        "by_kind": dict(summary.by_kind),
        "declared_peak": None
        if peak is None or peak.declared_step is None
        else {"step": peak.declared_step, "bytes": peak.declared_bytes},
        "logical_peak": None if peak is None else {"step": peak.step, "bytes": peak.bytes},
        "padding_bytes": sum(space.lost.array_padding for space in summary.spaces if space.lost),
        "fragmentation_bytes": sum(
            space.scheduled_bytes - space.bytes
            for space in summary.spaces
            if space.bytes is not None
        ),
        "lost": None
        if main is None or main.lost is None
        else {
            "array_padding": main.lost.array_padding,
            "tuple_table_slots": main.lost.tuple_table_slots,
            "alignment": main.lost.alignment,
            "free_at_peak": main.lost.free,
            "occupied_at_peak": main.lost.occupied,
            "above_peak": main.lost.total - main.lost.occupied,
        },
        "top_buffers": [] if main is None else [buffer_json(one) for one in main.buffers[:count]],
        "top_sources": [] if main is None else list(_source_json(main))[:count],
        "advice": [
            {
                "kind": one.kind.value,
                "text": one.text,
                "saves_bytes": one.saves_bytes,
                "saves_allocated_bytes": one.saves_bytes,
                "is_bound": one.label == AT_MOST,
                "proven": None
                if one.proof is None
                else {"saved_bytes": one.proof.saved, **asdict(one.proof)},
                "space": space.title,
            }
            for space in summary.spaces
            for one in summary.advice_on(space)
        ],
        "memory_analysis": {
            one.key: {"bytes": one.bytes, "rule": one.rule} for one in summary.memory_analysis
        },
        "cost": None
        if summary.cost is None
        else {
            "chip": None if summary.cost.chip is None else summary.cost.chip.name,
            **total_json(summary.cost),
        },
        "time_advice": [
            {
                "kind": one.kind.value,
                "text": one.text,
                "costs_seconds": in_seconds(one.least_ps),
                "share": one.share,
                "instruction": one.instruction.name,
            }
            for one in summary.time_advice
        ],
        "findings": dict(summary.findings),
        "missing": list(summary.missing),
    }


def buffer_json(owned: OwnedBuffer) -> Json:
    """Return a buffer with the origin of its data."""
    value = None if owned.buffer.value is None else owned.buffer.value.record
    origin = owned.origin
    return {
        "id": None if value is None else value.id,
        "name": None if value is None else value.name,
        "index": None if value is None else value.index,
        "padded_bytes": owned.buffer.bytes,
        "space": owned.buffer.allocation.record.color,
        "source": None if owned.source is None else str(owned.source),
        "op_name": None if origin is None else origin.op_name,
        "origin": origin_json(origin),
    }


def origin_json(origin: Origin | None) -> Json | None:
    """Return the instruction or argument that data came from."""
    if origin is None:
        return None
    return {
        "instruction": origin.instruction.record.name,
        "op_name": origin.op_name,
        "source": None if origin.source is None else str(origin.source),
        "saved_by": None if origin.saved_by is None else str(origin.saved_by),
        "argument": origin.argument,
        "via": list(origin.via),
    }


def _groups_json(space: SpaceSummary, count: int) -> list[Json]:
    if space.tree:
        return tree_json(space.tree, count)
    return [
        {"name": one.name, "bytes": one.bytes, "buffers": len(one.buffers), "children": []}
        for one in space.groups[:count]
    ]


def _source_json(space: SpaceSummary) -> Iterator[Json]:
    for group in space.groups:
        if group.source is not None:
            yield {
                "file": group.source.file,
                "line": group.source.line,
                "padded_bytes": group.bytes,
                "buffers": len(group.buffers),
            }


def small_module_line(summary: ModuleSummary) -> str:
    """Return the line of a module that is too small to be shown in full."""
    main = summary.main
    where = "" if main is None else f"{main.title} "
    what = "allocated" if main is None or main.bytes is None else "peak"
    facts = f"{where}{what} {_size(summary.size)}"
    return f"{summary.name} · {summary.backend.value} · {facts} · {summary.file.label}"


def small_module_lines(small: Sequence[str]) -> Iterator[str]:
    """Yield the lines of modules that are too small to be shown in full, below a title."""
    if small:
        count = count_noun(len(small), "module")
        yield f"{count} below 1% of the largest (--all shows them in full):"
    yield from (f"  {line}" for line in small)


def summary_lines(summary: ModuleSummary, count: int) -> Iterator[str]:
    """Yield the lines of the text form."""
    spaces = summary.shown_spaces
    least = "" if summary.is_whole else "at least "
    capacity = "" if summary.capacity_bytes is None else f" of {_size(summary.capacity_bytes)}"
    totals = [
        f"{space.title} {least}"
        + _allocated(space, f"{capacity if space is summary.main else ''} allocated")
        for space in spaces
    ]
    if not spaces and summary.total_bytes:
        totals = [f"{_size(summary.total_bytes)} allocated in all memory spaces"]
    yield " · ".join([summary.name, summary.backend.value, *totals])
    for space in spaces:
        if space.bytes is None or space.step is None:
            continue
        of = "" if summary.last_step is None else f" of {summary.last_step:,}"
        title = f"{'peak of ' if space.is_peak else ''}{space.title}"
        yield f"{title} {_size(space.bytes)} at step {space.step:,}{of}"
        if space.tree:
            yield from tree_lines(space, space.tree, count)
        elif space.groups:
            yield f"  {_owners(space, count)}"
        if arguments := _argument_groups(space, count):
            yield f"  arguments: {arguments}"
        yield from (f"  {line}" for line in lost_lines(space))
        for one in summary.advice_on(space):
            yield f"  advice: {one.text}; {one.price}"
    yield from _notes(summary)


def _allocated(space: SpaceSummary, verb: str = "") -> str:
    """Return the allocated bytes, and how many of them are thread-local."""
    local = space.thread_local_bytes
    size = f"{_size(space.allocated_bytes)}{verb}"
    return f"{size} ({_size(local)} thread-local)" if local and space.is_shown(local) else size


def _notes(summary: ModuleSummary) -> Iterator[str]:
    """Yield the cost, the numbers of JAX and XLA, and what is missing."""
    proofs = [one.proof for space in summary.spaces for one in space.advice if one.proof]
    yield from dict.fromkeys(note for proof in proofs for note in proof.notes)
    if summary.cost is not None:
        yield cost_line(summary.cost)
    yield from (f"advice: {one.text}" for one in summary.time_advice)
    if analysis := _analysis(summary):
        yield f"memory_analysis() of JAX: {analysis}"
    peak = summary.logical_peak
    # Another number for a peak is of no help to most readers.
    with_negligible = any(space.with_negligible for space in summary.spaces)
    is_known = peak is not None and peak.declared_step is not None and summary.is_whole
    if peak is not None and is_known and with_negligible:
        yield (
            f"XLA declares the peak at step {peak.declared_step:,}: live values of"
            f" {_size(peak.declared_bytes)} in all memory spaces,"
            " with shared bytes counted once per value"
        )
    if summary.findings:
        counts = ", ".join(f"{count:,} {code}" for code, count in summary.findings.items())
        yield f"findings of the check: {counts}"
    yield from summary.missing


def _analysis(summary: ModuleSummary) -> str:
    """Return the numbers of JAX that are not 0, and what is missing to know the others."""
    return " · ".join(
        f"{one.key.removesuffix('_size_in_bytes').removesuffix('_memory_in_bytes')} "
        + (_size(one.bytes) if one.bytes else _unknown(one.rule))
        for one in summary.memory_analysis
        if one.bytes or (one.rule.startswith(_UNKNOWN) and one.key != _CODE_SIZE)
    )


def _unknown(rule: str) -> str:
    """Return ``unknown`` with the reason."""
    return f"unknown ({rule.removeprefix('unknown: ')})"


def _owners(space: SpaceSummary, count: int) -> str:
    return _named_sizes(space, [(one.label, one.bytes) for one in space.groups], count)


def _argument_groups(space: SpaceSummary, count: int) -> str:
    """Return the groups of arguments, empty if there are none to tell apart."""
    if space.tree or len(space.arguments) < 2:
        return ""
    return _named_sizes(space, [(one.name, one.bytes) for one in space.arguments], count)


def _named_sizes(space: SpaceSummary, found: Sequence[tuple[str, int]], count: int) -> str:
    """Return the largest parts of the bytes with their names, and the sum of the others."""
    if not space.is_shown(sum(size for _, size in found)):
        return ""
    shown = [one for one in found if space.is_shown(one[1])][:count] or list(found[:count])
    others = found[len(shown) :]
    rest = sum(size for _, size in others)
    if others and space.is_shown(rest):
        shown.append((f"{len(others):,} more", rest))
    return " · ".join(f"{name} {_size(size)}" for name, size in shown)


def lost_lines(space: SpaceSummary) -> Iterator[str]:
    """Yield which occupied bytes hold no data, and which allocated bytes are not occupied."""
    lost = space.lost
    if lost is None:
        return
    step = "the peak" if space.is_peak else "this step"
    slots = f"slots of {count_noun(space.tuple_tables, 'tuple table')}"
    yield from _causes(
        space,
        f"lost at {step}",
        [
            ("array padding", lost.array_padding),
            (slots, lost.fixed_tuple_table_slots),
            ("alignment", lost.fixed_alignment),
        ],
    )
    yield from _causes(
        space,
        "allocated above the peak" if space.is_peak else "allocated, but not occupied",
        [
            (slots, lost.tuple_table_slots - lost.fixed_tuple_table_slots),
            ("alignment", lost.alignment - lost.fixed_alignment),
            (f"free at {step}", lost.free),
        ],
    )


def _causes(space: SpaceSummary, title: str, parts: Sequence[tuple[str, int]]) -> Iterator[str]:
    total = sum(count for _, count in parts)
    if total and space.is_shown(total):
        shown = [one for one in parts if one[1] and space.is_shown(one[1])]
        named = ", ".join(f"{name} {_size(count)}" for name, count in shown)
        yield f"{title} {_size(total)}{named and f': {named}'}"


@dataclass(frozen=True, slots=True)
class SummaryLinks:
    """Functions that return the URI of what a summary names, None without a place."""

    source: Callable[[SourceLine], str | None]
    step: Callable[[int], str | None]


def summary_markdown(
    summary: ModuleSummary, count: int, links: SummaryLinks | None = None
) -> Iterator[str]:
    """Yield the lines of the Markdown form; ``links`` for clients that follow links in it."""
    yield f"# Memory of {markdown_code(summary.name)} ({summary.backend.value})"
    yield ""
    is_peak = all(space.is_peak for space in summary.spaces)
    rows = [
        (
            space.title,
            _allocated(space),
            "unknown" if space.bytes is None else _size(space.bytes),
            "" if space.step is None else f"{space.step:,}",
        )
        for space in summary.shown_spaces
    ]
    titles = ("memory space", ">allocated", ">peak" if is_peak else ">occupied", ">step")
    yield from markdown_table(Table(titles, rows))
    for space in summary.shown_spaces:
        if space.bytes is None or space.step is None:
            continue
        step = f"step {space.step:,}"
        link = markdown_link(step, None if links is None else links.step(space.step))
        title = f"{space.title} at {link}"
        yield from ("", f"## {title}", "")
        if space.tree:
            yield from markdown_block(tree_lines(space, space.tree, count, ""))
        else:
            owners = [
                (_owner(group, links), _size(group.bytes), f"{len(group.buffers):,}")
                for group in space.groups[:count]
                if space.is_shown(group.bytes)
            ]
            yield from markdown_table(Table(("owner", ">bytes", ">buffers"), owners))
        if arguments := _argument_groups(space, count):
            yield from ("", f"Arguments: {markdown_text(arguments)}.")
        large = [one for one in space.buffers[:count] if space.is_shown(one.buffer.bytes)]
        buffers = [_buffer_row(owned, links) for owned in large]
        yield ""
        yield from markdown_table(Table(("buffer", ">bytes", "origin"), buffers))
        for line in lost_lines(space):
            yield from ("", f"{capitalized(line)}.")
        if found := summary.advice_on(space):
            yield ""
            advice = [(capitalized(one.text), one.price) for one in found]
            yield from markdown_table(Table(("advice", "saving"), advice))
    for note in _notes(summary):
        is_name = note.startswith("memory_analysis()")
        sentence = note if is_name else capitalized(note)
        yield from ("", markdown_text(f"{sentence}."))


def _owner(group: BufferGroup, links: SummaryLinks | None) -> Link:
    if links is None or group.source is None:
        return Link(group.label, None)
    return Link(group.label, links.source(group.source))


def _buffer_row(owned: OwnedBuffer, links: SummaryLinks | None) -> tuple[Link, str, Link]:
    places = owned.buffer.value, None if owned.origin is None else owned.origin.instruction
    value, origin = (
        None if links is None or place is None else line_uri(place) for place in places
    )
    name = Link(buffer_name(owned), value)
    return name, _size(owned.buffer.bytes), Link(origin_text(owned), origin)


def line_uri(record: LocatedRecord[Any]) -> str:
    """Return the URI of the line of a record."""
    return f"{record.file.uri}#L{record.number}"


def buffer_name(owned: OwnedBuffer) -> str:
    """Return the name and the shape index of a buffer's value."""
    value = owned.buffer.value
    return "unused bytes" if value is None else f"`{value.record.key}`"


def origin_text(owned: OwnedBuffer) -> str:
    """Return where the data of a buffer comes from, empty if it is unknown."""
    origin = owned.origin
    if origin is None:
        return ""
    if origin.argument is not None:
        return f"argument `{origin.argument}`"
    line = "" if origin.source is None else f" at {origin.source}{origin.saving}"
    return f"`{origin.instruction.record.name}`{line}"


def tree_lines(
    space: SpaceSummary, nodes: Sequence[GroupNode], count: int, indent: str = "  "
) -> Iterator[str]:
    """Yield a line for each node, with at most ``count`` children of each node.

    A node with all its bytes in one child shares a line with it. Smaller children are one line, so
    that the lines of a level add up to the line above, except for negligible bytes.
    """
    large = [node for node in nodes if space.is_shown(node.bytes)]
    for node in large[:count]:
        names = [short_name(node.name)]
        last = node
        while len(last.children) == 1 and last.children[0].bytes == last.bytes:
            last = last.children[0]
            names.append(short_name(last.name))
        yield f"{indent}{_size(node.bytes):>10}  {' > '.join(names)}"
        yield from tree_lines(space, last.children, count, f"{indent}  ")
        if last.children and last.own_bytes and space.is_shown(last.own_bytes):
            yield f"{indent}  {_size(last.own_bytes):>10}  here"
    rest = nodes[count:] if len(large) > count else nodes[len(large) :]
    total = sum(node.bytes for node in rest)
    if rest and space.is_shown(total):
        yield f"{indent}{_size(total):>10}  {len(rest):,} more"


def tree_json(nodes: Sequence[GroupNode], count: int) -> list[Json]:
    """Return the largest nodes of each level as JSON."""
    return [
        {
            "name": node.name,
            "bytes": node.bytes,
            "buffers": node.buffers,
            "children": tree_json(node.children, count),
        }
        for node in nodes[:count]
    ]


def short_name(name: str) -> str:
    """Return a frame without the folders of its file; other names are returned unchanged."""
    path, colon, line = name.rpartition(":")
    is_frame = bool(colon) and line.isdecimal()
    return name.replace("\\", "/")[path.replace("\\", "/").rfind("/") + 1 :] if is_frame else name
