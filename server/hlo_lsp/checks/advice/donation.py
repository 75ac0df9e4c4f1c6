"""Advice on the donation of parameter buffers to outputs."""

from collections.abc import Iterator, Sequence

from hlo_lsp.checks.case import CompileCheck
from hlo_lsp.checks.finding import Finding, Severity
from hlo_lsp.checks.places import field_place, name_place
from hlo_lsp.checks.rule import AnyRule, Part, WholeRule
from hlo_lsp.model.bytesize import format_bytes
from hlo_lsp.model.card import count_noun
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import Place
from hlo_lsp.model.sizes import padded_size_of_text
from hlo_lsp.program.donation import DonationCandidates, InterfaceLeaf, UnusedDonation, donation_of
from hlo_lsp.program.passes import scheduled_module, unoptimized_module
from hlo_lsp.text.checkpoint import checkpoint

_MAX_LISTED_BUFFERS = 3  # in a message


def unused_donation(survey: CompileCheck) -> Iterator[Finding]:
    """Report outputs that could reuse the buffer of a parameter, and refused donations.

    An output can reuse a buffer of the same type, dimensions, layout, and memory space. The check
    needs the compiled module, because earlier ones have no layouts and no final aliases. The text
    before optimizations shows if the partitioner made two equal shapes different.
    """
    file = scheduled_module(survey.dump)
    if file is None or file.module.damaged:
        return
    original = unoptimized_module(survey.dump)
    found = donation_of(file.module, None if original is None else original.module)
    checkpoint()
    if found is None:
        return
    yield from _could(survey, file, found.matches)
    yield from _refused(survey, file, found.refused)


def _could(
    survey: CompileCheck, file: DumpFile, matches: Sequence[DonationCandidates]
) -> Iterator[Finding]:
    sized = [(match.count * _size(survey, match.parameters[0]), match) for match in matches]
    total = sum(size for size, _ in sized)
    if total < survey.context.thresholds.donation_bytes:
        return
    sized.sort(key=lambda pair: -pair[0])
    count = sum(match.count for _, match in sized)
    words = "; ".join(_match_words(match) for _, match in sized[:_MAX_LISTED_BUFFERS])
    more = (
        f"; {len(sized) - _MAX_LISTED_BUFFERS:,} more shapes"
        if len(sized) > _MAX_LISTED_BUFFERS
        else ""
    )
    yield survey.report(
        _place(survey, file, sized[0][1].parameters[0]),
        f"{count_noun(count, 'output')} could reuse the buffer of a parameter, "
        f"{format_bytes(total)} in total: {words}{more}. "
        "Donate the arguments that the caller does not need afterwards "
        "(`donate_argnums` of `jax.jit`)",
    )


def _match_words(match: DonationCandidates) -> str:
    leaf, output = match.parameters[0], match.outputs[0]
    if len(match.parameters) == len(match.outputs) == 1:
        return f"`{leaf.shape}` of {_name(leaf)} for output {output.index_text}"
    return (
        f"`{leaf.shape}` of {_all(match.parameters)} for {match.count:,} of "
        f"{count_noun(len(match.outputs), 'output')}"
    )


def _all(parameters: Sequence[InterfaceLeaf]) -> str:
    if len(parameters) == 1:
        return _name(parameters[0])
    return f"{_name(parameters[0])} and {len(parameters) - 1:,} more"


def _refused(
    survey: CompileCheck, file: DumpFile, refused: Sequence[UnusedDonation]
) -> Iterator[Finding]:
    sized = [(_size(survey, one.parameter), one) for one in refused]
    if not sized:
        return
    sized.sort(key=lambda pair: -pair[0])
    total = sum(size for size, _ in sized)
    words = "; ".join(
        f"`{one.parameter.shape}` of {_name(one.parameter)}: {one.why}"
        for _, one in sized[:_MAX_LISTED_BUFFERS]
    )
    more = (
        f"; {len(sized) - _MAX_LISTED_BUFFERS:,} more" if len(sized) > _MAX_LISTED_BUFFERS else ""
    )
    yield survey.report(
        _place(survey, file, sized[0][1].parameter),
        f"{count_noun(len(sized), 'donated buffer')} (`buffer_donor`) "
        f"{'is' if len(sized) == 1 else 'are'} not used by an output, "
        f"{format_bytes(total)} in total: {words}{more}. "
        f"{_remedy(refused)}, or do not donate",
    )


def _remedy(refused: Sequence[UnusedDonation]) -> str:
    shape = "Return an array of the same shape, layout and memory space"
    sharding = "give the output the sharding of the parameter (`out_shardings` of `jax.jit`)"
    if not any(one.is_resharded for one in refused):
        return shape
    if all(one.is_resharded for one in refused):
        return sharding[0].upper() + sharding[1:]
    return f"{shape}, {sharding}"


def _size(survey: CompileCheck, leaf: InterfaceLeaf) -> int:
    size = padded_size_of_text(leaf.shape, survey.context.target)
    return 0 if size is None else size.bytes


def _name(leaf: InterfaceLeaf) -> str:
    return f"parameter {leaf.parameter}" + (f" at {leaf.index_text}" if leaf.index else "")


def _place(survey: CompileCheck, file: DumpFile, leaf: InterfaceLeaf) -> Place:
    """Return the place of the allocation of a parameter, or of the parameter in the module text."""
    for allocation in survey.dump.allocations():
        record = allocation.record
        if (record.parameter, record.parameter_index) == (leaf.parameter, leaf.index_text):
            return field_place(allocation.file, record, "PARAMETER")
    entry = file.module.entry
    assert entry is not None  # the leaf belongs to the entry
    parameters = file.module.computation(entry).parameters
    return name_place(file, parameters[leaf.parameter or 0])


RULES: tuple[AnyRule, ...] = (
    WholeRule(
        "unused-donation",
        Severity.INFORMATION,
        unused_donation,
        frozenset({Part.ALLOCATIONS, Part.MODULE, Part.ORIGINAL}),
    ),
)
