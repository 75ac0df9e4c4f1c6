"""The report on an out-of-memory message: missing bytes, owners, and advice; as text and JSON."""

from collections.abc import Iterator
from dataclasses import dataclass

from hlo_lsp.display.phrases import capitalized, count_noun
from hlo_lsp.display.table import Table, markdown_table
from hlo_lsp.memory.grouping import OwnedBuffer
from hlo_lsp.memory.oom_advice import OomAdvice, is_of_code, oom_advice
from hlo_lsp.memory.oom_arithmetic import (
    Requirement,
    corrections,
    is_of_program,
    is_one_allocation,
    mismatches,
    requirement_of,
    was_device_full,
)
from hlo_lsp.memory.oom_join import JoinedEntry, JoinedMessage
from hlo_lsp.memory.savings import ABOUT, AT_MOST, saving_text
from hlo_lsp.model.oom_message import EntryList, OomKind, OomMessage
from hlo_lsp.model.shape import without_layout
from hlo_lsp.model.source import SourceLine
from hlo_lsp.reports.summary import SpaceSummary, SummaryOptions, summarize
from hlo_lsp.reports.summary_text import origin_json
from hlo_lsp.text.amounts import format_short_bytes as _size
from hlo_lsp.text.amounts import parse_size
from hlo_lsp.text.inert import Json, markdown_text

_VMEM = 1  # number of the memory space


@dataclass(frozen=True, slots=True)
class Owner:
    """Bytes of one Python line, of all arguments, or of an operation without a line."""

    name: str
    source: SourceLine | None
    bytes: int


@dataclass(frozen=True, slots=True)
class OomReport:
    """The report on one message.

    Attributes:
        joined: The message, joined with its dump.
        need: What the module needs.
        owners: The owners of the memory, the largest first: at the peak of a dump, else of the
            listed buffers.
        peak: The memory space at its peak, if the dump has live ranges.
        advice: Changes of the program, those on the most bytes first.
        corrections: Sentences about numbers whose meaning differs from their label.
        mismatches: Totals of the message that its parts contradict.
        was_device_full: True if nothing is wrong with the program.
        is_in_editor: True for readers who may not have the command line.
    """

    joined: JoinedMessage
    need: Requirement
    owners: tuple[Owner, ...]
    peak: SpaceSummary | None
    advice: tuple[OomAdvice, ...]
    corrections: tuple[str, ...]
    mismatches: tuple[str, ...]
    was_device_full: bool
    is_in_editor: bool = False

    @property
    def needed_bytes(self) -> int | None:
        """The bytes that the module needs, or the size of the allocation that failed."""
        message = self.joined.message
        if message.kind in {OomKind.HBM, OomKind.REMATERIALIZATION} and self.need.needed:
            return self.need.needed
        return None if message.needed is None else message.needed.bytes

    @property
    def missing_bytes(self) -> int | None:
        """The bytes that the module needs beyond the limit; None if one of them is unknown."""
        message = self.joined.message
        needed = self.needed_bytes
        if message.limit is None or needed is None:
            return None
        printed = message.needed
        if message.excess is not None and printed is not None and printed.matches(needed):
            return message.excess.bytes  # more exact than the difference of rounded numbers
        return needed - message.limit.bytes


def oom_report(joined: JoinedMessage, *, with_negligible: bool = False) -> OomReport:
    """Return the report on a message, ``with_negligible`` with advice on small savings."""
    message = joined.message
    need = requirement_of(message, joined.dump)
    peak = _peak(joined, with_negligible=with_negligible)
    is_full = was_device_full(message, need)
    if peak is not None and not is_full:
        found = [
            OomAdvice(one.text, one.bytes, one.saves_bytes, one.label or AT_MOST)
            for one in peak.advice
        ]
        # Of the advice on the message, what the advice on the dump does not cover.
        found += [
            one
            for one in oom_advice(joined, with_negligible=with_negligible)
            if " in parts " in one.text
        ]
    else:
        found = oom_advice(joined, was_device_full=is_full, with_negligible=with_negligible)
    owners = _owners_of_entries(joined)
    if peak is not None:
        owners = [Owner(group.name, group.source, group.bytes) for group in peak.groups]
    return OomReport(
        joined,
        need,
        tuple(owners),
        peak,
        tuple(sorted(found, key=lambda one: -one.bytes)),
        tuple(corrections(message, need)),
        tuple(mismatches(message, need)),
        is_full,
    )


