"""What is mutated, and the tests that have to notice: those of the subject, the fastest first."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Subject:
    """A module of ``hlo_lsp`` and its tests, below ``tests/``."""

    module: str
    tests: tuple[str, ...]

    @property
    def path(self) -> str:
        """The file of the module in ``server/``."""
        return f"hlo_lsp/{self.module.replace('.', '/')}.py"


_SIZES = (
    "analysis/shapes/test_sizes.py",
    "analysis/shapes/test_target.py",
    "analysis/shapes/test_sizes_invariants.py",
)
_SIZE_RULES = (
    "checks/rules/test_allocation_sizes.py",
    "checks/rules/test_bounds_and_total.py",
    "checks/rules/test_size_mismatch.py",
    "checks/rules/test_tuple_granule.py",
    "checks/test_fixes.py",
)
_EXTENTS = "analysis/assignment/test_extents.py"
_OVERLAP = "analysis/assignment/test_overlaps.py"
_INTRUDERS = "analysis/assignment/test_intruders.py"
_FAULTS = "analysis/assignment/test_overlap_faults.py"
_OVERLAP_RULES = "checks/rules/test_overlaps.py"
_PEAK = "analysis/live/test_peak.py"
_PEAK_RULES = "checks/rules/test_peaks.py"

SUBJECTS = (
    Subject("analysis.shapes.sizes", (*_SIZES, *_SIZE_RULES)),
    Subject("checks.rules.sizes", _SIZE_RULES),
    Subject("analysis.assignment.extents", (_EXTENTS, *_SIZE_RULES)),
    Subject("analysis.assignment.overlaps", (_OVERLAP, _INTRUDERS, _OVERLAP_RULES)),
    Subject("analysis.assignment.overlap_faults", (_FAULTS, _OVERLAP_RULES)),
    Subject("analysis.assignment.intruders", (_INTRUDERS, _FAULTS, _OVERLAP_RULES)),
    Subject("checks.rules.overlaps", (_OVERLAP_RULES,)),
    Subject("analysis.assignment.occupancy", ("analysis/assignment/test_occupancy.py",)),
    Subject("analysis.live.peak", (_PEAK, _PEAK_RULES)),
    Subject("analysis.live.peak_list", ("analysis/live/test_peak_list.py", _PEAK, _PEAK_RULES)),
    Subject("analysis.live.peak_moment", ("analysis/live/test_peak_moment.py",)),
    Subject("analysis.live.old_peak_list", ("analysis/live/test_old_peak_list.py", _PEAK)),
    Subject("analysis.live.liveness", ("analysis/live/test_liveness.py",)),
    Subject("analysis.memory.occupied_bytes", ("analysis/memory/test_occupied_bytes.py",)),
    Subject("analysis.memory.space_occupancy", ("analysis/memory/test_space_occupancy.py",)),
    Subject("checks.rules.peaks", (_PEAK_RULES, "checks/rules/test_peak_understated.py")),
)
