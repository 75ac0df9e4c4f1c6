"""The notes beside the picture of a memory map: lost bytes, donation, and advice."""

from collections.abc import Iterable, Iterator, Sequence

from hlo_lsp.memory.advice import Advice
from hlo_lsp.memory.donated_arguments import Argument, DonationState
from hlo_lsp.model.display import capitalized, count_noun, format_short_bytes
from hlo_lsp.reports.summary import SpaceSummary
from hlo_lsp.reports.summary_text import lost_lines


def space_notes(summary: SpaceSummary, arguments: Iterable[Argument]) -> list[str]:
    """Return sentences on the lost bytes at the peak, and on the donation of arguments."""
    lines = [*lost_lines(summary), *_donation_sums(list(arguments))]
    return [capitalized(line) for line in lines]


def _donation_sums(arguments: Sequence[Argument]) -> Iterator[str]:
    for state in DonationState:
        sizes = [one.bytes for one in arguments if one.state is state]
        if sizes:
            count = count_noun(len(sizes), "argument")
            yield f"{state.title} {format_short_bytes(sum(sizes))}: {count}"


def donation_rows(arguments: Iterable[Argument]) -> list[list[str]]:
    """Return the name, size, and state of arguments that have or could have an output."""
    return [
        [one.name, format_short_bytes(one.bytes), one.text]
        for one in arguments
        if one.state is not DonationState.KEPT
    ]


def advice_rows(found: Iterable[Advice]) -> list[list[str]]:
    """Return advice as pairs of text and saving."""
    return [[capitalized(one.text), one.price] for one in found]