def _peak(joined: JoinedMessage, *, with_negligible: bool) -> SpaceSummary | None:
    message = joined.message
    is_vmem = message.kind is OomKind.VMEM
    if joined.dump is None or is_of_code(message) or not (is_vmem or is_of_program(message)):
        return None
    space = _VMEM if is_vmem else 0
    summary = summarize(joined.dump, SummaryOptions(space=space, with_negligible=with_negligible))
    found = next((one for one in summary.spaces if one.space == space), None)
    return None if found is None or found.bytes is None else found


def _owners_of_entries(joined: JoinedMessage) -> list[Owner]:
    """Return the owners of the listed buffers, each with the sum of their bytes."""
    found: dict[str, Owner] = {}
    for entry in joined.entries:
        label = entry.entry.label or ""
        if label.startswith("Argument") or entry.entry.is_parameter:
            name, source = "arguments", None
        elif entry.entry.is_spill:
            name, source = "spilled registers", None
        elif entry.entry.window is not None:
            name, source = f"window of {entry.entry.window.operand}", None
        elif entry.source is not None:
            name, source = str(entry.source), entry.source
        elif entry.entry.is_scoped and entry.entry.kernel is not None:
            name, source = entry.entry.kernel, None
        elif entry.op_name is not None:
            name, source = entry.op_name, None
        elif label.startswith("Output"):
            name, source = "outputs", None
        else:
            name, source = entry.entry.allocation_type or "unknown", None
        known = found.get(name)
        total = (entry.bytes or 0) + (0 if known is None else known.bytes)
        found[name] = Owner(name, source, total)
    return sorted(found.values(), key=lambda owner: -owner.bytes)


_OWNERS = 5
_ENTRIES = 3
_ADVICE = 3
_MIN_SHOWN_BYTES = 1024
_TITLES = {
    OomKind.ALLOCATION: "an allocation failed",
    OomKind.GPU: "an allocation on a GPU failed",
    OomKind.CPU: "an allocation on the CPU failed",
    OomKind.HOST: "an allocation of pinned host memory failed",
    OomKind.PROGRAM_LOAD: "the program could not be loaded",
    OomKind.REMATERIALIZATION: "rematerialization could not save enough",
}


def _title(message: OomMessage) -> str:
    """Return what ran out of memory, or what failed."""
    title = _TITLES.get(message.kind)
    if title is not None:
        return title if not message.is_on_chip else f"{title} in {message.memory_name}"
    title = f"not enough {message.memory_name or 'memory'}"
    if message.kind is OomKind.GPU_KERNEL:
        return f"{title} for a GPU kernel"
    if message.kind is OomKind.SPARSE_CORE:
        return f"{title} for a SparseCore program"
    if message.kind is OomKind.SCOPED_VMEM:
        # XLA runs out of it in its own instructions, too.
        is_own = any(not entry.is_kernel and entry.instruction for entry in message.entries)
        return f"{title} for one {'instruction' if is_own else 'kernel'}"
    return title


def oom_json(report: OomReport) -> Json:
    """Return a report as JSON; see docs/json_schema.md."""
    message = report.joined.message
    return {
        "kind": message.kind.value,
        "memory_space_name": message.memory_name,
        "error_page": message.page,
        "module": report.joined.module,
        "needed_bytes": report.needed_bytes,
        "limit_bytes": None if message.limit is None else message.limit.bytes,
        "entries": [_entry_json(entry) for entry in report.joined.entries],
        "owners": [
            {"file": owner.source.file, "line": owner.source.line, "bytes": owner.bytes}
            for owner in report.owners
            if owner.source is not None
        ],
        "advice": [
            {
                "text": one.text,
                "saves_bytes": one.saves_bytes,
                "is_bound": one.saves_bytes is not None and one.label == AT_MOST,
            }
            for one in report.advice
        ],
    }


