"""All rules. Codes are a public interface: scripts and settings name them."""

from collections.abc import Iterable
from typing import Any

from hlo_lsp.checks import (
    liveness,
    module_attributes,
    module_calls,
    module_names,
    module_shapes,
    module_signatures,
    module_syntax,
    sizes,
    source_tables,
    syntax,
)
from hlo_lsp.checks.finding import Severity
from hlo_lsp.checks.rule import AnyRule, Rule
from hlo_lsp.syntax.memory_records import AssignedValue, PeakRow, RangeRow, TotalLine
from hlo_lsp.syntax.module_records import (
    ComputationEnd,
    ComputationLine,
    FrameRow,
    InstructionLine,
    LocationRow,
    ModuleHeader,
    NameRow,
)
from hlo_lsp.syntax.records import Broken
from hlo_lsp.syntax.used_value import UsedValue


def _error(code: str, applies_to: type[Any], check: Any, opcodes: Iterable[str] = ()) -> AnyRule:
    return Rule(code, Severity.ERROR, applies_to, check, frozenset(opcodes) or None)


def _warning(code: str, applies_to: type[Any], check: Any) -> AnyRule:
    return Rule(code, Severity.WARNING, applies_to, check)


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
    _error("syntax", ModuleHeader, module_syntax.unclosed_header),
    _error("syntax", ModuleHeader, module_syntax.cut_header),
    _error("syntax", ComputationLine, module_syntax.open_computation),
    _error("syntax", ComputationEnd, module_syntax.lone_brace),
    _error("syntax", InstructionLine, module_syntax.unclosed),
    _error("syntax", InstructionLine, module_syntax.cut_attribute),
    _error("syntax", InstructionLine, module_syntax.unreadable_shape),
    _error("syntax", InstructionLine, module_syntax.orphan),
    _error("undefined-instruction", InstructionLine, module_names.undefined_instruction),
    _error("use-before-definition", InstructionLine, module_names.use_before_definition),
    _error(
        "undefined-computation",
        InstructionLine,
        module_names.undefined_computation,
        module_names.CALLING,
    ),
    _error(
        "use-before-definition", InstructionLine, module_names.callee_below, module_names.CALLING
    ),
    _error("duplicate-name", ComputationLine, module_names.duplicate_instruction),
    _error("duplicate-name", ComputationLine, module_names.duplicate_computation),
    _error(
        "operand-count",
        InstructionLine,
        module_attributes.operand_count,
        module_attributes.COUNTED,
    ),
    _error("operand-count", InstructionLine, module_calls.called_count, module_calls.CALLS),
    _error(
        "missing-attribute",
        InstructionLine,
        module_attributes.missing_attribute,
        module_attributes.NEEDING,
    ),
    _error("shape-mismatch", InstructionLine, module_shapes.elementwise, module_shapes.ELEMENTWISE),
    _error("shape-mismatch", InstructionLine, module_shapes.logical_types, module_shapes.LOGICAL),
    _error("shape-mismatch", InstructionLine, module_shapes.same_as_operand, module_shapes.HANDED),
    _error("shape-mismatch", InstructionLine, module_shapes.tuple_elements, ["tuple"]),
    _error("shape-mismatch", InstructionLine, module_shapes.taken_element, ["get-tuple-element"]),
    _error("shape-mismatch", InstructionLine, module_shapes.copied, ["copy-start", "copy-done"]),
    _error("shape-mismatch", InstructionLine, module_calls.called, module_calls.CALLS),
    _error("shape-mismatch", InstructionLine, module_calls.loop, ["while"]),
    _error("shape-mismatch", InstructionLine, module_calls.branches, ["conditional"]),
    _error("shape-mismatch", InstructionLine, module_calls.wrapped, ["async-start"]),
    _error("shape-mismatch", InstructionLine, module_calls.awaited, ["async-done"]),
    _error("shape-mismatch", ComputationLine, module_signatures.signature_shapes),
    _error("shape-mismatch", ModuleHeader, module_signatures.entry_layout),
    _error("parameter-number", ComputationLine, module_signatures.numbered_parameters),
    _error("bad-stack-frame", InstructionLine, source_tables.known_frame),
    _error("bad-stack-frame", FrameRow, source_tables.frame_row),
    _error("bad-stack-frame", LocationRow, source_tables.location_row),
    _warning("bad-stack-frame", NameRow, source_tables.numbered_name),
    _warning("bad-stack-frame", LocationRow, source_tables.numbered_location),
    _warning("bad-stack-frame", FrameRow, source_tables.numbered_frame),
    _error("frame-cycle", FrameRow, source_tables.frame_cycle),
)
