"""Advice on module text: unused donations, instructions that only move data, and duplicates."""

from collections.abc import Iterator, Sequence

from hlo_lsp.checks.case import CompileCheck, field_place, head_place, name_place
from hlo_lsp.checks.finding import Finding, Related, Severity
from hlo_lsp.checks.rule import AnyRule, WholeRule
from hlo_lsp.model.display import count_noun, format_bytes
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import Place
from hlo_lsp.model.sizes import padded_size_of_text, target_of
from hlo_lsp.program.donation import DonationCandidates, InterfaceLeaf, UnusedDonation, donation_of
from hlo_lsp.program.duplicates import find_duplicate_computations
from hlo_lsp.program.passes import scheduled_module, unoptimized_module
from hlo_lsp.program.transfers import host_transfers, relayouts
from hlo_lsp.text.checkpoint import checkpoint

_MAX_LISTED_BUFFERS = 3  # in a message


def unused_donation(survey: CompileCheck) -> Iterator[Finding]:
    """Report outputs that could reuse the buffer of a parameter, and refused donations."""
    file, original = scheduled_module(survey.dump), unoptimized_module(survey.dump)
    if file is None or file.module.damaged:
        return
    found = donation_of(file.module, None if original is None else original.module)
    checkpoint()
    if found is not None:
        yield from _could(survey, file, found.matches)
        yield from _refused(survey, file, found.refused)


def _could(
    survey: CompileCheck, file: DumpFile, matches: Sequence[DonationCandidates]
) -> Iterator[Finding]:
    sized = [(match.count * _size(survey, match.parameters[0]), match) for match in matches]
    total = sum(size for size, _ in sized)
    if total < survey.thresholds.donation_bytes:
        return
    sized.sort(key=lambda pair: -pair[0])
    count = count_noun(sum(match.count for _, match in sized), "output")
    words = _first([_match_words(match) for _, match in sized], " more shapes")
    yield survey.report(
        _place(survey, file, sized[0][1].parameters[0]),
        f"{count} could reuse the buffer of a parameter, {format_bytes(total)} in total: {words}. "
        "Donate the arguments that the caller does not need afterwards "
        "(`donate_argnums` of `jax.jit`)",
    )


def _match_words(match: DonationCandidates) -> str:
    leaf, others = match.parameters[0], len(match.parameters) - 1
    if len(match.parameters) == len(match.outputs) == 1:
        return f"`{leaf.shape}` of {_name(leaf)} for output {match.outputs[0].index_text}"
    more = f" and {others:,} more" if others else ""
    outputs = count_noun(len(match.outputs), "output")
    return f"`{leaf.shape}` of {_name(leaf)}{more} for {match.count:,} of {outputs}"


def _refused(
    survey: CompileCheck, file: DumpFile, refused: Sequence[UnusedDonation]
) -> Iterator[Finding]:
    sized = [(_size(survey, one.parameter), one) for one in refused]
    if not sized:
        return
    sized.sort(key=lambda pair: -pair[0])
    total = format_bytes(sum(size for size, _ in sized))
    items = [f"`{x.parameter.shape}` of {_name(x.parameter)}: {x.why}" for _, x in sized]
    count = count_noun(len(sized), "donated buffer")
    are = "is" if len(sized) == 1 else "are"
    yield survey.report(
        _place(survey, file, sized[0][1].parameter),
        f"{count} (`buffer_donor`) {are} not used by an output, {total} in total: "
        f"{_first(items, ' more')}. {_remedy(refused)}, or do not donate",
    )


def _first(items: Sequence[str], more: str) -> str:
    left = len(items) - _MAX_LISTED_BUFFERS
    return "; ".join([*items[:_MAX_LISTED_BUFFERS], *([f"{left:,}{more}"] if left > 0 else [])])


def _remedy(refused: Sequence[UnusedDonation]) -> str:
    shape = "Return an array of the same shape, layout and memory space"
    sharding = "give the output the sharding of the parameter (`out_shardings` of `jax.jit`)"
    if not any(one.is_resharded for one in refused):
        return shape
    if all(one.is_resharded for one in refused):
        return sharding[0].upper() + sharding[1:]
    return f"{shape}, {sharding}"


def _size(survey: CompileCheck, leaf: InterfaceLeaf) -> int:
    size = padded_size_of_text(leaf.shape, target_of(survey.dump))
    return 0 if size is None else size.bytes


def _name(leaf: InterfaceLeaf) -> str:
    return f"parameter {leaf.parameter}" + (f" at {leaf.index_text}" if leaf.index else "")


def _place(survey: CompileCheck, file: DumpFile, leaf: InterfaceLeaf) -> Place:
    for allocation in survey.dump.allocations():
        record = allocation.record
        if (record.parameter, record.parameter_index) == (leaf.parameter, leaf.index_text):
            return field_place(allocation.file, record, "PARAMETER")
    entry = file.module.entry
    assert entry is not None  # the leaf belongs to the entry
    parameters = file.module.computation(entry).parameters
    return name_place(file, parameters[leaf.parameter or 0])


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
    least = survey.thresholds.layout_copy_bytes
    found = [one for one in relayouts(file.module) if one.total >= least]
    for group in found[:_MAX_FINDINGS_PER_RULE]:
        first, count = group.instructions[0], len(group.instructions)
        what = f"{group.what} of {format_bytes(group.bytes)}"
        text = f"`{first.name}` changes only {what}"
        if count > 1:
            text = f"{count:,} instructions like `{first.name}` change only {what} each"
        yield survey.report(
            name_place(file, first),
            f"{text}: `{group.source}` becomes `{first.shape}`. {_REMEDIES[group.what]}",
            *(
                Related(name_place(file, one), "the same")
                for one in group.instructions[1:_MAX_RELATED]
            ),
        )


def duplicate_computation(survey: CompileCheck) -> Iterator[Finding]:
    """Report computations with equal bodies, each of which is compiled and loaded."""
    file = scheduled_module(survey.dump)
    if file is None or file.module.damaged:
        return
    least = survey.thresholds.duplicate_instructions
    for group in find_duplicate_computations(file.module, least)[:_MAX_FINDINGS_PER_RULE]:
        first, *others = group.computations
        yield survey.report(
            head_place(file, first),
            f"{count_noun(len(others), 'computation')} {'is' if len(others) == 1 else 'are'} "
            f"identical to `{first.name}`: {group.saved:,} duplicate instructions. A loop over "
            "the repeated part (`jax.lax.scan`) has one body",
            *(Related(head_place(file, other), "the same") for other in others[:_MAX_RELATED]),
        )


def host_transfer(survey: CompileCheck) -> Iterator[Finding]:
    """Report large host transfers: the host link is far slower than device memory."""
    file = scheduled_module(survey.dump)
    if file is None:
        return
    least = survey.thresholds.transfer_bytes
    for one in host_transfers(file.module):
        if one.bytes >= least:
            way = "to the host" if one.to_host else "from the host"
            yield survey.report(
                name_place(file, one.instruction),
                f"`{one.instruction.name}` moves {format_bytes(one.bytes)} {way} each time that it "
                "runs. Keep on the device what is used again soon, and start early what is not",
            )


RULES: tuple[AnyRule, ...] = (
    WholeRule(
        "unused-donation",
        Severity.INFORMATION,
        unused_donation,
    ),
    WholeRule("layout-copy", Severity.HINT, layout_copy),
    WholeRule("duplicate-computation", Severity.HINT, duplicate_computation),
    WholeRule("host-transfer", Severity.HINT, host_transfer),
)