def _entry_json(joined: JoinedEntry) -> Json:
    entry = joined.entry
    return {
        "rank": entry.rank,
        "bytes": joined.bytes,
        "unpadded_bytes": None if entry.unpadded is None else entry.unpadded.bytes,
        "shape": entry.shape,
        "op_name": joined.op_name,
        "source": None if joined.source is None else str(joined.source),
        "label": entry.label,
        "allocation_type": entry.allocation_type,
        "instruction": _instruction_name(joined),
        "value": None if joined.value is None else joined.value.record.id,
        "allocation": None if joined.allocation is None else joined.allocation.record.number,
        "origin": origin_json(joined.origin),
        "notes": list(entry.notes),
    }


def _instruction_name(joined: JoinedEntry) -> str | None:
    if joined.instruction is not None:
        return joined.instruction.record.name
    instruction = joined.entry.instruction
    return None if instruction is None else instruction.name.text


def oom_lines(report: OomReport) -> Iterator[str]:
    """Yield at most eleven lines: what is missing, owners, the largest buffers, and advice."""
    yield oom_headline(report)
    breakdown = _breakdown(report)
    if breakdown:
        yield f"  {breakdown}"
    yield from (f"  {line}" for line in _remarks(report))
    if any(owner.bytes for owner in report.owners):
        names = " · ".join(f"{name} {_size(count)}" for name, count in _owners(report))
        yield f"{_owners_title(report)}: {names}"
    yield from (f"  {line}" for line in _largest(report))
    if not _largest(report):
        yield from _next_step(report)
    for number, one in enumerate(report.advice[:_ADVICE]):
        cover = _advice_cover(report)
        prefix = f"advice{cover and f' ({cover})'}: " if number == 0 else "        "
        saving = "" if one.saves_bytes is None else f"; {saving_text(one.saves_bytes, one.label)}"
        yield f"{prefix}{one.text}{saving}"
    if report.joined.message.page is not None:
        yield f"see {report.joined.message.page}"


def oom_markdown(report: OomReport) -> Iterator[str]:
    """Yield the lines of the Markdown form."""
    yield from ("# Out of memory", "", markdown_text(oom_headline(report)), "")
    facts = [_breakdown(report), *_remarks(report)]
    yield from (f"- {markdown_text(fact)}" for fact in facts if fact)
    if any(owner.bytes for owner in report.owners):
        title = capitalized(_owners_title(report))
        yield from ("", f"## {title}", "")
        rows = [(name, _size(count)) for name, count in _owners(report)]
        yield from markdown_table(Table(("owner", ">bytes"), rows))
    yield from ("", *(f"- {markdown_text(line.strip())}" for line in _largest(report)))
    if not _largest(report):
        yield from (f"- {markdown_text(capitalized(line))}" for line in _next_step(report))
    if report.advice:
        cover = _advice_cover(report)
        yield from ("", "## Advice", "", *((f"All of it {cover}.", "") if cover else ()))
        rows = [
            (
                capitalized(advice.text),
                "unknown"
                if advice.saves_bytes is None
                else f"{advice.label} {_size(advice.saves_bytes)}",
            )
            for advice in report.advice[:_ADVICE]
        ]
        yield from markdown_table(Table(("advice", ">saves"), rows))
    if report.joined.message.page is not None:
        yield from ("", f"See {report.joined.message.page}")
    yield ""


