"""All rules. Codes are a public interface: scripts and settings name them."""

from hlo_lsp.checks import (
    allocations,
    liveness,
    module_attributes,
    module_calls,
    module_names,
    module_shapes,
    module_signatures,
    module_syntax,
    reports,
    sizes,
    source_tables,
    syntax,
)
from hlo_lsp.checks.rule import AnyRule

_MODULES = (
    syntax,
    sizes,
    allocations,
    liveness,
    module_syntax,
    module_names,
    module_attributes,
    module_shapes,
    module_calls,
    module_signatures,
    source_tables,
    reports,
)
CATALOGUE: tuple[AnyRule, ...] = tuple(rule for module in _MODULES for rule in module.RULES)
