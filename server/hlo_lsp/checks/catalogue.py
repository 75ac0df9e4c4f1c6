"""All rules. Codes are a public interface: scripts and settings name them."""

from hlo_lsp.checks.explanations import explanations
from hlo_lsp.checks.rule import AnyRule
from hlo_lsp.checks.rules import (
    advice_donation,
    advice_memory,
    advice_module,
    allocations,
    definitions,
    flags,
    human_sizes,
    interface,
    live_ranges,
    memory_spaces,
    module_attributes,
    module_calls,
    module_names,
    module_shapes,
    module_signatures,
    module_syntax,
    overlaps,
    peaks,
    reports,
    schedules,
    sections,
    siblings,
    sizes,
    source_tables,
    stack_traces,
    syntax,
    uses,
    values,
)

_MODULES = (
    syntax,
    sizes,
    allocations,
    flags,
    interface,
    memory_spaces,
    overlaps,
    sections,
    siblings,
    values,
    definitions,
    uses,
    human_sizes,
    schedules,
    live_ranges,
    peaks,
    stack_traces,
    module_syntax,
    module_names,
    module_attributes,
    module_shapes,
    module_calls,
    module_signatures,
    source_tables,
    reports,
    advice_memory,
    advice_donation,
    advice_module,
)
CATALOGUE: tuple[AnyRule, ...] = tuple(rule for module in _MODULES for rule in module.RULES)


def default_rules() -> tuple[AnyRule, ...]:
    """The rules that run unless others are asked for: all but those that their text turns off."""
    off = {code for code, told in explanations().items() if not told.is_on}
    return tuple(rule for rule in CATALOGUE if rule.code not in off)


DEFAULT = default_rules()