def _largest(report: OomReport) -> list[str]:
    """Return a line for each of the largest buffers of the message, or else of the dump."""
    listed = report.joined.entries
    if any(owner.bytes for owner in report.owners):
        large = [one for one in listed if (one.bytes or 0) >= _MIN_SHOWN_BYTES]
        large.sort(key=lambda one: -(one.bytes or 0))
        entries = [_entry_line(one) for one in large[:_ENTRIES]]
    else:  # old lists for VMEM print no sizes
        entries = list(dict.fromkeys(map(_entry_line, listed)))[:_ENTRIES]
    if not entries and report.peak is not None:
        entries = [_buffer_line(owned) for owned in report.peak.buffers[:_ENTRIES]]
    return entries


def _next_step(report: OomReport) -> Iterator[str]:
    """Yield how to get the owners if neither the message nor a dump has them."""
    message = report.joined.message
    needs_dump = is_of_program(message) and (
        message.kind is OomKind.HBM or is_one_allocation(message)
    )
    if needs_dump and not report.was_device_full:
        # The size of one allocation does not identify a module.
        is_joined = report.joined.module is not None or not is_one_allocation(message)
        then = f"then run `hlo-lsp {'oom LOG' if is_joined else 'summary'} DIR`"
        if report.is_in_editor:
            then = "with DIR in a folder of the workspace"
        compiling = f"with `XLA_FLAGS=--xla_dump_to=DIR --xla_dump_hlo_as_text`, {then}"
        yield f"owners: unknown; compile {compiling}"


def _advice_cover(report: OomReport) -> str:
    """Return how much of the missing bytes all advice saves; empty if it can be enough."""
    savings = [one.saves_bytes for one in report.advice]
    saved = sum(one for one in savings if one is not None)
    missing = report.missing_bytes
    if missing is None or None in savings or not 0 < saved < missing:
        return ""
    label = ABOUT if any(one.label == ABOUT for one in report.advice) else AT_MOST
    return f"{saving_text(saved, label)} of the {_size(missing)} missing"


def oom_headline(report: OomReport) -> str:
    """Return the first line: what the module needs, and how much is missing."""
    message = report.joined.message
    name = report.joined.module or "unknown module"
    parts = [f"{name}: {_title(message)}"]
    missing, limit = report.missing_bytes, message.limit
    needed = report.needed_bytes
    if needed is None:
        return parts[0]
    least = "at least " if needed == report.need.needed and report.need.is_minimum else ""
    is_call = message.kind is OomKind.ALLOCATION or is_one_allocation(message)
    text, available = _size(needed), "" if limit is None else _size(limit.bytes)
    if limit is not None and missing is not None and missing > 0 and text == available:
        text, available = _different_sizes(limit.bytes + missing, limit.bytes)
    parts.append(f"{'tried to allocate' if is_call else 'needs'} {least}{text}")
    if limit is not None:
        parts.append(f"{available} {message.limit_name}")
    if missing is not None and missing > 0:
        parts.append(f"{_size(missing)} missing")
    return ", ".join(parts)


def _different_sizes(one: int, other: int) -> tuple[str, str]:
    """Return two sizes with as many digits as it takes to see the difference."""
    unit = _size(other).split()[1]
    scale = parse_size(f"1 {unit}") or 1
    for digits in range(3, 12):
        texts = f"{one / scale:.{digits}f} {unit}", f"{other / scale:.{digits}f} {unit}"
        if texts[0] != texts[1]:
            break
    return texts


def _breakdown(report: OomReport) -> str:
    need, message = report.need, report.joined.message
    parts = [
        ("arguments", need.arguments),
        ("outputs", need.outputs),
        ("temporaries" if need.is_measured else "temporaries and code", need.program),
        ("code", need.code),
    ]
    rows = [f"{name} {_size(count)}" for name, count in parts if count]
    if message.statistics:
        rows = [
            f"{row.name.removesuffix(' allocation')} {_size(row.size.bytes)}"
            for row in message.statistics
            if row.size is not None and row.size.bytes and "total" not in row.name
        ]
    if message.is_on_chip and message.requirement_rows:
        rows = [
            f"{row.name} {_size(row.size.bytes)}"
            for row in message.requirement_rows
            if row.size is not None and row.size.bytes
        ]
    if message.sparse_core is not None and message.needed is not None:
        tensor_core = message.needed.bytes - message.sparse_core.bytes
        share = f"{100 * message.sparse_core.bytes / max(1, message.needed.bytes):.0f}%"
        rows = [
            f"TensorCore {_size(tensor_core)}",
            f"SparseCore {_size(message.sparse_core.bytes)} ({share})",
        ]
    if message.in_use is not None:
        capacity = "" if message.capacity is None else f" of {_size(message.capacity.bytes)}"
        rows.append(f"in use {_size(message.in_use.bytes)}{capacity}")
    reserved = message.usage_of("reserved")
    if reserved is not None:
        rows.append(f"plus {_size(reserved.bytes)} reserved")
    return " · ".join(rows)


