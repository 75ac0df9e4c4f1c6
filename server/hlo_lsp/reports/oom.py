"""The report on an out-of-memory message: missing bytes, owners of the memory, and advice."""

from collections.abc import Iterator
from dataclasses import dataclass

from hlo_lsp.memory.oom_advice import OomAdvice, oom_advice
from hlo_lsp.memory.oom_arithmetic import (
    Requirement,
    corrections,
    mismatches,
    requirement_of,
    was_device_full,
)
from hlo_lsp.memory.oom_join import JoinedMessage
from hlo_lsp.model.out_of_memory import OomKind
from hlo_lsp.model.source import SourceLine
from hlo_lsp.reports.summary import SpaceSummary, SummaryOptions, summarize

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
        advice: Savings, the largest first.
        corrections: Sentences about numbers that do not mean what the message says.
        mismatches: Totals of the message that its parts contradict.
        was_device_full: True if nothing is wrong with the program.
    """

    joined: JoinedMessage
    need: Requirement
    owners: tuple[Owner, ...]
    peak: SpaceSummary | None
    advice: tuple[OomAdvice, ...]
    corrections: tuple[str, ...]
    mismatches: tuple[str, ...]
    was_device_full: bool

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


def oom_report(joined: JoinedMessage) -> OomReport:
    """Return the report on a message."""
    message = joined.message
    need = requirement_of(message, joined.dump)
    peak = _peak(joined)
    is_full = was_device_full(message, need)
    if peak is not None and not is_full:
        # The compiler compares allocated bytes with the limit.
        found = [
            OomAdvice(one.text, max(one.saves_bytes, one.saves_allocated_bytes))
            for one in peak.advice
        ]
        # Of the advice on the message, what the advice on the dump does not cover.
        found += [one for one in oom_advice(joined) if " in parts " in one.text]
    else:
        found = oom_advice(joined, was_device_full=is_full)
    return OomReport(
        joined,
        need,
        tuple(_owners_at_peak(peak) if peak is not None else _owners_of_entries(joined)),
        peak,
        tuple(sorted(found, key=lambda one: -one.saves_bytes)),
        tuple(corrections(message, need)),
        tuple(mismatches(message, need)),
        is_full,
    )


def _peak(joined: JoinedMessage) -> SpaceSummary | None:
    kind = joined.message.kind
    if joined.dump is None or kind is OomKind.SCOPED_VMEM:
        return None
    space = _VMEM if kind is OomKind.VMEM else 0
    summary = summarize(joined.dump, SummaryOptions(space=space))
    found = next((one for one in summary.spaces if one.space == space), None)
    return None if found is None or found.bytes is None else found


def _owners_at_peak(peak: SpaceSummary) -> Iterator[Owner]:
    for group in peak.groups:
        yield Owner(group.name, group.source, group.bytes)


def _owners_of_entries(joined: JoinedMessage) -> list[Owner]:
    """Return the owners of the listed buffers, each with the sum of their bytes."""
    found: dict[str, Owner] = {}
    for entry in joined.entries:
        label = entry.entry.label or ""
        if label.startswith("Argument") or entry.entry.is_parameter:
            name, source = "arguments", None
        elif entry.source is not None:
            name, source = str(entry.source), entry.source
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
