"""The notes beside the picture of a memory map: lost bytes, donation, and advice."""

from collections.abc import Iterable, Iterator

from hlo_lsp.memory.advice import Advice
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.display import capitalized, count_noun, format_short_bytes
from hlo_lsp.program.donation import InterfaceLeaf, donation_of, is_part_of_program
from hlo_lsp.program.stages import module_at_buffer_assignment
from hlo_lsp.reports.summary import SpaceSummary
from hlo_lsp.reports.summary_text import lost_lines
from hlo_lsp.syntax.memory_records import AllocationLine

_USED = "donated, and used by an output"
_POSSIBLE = "not donated, but an output has the same shape"
_NOT_DONATED = "not donated"
_REFUSED = "donated, but not used"

_Key = tuple[int | None, str]


class Donations:
    """The donation of the arguments of a compile by its caller."""

    def __init__(self, dump: Compile) -> None:
        file = module_at_buffer_assignment(dump)
        is_of_caller = file is not None and not is_part_of_program(file.module)
        self._donation = donation_of(file.module) if file is not None and is_of_caller else None
        self._texts: dict[_Key, str] = {}
        if self._donation is not None:
            for refused in self._donation.refused:
                self._texts[_key_of(refused.parameter)] = f"{_REFUSED}: {refused.why}"
            for match in self._donation.matches:
                self._texts |= dict.fromkeys(map(_key_of, match.parameters), _POSSIBLE)

    def text(self, allocation: AllocationLine) -> str:
        """Return the donation of an allocation; empty for one without a parameter."""
        if allocation.parameter is None or self._donation is None:
            return ""
        if allocation.maybe_live_out:
            return _USED
        key = allocation.parameter, allocation.parameter_index or "{}"
        return self._texts.get(key, _NOT_DONATED)

    def sums(self, allocations: Iterable[AllocationLine]) -> Iterator[str]:
        """Yield the donated bytes of allocations, those that could be, and those without effect."""
        if self._donation is None:
            return
        sizes: dict[_Key, int] = {}
        used: list[int] = []
        refused: list[int] = []
        for allocation in allocations:
            text = self.text(allocation)
            sizes[allocation.parameter, allocation.parameter_index or "{}"] = allocation.size
            used += [allocation.size] * (text == _USED)
            refused += [allocation.size] * text.startswith(_REFUSED)
        possible: list[int] = []
        for match in self._donation.matches:
            found = (sizes.get(_key_of(leaf)) for leaf in match.parameters)
            possible += sorted((one for one in found if one is not None), reverse=True)[
                : match.count
            ]
        for title, found_sizes, clause in (
            ("donated", used, " whose bytes hold outputs"),
            ("not donated", possible, ", though outputs have the same shapes"),
            ("donated without effect", refused, ""),
        ):
            if found_sizes:
                count = count_noun(len(found_sizes), "argument")
                yield f"{title} {format_short_bytes(sum(found_sizes))}: {count}{clause}"


def _key_of(leaf: InterfaceLeaf) -> _Key:
    return leaf.parameter, leaf.index_text


def space_notes(
    summary: SpaceSummary, donations: Donations, allocations: Iterable[AllocationLine]
) -> list[str]:
    """Return sentences on the lost bytes at the peak and on donation."""
    lines = [*lost_lines(summary), *donations.sums(allocations)]
    return [capitalized(line) for line in lines]


def advice_rows(found: Iterable[Advice]) -> list[list[str]]:
    """Return advice as pairs of text and saving."""
    return [[capitalized(one.text), one.price] for one in found]