def _remarks(report: OomReport) -> Iterator[str]:
    message, dump = report.joined.message, report.joined.dump
    yield from _need_remarks(report)
    if message.allocation is not None:
        yield f"the allocation that failed has {_size(message.allocation.bytes)}"
    yield from _kernel_remarks(message)
    if report.joined.failed is not None:
        yield f"allocation {report.joined.failed.record.number} of the dump has exactly these bytes"
    if message.free is not None and message.limit is not None:
        yield from _fragmentation(message, message.free.bytes, message.limit.bytes)
    need = report.need.needed
    if message.capacity is not None and need is not None:
        least = "at least " if report.need.is_minimum else ""
        capacity = _size(message.capacity.bytes)
        yield (
            f"the module needs {least}{_size(need)} with arguments and outputs; the "
            f"{'device' if message.in_use is None else 'allocator'} has {capacity}"
        )
    if message.entries and message.needed is None and message.entries[0].rank > 1:
        count = count_noun(message.entries[0].rank - 1, "buffer")
        yield f"the beginning of the message is missing, with its first {count}"
    notes = [*report.corrections, *report.mismatches]
    if not notes and (message.usage_rows or message.requirement_rows):
        end = ", also with the buffer assignment" if report.need.is_measured else ""
        notes.append(f"all totals agree{end}")
    if message.unread_lines and not message.entries:
        lines = f"{count_noun(message.unread_lines, 'line')} of lists or tables"
        notes.append(f"{lines} could not be read: remove the prefixes of the lines")
    has_lines = any(entry.source for entry in report.joined.entries)
    if dump is None and message.entries and not has_lines:
        notes.append("without a dump, the Python lines are unknown")
    if notes:
        yield "; ".join(notes)
    if report.joined.rejected:
        yield _rejection(report.joined)


def _rejection(joined: JoinedMessage) -> str:
    """Return that the compiles of the module are others than the one that failed."""
    sizes = sorted(set(joined.rejected))
    is_one = len(joined.rejected) == 1
    found = "one" if is_one else f"{len(joined.rejected):,} compiles"
    allocated = " to ".join(map(_size, dict.fromkeys((sizes[0], sizes[-1]))))
    return (
        f"the message is from another compile than the {found} of {joined.module} that "
        f"{'was' if is_one else 'were'} found, with {allocated} allocated"
    )


def _need_remarks(report: OomReport) -> Iterator[str]:
    """Yield what the module of one failed allocation needs."""
    message = report.joined.message
    if report.was_device_full and report.need.needed is not None:
        yield (
            f"nothing is wrong with the program: this module needs "
            f"{_size(report.need.needed)}; the device was already full"
        )
    elif message.needed is not None and report.need.needed is None and is_one_allocation(message):
        yield f"what the module needs is unknown: {_size(message.needed.bytes)} is one allocation"
    elif is_one_allocation(message) and report.need.needed and message.capacity is None:
        least = "at least " if report.need.is_minimum else ""
        yield f"the module needs {least}{_size(report.need.needed)} in total"


