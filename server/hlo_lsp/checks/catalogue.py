"""All rules. Codes are a public interface: scripts and settings name them."""

from typing import Any

from hlo_lsp.checks import liveness, sizes, syntax
from hlo_lsp.checks.finding import Severity
from hlo_lsp.checks.rule import AnyRule, Rule
from hlo_lsp.syntax.memory_records import AssignedValue, PeakRow, RangeRow, TotalLine
from hlo_lsp.syntax.records import Broken
from hlo_lsp.syntax.used_value import UsedValue


def _error(code: str, applies_to: type[Any], check: Any) -> AnyRule:
    return Rule(code, Severity.ERROR, applies_to, check)


CATALOGUE: tuple[AnyRule, ...] = (
    _error("syntax", Broken, syntax.broken_line),
    _error("syntax", UsedValue, syntax.broken_entry),
    _error("syntax", UsedValue, syntax.broken_instruction),
    _error("syntax", AssignedValue, syntax.broken_shape),
    _error("size-mismatch", AssignedValue, sizes.size_mismatch),
    _error("out-of-bounds", AssignedValue, sizes.out_of_bounds),
    _error("total-mismatch", TotalLine, sizes.total_mismatch),
    _error("undefined-value", RangeRow, liveness.unknown_in_range),
    _error("undefined-value", PeakRow, liveness.unknown_in_peak),
    _error("undefined-value", UsedValue, liveness.unassigned_entry),
    _error("undefined-value", AssignedValue, liveness.unused_assigned),
    _error("live-range-bounds", RangeRow, liveness.live_range_bounds),
)
