"""Results of a query as text and as JSON."""

from collections.abc import Iterator
from typing import Any

from hlo_lsp.model.display import count_noun, format_short_bytes
from hlo_lsp.model.shape import without_memory_space
from hlo_lsp.model.source import file_name
from hlo_lsp.reports.find import FoundBuffer, FoundInModule

Json = dict[str, Any]
_MAX_SHAPE_LENGTH = 40


def found_json(found: FoundInModule) -> Json:
    """Return what was found as JSON; see docs/json_schema.md."""
    return {
        "name": found.module,
        "path": found.path,
        "at_peak": [
            {
                "space": share.space,
                "bytes": share.bytes,
                "peak_bytes": share.peak_bytes,
                "peak_step": share.step,
            }
            for share in found.shares
        ],
        "buffers": [_buffer_json(one) for one in found.buffers],
    }


def _buffer_json(one: FoundBuffer) -> Json:
    return {
        "name": one.name,
        "bytes": one.bytes,
        "bytes_at_peak": one.peak_bytes,
        "space": one.space,
        "shape": one.shape,
        "live_range": None if one.live is None else [one.live.start_step, one.live.end_step],
        "computation": one.computation,
        "source": None if one.source is None else str(one.source),
        "argument": one.argument,
        "path": one.file.label,
        "line": one.line,
    }


def found_lines(found: FoundInModule, count: int) -> Iterator[str]:
    """Yield the sums at the peaks, and a line for each of the first buffers."""
    buffers = count_noun(sum(one.bytes > 0 for one in found.buffers), "buffer")
    shares = [
        f"{_size(share.bytes)} of {_size(share.peak_bytes)} at the peak of {share.space} "
        f"(step {share.step:,})"
        for share in found.shares
    ]
    yield f"{found.module}: {', '.join([buffers, *shares])}"
    rows = [_row(one) for one in found.buffers[:count]]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (f"{cell:<{width}}" for cell, width in zip(row[1:], widths[1:], strict=True))
        yield "  ".join((f"  {row[0]:>{widths[0]}}", *cells)).rstrip()
    rest = found.buffers[count:]
    if rest:
        yield f"  and {len(rest):,} more ({_size(sum(one.bytes for one in rest))})"


def _row(one: FoundBuffer) -> tuple[str, ...]:
    """Return the cells of a line; files are without folders, as the name of a dump is long."""
    shape = without_memory_space(one.shape)
    if len(shape) > _MAX_SHAPE_LENGTH:
        shape = f"{shape[: _MAX_SHAPE_LENGTH - 3]}..."
    steps = ""
    if one.live is not None:
        steps = f"steps {one.live.start_step:,}-{one.live.end_step:,}"
    return (
        _size(one.bytes) if one.bytes else "-",
        one.space or "no buffer",
        one.name,
        shape,
        steps,
        "at the peak" if one.peak_bytes else "",
        one.argument or ("" if one.source is None else file_name(str(one.source))),
        one.computation or "",
        f"{file_name(one.file.label)}:{one.line}",
    )


def _size(count: int) -> str:
    return format_short_bytes(count)
