"""The catalogue of all rules. Codes are a public interface: scripts and settings use them."""

from hlo_lsp.checks.advice import donation as advice_donation
from hlo_lsp.checks.advice import memory as advice_memory
from hlo_lsp.checks.advice import module as advice_module
from hlo_lsp.checks.allocations import (
    bounds,
    flags,
    interface,
    memory_spaces,
    numbering,
    overlaps,
    sizes,
)
from hlo_lsp.checks.explanations import explanations
from hlo_lsp.checks.files import companions, sections, syntax
from hlo_lsp.checks.live_ranges import rules as live_ranges
from hlo_lsp.checks.module import attributes as module_attributes
from hlo_lsp.checks.module import calls as module_calls
from hlo_lsp.checks.module import names as module_names
from hlo_lsp.checks.module import shapes as module_shapes
from hlo_lsp.checks.module import signatures as module_signatures
from hlo_lsp.checks.module import source_tables
from hlo_lsp.checks.module import syntax as module_syntax
from hlo_lsp.checks.peaks import rules as peaks
from hlo_lsp.checks.peaks import stack_traces
from hlo_lsp.checks.reports import memory_report
from hlo_lsp.checks.rule import AnyRule
from hlo_lsp.checks.schedule import rules as schedules
from hlo_lsp.checks.values import definitions, headers, positions, uses

_MODULES = (
    syntax,
    sizes,
    bounds,
    numbering,
    flags,
    interface,
    memory_spaces,
    overlaps,
    sections,
    companions,
    headers,
    definitions,
    positions,
    uses,
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
    memory_report,
    advice_memory,
    advice_donation,
    advice_module,
)
CATALOGUE: tuple[AnyRule, ...] = tuple(rule for module in _MODULES for rule in module.RULES)


def default_rules() -> tuple[AnyRule, ...]:
    """Return the rules that are on by default, as their explanations state."""
    off = {code for code, explanation in explanations().items() if not explanation.is_on}
    return tuple(rule for rule in CATALOGUE if rule.code not in off)


DEFAULT = default_rules()
