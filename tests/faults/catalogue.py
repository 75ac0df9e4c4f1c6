"""All kinds of damage."""

from faults import (
    allocations,
    frames,
    live_ranges,
    module,
    overlaps,
    peaks,
    purposes,
    reports,
    sections,
    sizes,
    syntax,
    uses,
    values,
)
from faults.fault import Fault

_TOPICS = (
    *(syntax, sections, allocations, sizes, purposes, overlaps, values, uses),
    *(live_ranges, peaks, reports, module, frames),
)
FAULTS: tuple[Fault, ...] = tuple(fault for topic in _TOPICS for fault in topic.FAULTS)
