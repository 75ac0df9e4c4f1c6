"""Advice on time, which the summary shows too; it comes from ``stats/time_advice.py``."""

from collections.abc import Iterator

from hlo_lsp.checks.framework.finding import Finding, Severity
from hlo_lsp.checks.framework.rule import AnyRule, CompileContext, Places, WholeRule
from hlo_lsp.cost.chips import configured_chip
from hlo_lsp.display.phrases import capitalized
from hlo_lsp.model.place import name_place
from hlo_lsp.program.stages import scheduled_module
from hlo_lsp.stats.time_advice import time_advice


def time_advice_on_chip(context: CompileContext) -> Iterator[Finding]:
    """Report what costs much time on the chip; nothing if the chip is unknown."""
    file = scheduled_module(context.dump)
    chip = configured_chip(context.dump, context.thresholds.chip)
    if file is not None:
        for one in time_advice(context.dump, chip):
            yield context.report(name_place(file, one.instruction), capitalized(one.text))


RULES: tuple[AnyRule, ...] = (
    WholeRule("time-advice", Severity.HINT, time_advice_on_chip, places=Places.ALL),
)
