"""The numbers that ``compiled.memory_analysis()`` of JAX prints, from the buffer assignment.

The rules agree with jax 0.10.2 and libtpu 0.0.51 on 44 programs each for CPU and TPU. Those of
GPUs are not known.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hlo_lsp.model.backend import Backend
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.program.transfers import HOST_MEMORY_SPACE
from hlo_lsp.syntax.memory_records import AllocationLine

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


def memory_analysis(dump: DumpSet) -> tuple[AnalysisSize, ...]:
    """Return the numbers of ``memory_analysis()``; empty without a buffer assignment."""
    allocations = [
        located.record for located in dump.allocations() if not located.record.thread_local
    ]
    if not allocations:
        return ()
    is_checked = dump.backend in {Backend.CPU, Backend.TPU}
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
    found.append(_temp(dump, device))
    is_peak_known = dump.backend is Backend.CPU
    found.append(
        AnalysisSize(
            "peak_memory_in_bytes",
            _sum(device, lambda one: not one.preallocated_temp) if is_peak_known else None,
            "all allocations but those of temporaries" if is_peak_known else "unknown",
        )
    )
    found.append(AnalysisSize("generated_code_size_in_bytes", None, "unknown"))
    if is_checked:
        return tuple(found)
    return tuple(AnalysisSize(one.key, None, "unknown") for one in found)


def _temp(dump: DumpSet, device: Sequence[AllocationLine]) -> AnalysisSize:
    key = "temp_size_in_bytes"
    if dump.backend is Backend.TPU:
        hbm = _sum(device, lambda one: one.preallocated_temp and one.color == _HBM)
        rounded = -(-hbm // _TPU_TEMP_UNIT) * _TPU_TEMP_UNIT
        rule = f"the temporaries in HBM, rounded up to {_TPU_TEMP_UNIT:,} B"
        return AnalysisSize(key, rounded, f"{rule}; 0 for some programs, why is unknown")
    return AnalysisSize(
        key, _sum(device, lambda one: one.preallocated_temp), "the allocations of temporaries"
    )


def _sum(allocations: Sequence[AllocationLine], counts: Callable[[AllocationLine], bool]) -> int:
    return sum(one.size for one in allocations if counts(one))