def _kernel_remarks(message: OomMessage) -> Iterator[str]:
    """Yield the blocks and windows of a kernel."""
    blocks = next((entry.blocks for entry in message.entries if entry.blocks), [])
    if blocks:
        sizes = ", ".join(f"{name} {size}" for name, size in blocks)
        yield f"block sizes in the name of the kernel: {sizes}"
    for entry in message.entries[:1]:
        if entry.window is not None:
            window = entry.window
            count = entry.window.buffers
            copies = "" if count is None else f", in {count_noun(count, 'buffer')}"
            yield (
                f"{window.operand} of a kernel has the window {window.shape} of "
                f"{window.full_shape}{copies}"
            )


def _fragmentation(message: OomMessage, free: int, limit: int) -> Iterator[str]:
    """Yield why free memory does not help."""
    text = f"{_size(free)} are free, but not in one piece"
    if limit < free and message.is_limit_contiguous:
        yield f"{text}: the largest piece has {_size(limit)}"
    elif limit < free:
        yield (
            f"{text}: only {_size(limit)} can be reserved at the bottom of memory, where the "
            "program must be contiguous"
        )
    elif message.is_fragmented:
        yield f"{text}: the free memory is fragmented"


def _owners_title(report: OomReport) -> str:
    """Return what the owners are those of, and how much of the need it is."""
    peak = report.peak
    if peak is not None and peak.step is not None and peak.bytes is not None:
        return f"peak of {peak.title}, {_size(peak.bytes)} at step {peak.step:,}"
    total, need = sum(owner.bytes for owner in report.owners), report.need.needed
    if need is None or total >= need or _size(total) == _size(need):
        return "listed buffers"
    return f"listed buffers, {_size(total)} of {_size(need)}"


def _owners(report: OomReport) -> list[tuple[str, int]]:
    """Return the largest owners, and the sum of all others, with their bytes."""
    total = sum(owner.bytes for owner in report.owners)
    shown = [one for one in report.owners if one.bytes >= _MIN_SHOWN_BYTES][:_OWNERS]
    rest = total - sum(owner.bytes for owner in shown)
    names = [(one.name if one.source is None else one.source.short, one.bytes) for one in shown]
    return [*names, ("others", rest)] if rest >= _MIN_SHOWN_BYTES else names


def _entry_line(joined: JoinedEntry) -> str:
    entry = joined.entry
    parts = [] if joined.bytes is None else [f"{_size(joined.bytes):>10}"]
    label = entry.label or ""
    if entry.section is EntryList.INTERFACE:
        parts.append(label.replace(" index", "").removesuffix(" {}").lower())
    elif entry.is_parameter:
        parts.append("argument")
    name = _instruction_name(joined)
    if name is not None:
        parts.append(name)
    elif entry.kernel is not None:
        parts.append(f"{'spilled registers of ' if entry.is_spill else ''}{entry.kernel}")
    elif entry.window is not None:
        parts.append(f"window of {entry.window.operand}")
    elif entry.section is not EntryList.INTERFACE and label:
        parts.append(label)
    if entry.shape is not None and not entry.shape.startswith("("):
        parts.append(without_layout(entry.shape))
    if joined.source is not None:
        parts.append(f"{joined.source.short}{joined.saving}")
    elif joined.op_name is not None:
        parts.append(joined.op_name)
    if joined.allocation is not None:
        parts.append(f"allocation {joined.allocation.record.number}")
    padding = 0 if entry.unpadded is None else (joined.bytes or 0) - entry.unpadded.bytes
    if padding >= _MIN_SHOWN_BYTES:
        parts.append(f"{_size(padding)} padding")
    return " · ".join(parts)


def _buffer_line(owned: OwnedBuffer) -> str:
    value = owned.buffer.value
    parts = [f"{_size(owned.buffer.bytes):>10}"]
    if owned.is_argument and owned.origin is not None and owned.origin.argument:
        parts.append(f"argument {owned.origin.argument}")
    if value is not None:
        parts += [value.record.name, without_layout(value.record.shape)]
    if owned.source is not None:
        saving = "" if owned.origin is None else owned.origin.saving
        parts.append(f"{owned.source.short}{saving}")
    return " · ".join([*parts, f"allocation {owned.buffer.allocation.record.number}"])
