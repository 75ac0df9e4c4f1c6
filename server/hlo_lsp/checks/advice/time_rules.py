"""Advice on time, which the summary shows too; it comes from ``stats/time_advice.py``."""

from collections.abc import Iterator

from hlo_lsp.checks.framework.finding import Finding, Related, Severity
from hlo_lsp.checks.framework.rule import AnyRule, CompileContext, Places, WholeRule
from hlo_lsp.cost.chips import configured_chip
from hlo_lsp.display.phrases import capitalized, count_noun
from hlo_lsp.model.padded_sizes import logical_bytes
from hlo_lsp.model.place import name_place
from hlo_lsp.model.shape import ArrayShape, try_shape
from hlo_lsp.program.collective_roles import collective_role
from hlo_lsp.program.sharding_conflicts import unrequested_collectives
from hlo_lsp.program.stages import scheduled_module
from hlo_lsp.stats.time_advice import time_advice


def time_advice_on_chip(context: CompileContext) -> Iterator[Finding]:
    """Report what costs much time on the chip; nothing if the chip is unknown."""
    file = scheduled_module(context.dump)
    chip = configured_chip(context.dump, context.thresholds.chip)
    if file is not None:
        for one in time_advice(context.dump, chip):
            yield context.report(name_place(file, one.instruction), capitalized(one.text))


def unrequested_collective(context: CompileContext) -> Iterator[Finding]:
    """Report collectives because the operands of an operation are cut in different dimensions."""
    file = scheduled_module(context.dump)
    conflicts = {} if file is None else unrequested_collectives(context.dump, file)
    for found, (first, *others) in conflicts.items():
        role, shape = collective_role(context.dump, first), try_shape(found.operation.shape)
        size = logical_bytes(shape) if isinstance(shape, ArrayShape) else None
        if role is None or (size or 0) < context.thresholds.size:
            continue
        more = f" (and {count_noun(len(others), 'more collective')})" if others else ""
        one, other = found.operands
        yield context.report(
            first.name_place,
            f"{capitalized(role.text)}{more}, which no annotation asks for: the operands of "
            f"`{found.operation.name}` before optimizations are cut over {found.axis} in dim "
            f"{one.dimension} (`{one.annotated.name}`) and in dim {other.dimension} "
            f"(`{other.annotated.name}`). Cut both in one dimension",
            *(
                Related(name_place(found.file, part.annotated), f"cut in dim {part.dimension}")
                for part in found.operands
            ),
        )


RULES: tuple[AnyRule, ...] = (
    WholeRule("time-advice", Severity.HINT, time_advice_on_chip, places=Places.ALL),
    WholeRule("unrequested-collective", Severity.HINT, unrequested_collective, places=Places.ALL),
)
