"""All kinds of damage."""

from faults import sections, syntax
from faults.fault import Fault

FAULTS: tuple[Fault, ...] = tuple(
    fault for module in (syntax, sections) for fault in module.FAULTS
)
