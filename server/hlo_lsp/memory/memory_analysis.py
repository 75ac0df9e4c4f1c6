"""The numbers that ``compiled.memory_analysis()`` of JAX prints, from the buffer assignment.

The rules agree with jax 0.10.2 and libtpu 0.0.51 for 140 programs on CPU and on five TPU chips, and
with jax 0.6.2 to 0.12.0 for 142 programs on a GPU (H100), except for the peak.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from hlo_lsp.model.backend import HOST_MEMORY_SPACE, Backend
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.file_names import DumpName
from hlo_lsp.model.place import LocatedRecord
from hlo_lsp.model.shape import ArrayShape, try_shape
from hlo_lsp.syntax.memory_records import AllocationLine, AssignedValue

_TEMP = "temp_size_in_bytes"
_HBM = 0
_TPU_TEMP_UNIT = 16_384  # bytes; libtpu rounds up to a multiple


@dataclass(frozen=True, slots=True)
class AnalysisSize:
    """A number of ``memory_analysis()``.

    Attributes:
        bytes: The number, None if it is unknown.
        rule: How it follows from the allocations, ``unknown`` if it is not known.
    """

    key: str
    bytes: int | None
    rule: str


def memory_analysis(dump: Compile) -> tuple[AnalysisSize, ...]:
    """Return the numbers of ``memory_analysis()``; empty without a buffer assignment."""
    located = [one for one in dump.allocations() if not one.record.thread_local]
    if not located:
        return ()
    allocations = [one.record for one in located]
    device = [one for one in allocations if one.color != HOST_MEMORY_SPACE]
    host = [one for one in allocations if one.color == HOST_MEMORY_SPACE]
    found = [
        AnalysisSize(f"{prefix}{key}_size_in_bytes", _sum(part, counts), f"{rule}, {where}")
        for prefix, part, where in (
            ("", device, "outside of host memory"),
            ("host_", host, "in host memory"),
        )
        for key, counts, rule in (
            ("argument", lambda one: one.parameter is not None, "the allocations of parameters"),
            (
                "output",
                lambda one: one.maybe_live_out,
                "the allocations that are live out, also if they are aliased",
            ),
            (
                "alias",
                lambda one: one.parameter is not None and one.maybe_live_out,
                "the allocations of parameters that are live out",
            ),
        )
    ]
    if dump.backend is Backend.TPU:
        found.append(_tpu_temp(dump, located))
    else:
        size = _sum(device, lambda one: one.preallocated_temp)
        found.append(AnalysisSize(_TEMP, size, "the allocations of temporaries"))
    is_peak_known = dump.backend is Backend.CPU
    found.append(
        AnalysisSize(
            "peak_memory_in_bytes",
            _sum(device, lambda one: not one.preallocated_temp) if is_peak_known else None,
            "all allocations but those of temporaries"
            if is_peak_known
            else "unknown: the compiler does not print it",
        )
    )
    found.append(AnalysisSize("generated_code_size_in_bytes", None, "unknown"))
    if dump.backend is not Backend.UNKNOWN:
        return tuple(found)
    return tuple(AnalysisSize(one.key, None, "unknown without the backend") for one in found)


def _tpu_temp(dump: Compile, allocations: Sequence[LocatedRecord[AllocationLine]]) -> AnalysisSize:
    # Releases that print no pages, up to libtpu 0.0.45, also count fragmentation.
    has_pages = any(", page " in one.file.lines[one.record.line] for one in allocations)
    if not has_pages or not _COUNT_FRAGMENTATION.isdisjoint(_change_numbers(dump)):
        rule = "unknown: this release of libtpu counts fragmentation, which it does not print"
        return AnalysisSize(_TEMP, None, rule)
    temps = [
        one for one in allocations if one.record.preallocated_temp and one.record.color == _HBM
    ]
    size = sum(one.record.size for one in temps)
    size = -(-size // _TPU_TEMP_UNIT) * _TPU_TEMP_UNIT
    rule = f"the temporaries in HBM, rounded up to {_TPU_TEMP_UNIT:,} B"
    match _is_stored(value for one in temps for value in dump.assigned_to(one)):
        case True:
            return AnalysisSize(_TEMP, size, rule)
        case False:
            return AnalysisSize(_TEMP, 0, f"{rule}; 0 if they contain only tuple tables")
    rule = f"unknown: {size:,} B, or 0 B if all scalars are in registers"
    return AnalysisSize(_TEMP, None, rule)


# The change numbers in file names of libtpu 0.0.48.1 and 0.0.50.1, which print pages and count
# fragmentation. They are not in the order of releases, as 0.0.51 has a lower one.
_COUNT_FRAGMENTATION = frozenset({1000038190, 1004524046})


def _change_numbers(dump: Compile) -> Iterator[int]:
    """Yield the change numbers of libtpu in the names of the files."""
    for file in dump.files:
        name = None if file.path is None else DumpName.of(file.path.name)
        if name is not None and name.cl is not None:
            yield name.cl


def _is_stored(values: Iterable[AssignedValue]) -> bool | None:
    """Return whether libtpu keeps any temporary in memory; None if that is unknown.

    It keeps arrays in memory, but no tuple tables. Scalars can be in registers.
    """
    has_scalars, is_listed = False, False
    for value in values:
        is_listed = True
        shape = try_shape(value.shape) if value.size else None
        if isinstance(shape, ArrayShape):
            if shape.elements != 1:
                return True
            has_scalars = True
    return None if has_scalars else not is_listed


def _sum(allocations: Sequence[AllocationLine], counts: Callable[[AllocationLine], bool]) -> int:
    return sum(one.size for one in allocations if counts(one))
