"""The comparison of two sets of compiles, such as those of two folders."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from hlo_lsp.display.phrases import count_noun
from hlo_lsp.display.table import Content
from hlo_lsp.memory.savings import largest_first
from hlo_lsp.model.compile import Compile
from hlo_lsp.reports.diff import ModuleDiff, compare, pair_modules
from hlo_lsp.reports.diff_text import (
    NameCell,
    diff_json,
    diff_lines,
    diff_markdown,
    diff_sections,
    headline,
)
from hlo_lsp.reports.module_names import distinct_titles, joined_names, module_identity
from hlo_lsp.text.inert import Json, markdown_code, markdown_text


@dataclass(frozen=True, slots=True, eq=False)
class ComparedPair:
    """Two compiles that correspond, and their differences.

    ``titles`` are names that no other compile of their side has.
    """

    before: Compile
    after: Compile
    diff: ModuleDiff
    titles: tuple[str, str]

    @property
    def titled(self) -> ModuleDiff:
        """The differences with the titles for the names; that of the side before for one name."""
        before, after = self.titles
        if self.before.module_name == self.after.module_name:
            after = before
        diff = self.diff
        return replace(
            diff, before=replace(diff.before, name=before), after=replace(diff.after, name=after)
        )


@dataclass(frozen=True, slots=True)
class ComparedSides:
    """The compiles of two sides that correspond, and those that only one side has."""

    pairs: tuple[ComparedPair, ...]
    only_before: tuple[Compile, ...]
    only_after: tuple[Compile, ...]

    @property
    def diffs(self) -> list[ModuleDiff]:
        """The differences of each pair."""
        return [pair.diff for pair in self.pairs]

    @property
    def is_equal(self) -> bool:
        """True if all compiles correspond, without differences."""
        is_alike = all(diff.is_equal for diff in self.diffs)
        return is_alike and not (self.only_before or self.only_after)

    @property
    def shown(self) -> list[ComparedPair]:
        """The pairs to show in full, the largest change first.

        These are the only pair, or those that differ and are not ``small``.
        """
        small = set(self.small)
        is_alone = len(self.pairs) == 1
        found = [
            pair for pair in self.pairs if is_alone or not (pair.diff.is_equal or pair in small)
        ]
        return sorted(found, key=lambda pair: _peak_change(pair.diff), reverse=True)

    @property
    def small(self) -> list[ComparedPair]:
        """The pairs that differ, with less than 1% of the memory of the largest pair."""
        _, found = largest_first(self.pairs, _size)
        return [pair for pair in found if _size(pair) and not pair.diff.is_equal]


def compare_all(
    before: Sequence[Compile], after: Sequence[Compile], chip: str | None = None
) -> ComparedSides:
    """Compare the compiles of two sides, with times of a chip as in ``compare``."""
    pairs, removed, added = pair_modules(before, after)
    first, second = map(_titles, (before, after))
    found = (
        ComparedPair(one, other, compare(one, other, chip), (first[one], second[other]))
        for one, other in pairs
    )
    return ComparedSides(tuple(found), tuple(removed), tuple(added))


def _titles(dumps: Sequence[Compile]) -> dict[Compile, str]:
    return dict(zip(dumps, distinct_titles(list(map(module_identity, dumps))), strict=True))


def _size(pair: ComparedPair) -> int:
    """Return the bytes of the larger side, 0 if they are unknown."""
    diff = pair.diff
    return max(diff.before.size, diff.after.size) if all(diff.is_memory_known) else 0


def _peak_change(diff: ModuleDiff) -> int:
    return 0 if diff.main is None else abs(diff.main.peak_change)


def comparison_headline(comparison: ComparedSides) -> str:
    """Return the answer in one sentence: the headline of the only pair, or how many differ."""
    count = len(comparison.pairs)
    parts = []
    if count == 1:
        parts.append(headline(comparison.pairs[0].diff))
    else:
        changed = sum(not diff.is_equal for diff in comparison.diffs)
        parts.append(
            f"{changed:,} of {count_noun(count, 'module')} differ{'s' if changed == 1 else ''}"
        )
    for title, only in (("before", comparison.only_before), ("after", comparison.only_after)):
        if only:
            parts.append(f"{count_noun(len(only), 'module')} only {title}")
    return "; ".join(parts)


def comparison_blocks(
    comparison: ComparedSides, count: int, sides: tuple[str, str]
) -> Iterator[Content]:
    """Yield the blocks of the text form.

    Args:
        comparison: The comparison.
        count: Maximum number of entries in each list.
        sides: The names of the sides, such as the paths of two folders.
    """
    yield from (diff_lines(pair.titled, count) for pair in comparison.shown)
    yield from ([note] for note in _notes(comparison, sides))


def comparison_markdown(
    comparison: ComparedSides, count: int, sides: tuple[str, str]
) -> Iterator[str]:
    """Yield the lines of the Markdown form; the arguments are as for ``comparison_blocks``."""
    for pair in comparison.shown:
        yield from diff_markdown(pair.titled, count)
        yield ""
    yield from _markdown_notes(comparison, sides)


def comparison_page(
    comparison: ComparedSides,
    count: int,
    sides: tuple[str, str],
    name_cell: Callable[[ComparedPair], NameCell],
) -> Iterator[str]:
    """Yield the lines of a page in Markdown, which begins with the answer and names both sides.

    Args:
        comparison: The comparison.
        count: Maximum number of entries in each list.
        sides: The names of the sides.
        name_cell: Returns the function that returns the cells with names of buffers of a pair.
    """
    yield from _heading(comparison_headline(comparison))
    for title, side in zip(("Before", "After"), sides, strict=True):
        yield f"- {title}: {markdown_code(side)}"
    yield ""
    for pair in comparison.shown:
        if len(comparison.pairs) > 1:
            yield from _heading(headline(pair.titled))
        yield from diff_sections(pair.titled, count, name_cell(pair))
        yield ""
    yield from _markdown_notes(comparison, sides)


def _heading(text: str) -> Iterator[str]:
    """Yield a headline as a title, and the cause of the change in it, if there is one, below."""
    title, is_cut, cause = text.partition("): ")
    yield from (f"# {markdown_text(title + is_cut.removesuffix(': '))}", "")
    if cause:
        yield from (markdown_text(cause), "")


def _markdown_notes(comparison: ComparedSides, sides: tuple[str, str]) -> Iterator[str]:
    for note in _notes(comparison, sides):
        yield from (markdown_text(note), "")


def comparison_json(comparison: ComparedSides, count: int) -> Json:
    """Return the comparison as JSON; see docs/json_schema.md."""
    return {
        "modules": [
            {"title": pair.titles[0], **diff_json(pair.diff, count)} for pair in comparison.pairs
        ],
        "only_before": [dump.module_name for dump in comparison.only_before],
        "only_after": [dump.module_name for dump in comparison.only_after],
    }


def _notes(comparison: ComparedSides, sides: tuple[str, str]) -> Iterator[str]:
    """Yield which modules are equal or small, and which ones only one side has."""
    equal = [diff.before.name for diff in comparison.diffs if diff.is_equal]
    if len(comparison.pairs) > 1 and equal:
        count = count_noun(len(equal), "module")
        yield f"no differences in {count}: {joined_names(equal, len(equal))}"
    if small := [pair.before.module_name for pair in comparison.small]:
        count = count_noun(len(small), "module")
        names = joined_names(small, len(small))
        yield f"differences in {count} below 1% of the largest (name files to see them): {names}"
    for side, only in zip(sides, (comparison.only_before, comparison.only_after), strict=True):
        if only:
            names = joined_names((dump.module_name for dump in only), len(only))
            yield f"{count_noun(len(only), 'module')} only in {side}: {names}"
