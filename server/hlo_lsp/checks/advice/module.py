"""Advice on module text: instructions that only move data, and duplicate computations."""

from collections.abc import Iterator

from hlo_lsp.checks.case import CompileCheck
from hlo_lsp.checks.finding import Finding, Related, Severity
from hlo_lsp.checks.places import head_place, name_place
from hlo_lsp.checks.rule import AnyRule, Part, WholeRule
from hlo_lsp.model.bytesize import format_bytes
from hlo_lsp.model.card import count_noun
from hlo_lsp.program.duplicates import find_duplicate_computations
from hlo_lsp.program.passes import scheduled_module
from hlo_lsp.program.transfers import host_transfers, relayouts

_AGREE = "Let producer and users agree on one layout"
_REMEDIES = {
    "the layout": _AGREE,
    "the order of dimensions": _AGREE,
    "the memory space": "XLA moves values that do not fit in fast memory: smaller values or "
    "another order leave more room",
}
_MAX_RELATED = 4  # duplicates that a finding lists as related places
_MAX_FINDINGS_PER_RULE = 10


def layout_copy(survey: CompileCheck) -> Iterator[Finding]:
    """Report copies that change only the layout or memory space of a large array."""
    file = scheduled_module(survey.dump)
    if file is None:
        return
    least = survey.context.thresholds.layout_copy_bytes
    found = [one for one in (relayouts(file.module)) if one.total >= least]
    for group in found[:_MAX_FINDINGS_PER_RULE]:
        first = group.instructions[0]
        text = f"`{first.name}` changes only {group.what} of {format_bytes(group.bytes)}"
        if len(group.instructions) > 1:
            text = (
                f"{len(group.instructions):,} instructions like `{first.name}` change only "
                f"{group.what} of {format_bytes(group.bytes)} each"
            )
        yield survey.report(
            name_place(file, first),
            f"{text}: `{group.source}` becomes `{first.shape}`. {_REMEDIES[group.what]}",
            *(
                Related(name_place(file, other), "the same")
                for other in group.instructions[1:_MAX_RELATED]
            ),
        )


def duplicate_computation(survey: CompileCheck) -> Iterator[Finding]:
    """Report computations with equal bodies, each of which is compiled and loaded."""
    file = scheduled_module(survey.dump)
    if file is None or file.module.damaged:
        return
    least = survey.context.thresholds.duplicate_instructions
    for group in (find_duplicate_computations(file.module, least))[:_MAX_FINDINGS_PER_RULE]:
        first, *others = group.computations
        yield survey.report(
            head_place(file, first),
            f"{count_noun(len(others), 'computation')} "
            f"{'is' if len(others) == 1 else 'are'} identical to `{first.name}`: "
            f"{group.saved:,} duplicate instructions. A loop over the repeated part "
            "(`jax.lax.scan`) has one body",
            *(Related(head_place(file, other), "the same") for other in others[:_MAX_RELATED]),
        )


def host_transfer(survey: CompileCheck) -> Iterator[Finding]:
    """Report large host transfers: the host link is far slower than device memory."""
    file = scheduled_module(survey.dump)
    if file is None:
        return
    least = survey.context.thresholds.transfer_bytes
    for one in host_transfers(file.module):
        if one.bytes >= least:
            way = "to the host" if one.to_host else "from the host"
            yield survey.report(
                name_place(file, one.instruction),
                f"`{one.instruction.name}` moves {format_bytes(one.bytes)} {way} each time that it "
                "runs. Keep on the device what is used again soon, and start early what is not",
            )


_TEXT = frozenset({Part.MODULE})

RULES: tuple[AnyRule, ...] = (
    WholeRule("layout-copy", Severity.HINT, layout_copy, _TEXT),
    WholeRule("duplicate-computation", Severity.HINT, duplicate_computation, _TEXT),
    WholeRule("host-transfer", Severity.HINT, host_transfer, _TEXT),
)
