"""Tests for folding ranges."""

from dataclasses import replace

import pytest

from hlo_lsp.lsp.client import Client
from hlo_lsp.lsp.symbols import folding_ranges
from lsp.opened import DUMP, context

LINES = DUMP.split("\n")


async def folds(limit: int = 100_000, text: str = DUMP) -> list[tuple[str, str]]:
    """Return the first and the last line of each fold."""
    lines = text.split("\n")
    found = folding_ranges(await context(text, replace(Client(), max_folding_ranges=limit)))
    return [(lines[fold["startLine"]], lines[fold["endLine"]]) for fold in found]


async def test_sections_allocations_and_entries_fold() -> None:
    assert [(first.strip(), last.strip()[:24]) for first, last in await folds()] == [
        ("BufferAssignment:", "value: <2 add @1> (size="),
        (LINES[1], "value: <1 x @0> (size=51"),
        (LINES[3], "value: <3 mul @0> (size="),
        (LINES[5], "value: <2 add @1> (size="),
        ("Used values:", "from instruction: %mul ="),
        ("<1 x @0>", "from instruction: %x = f"),
        ("<2 add @1>", "from instruction: %add ="),
        ("<3 mul @0>", "from instruction: %mul ="),
        ("HloLiveRange (max 3):", "└── x (33.3%, total: 16 "),
        ("InstructionSequence:", "2:mul"),
        ("BufferLiveRange:", "mul{}:2-3"),
        ("Live ranges at 2 (peak):", "x{}: 16 bytes (cumulativ"),
        ("Stack trace breakdown for peak usage: 48 bytes", "└── x (33.3%, total: 16 "),
    ]


async def test_fold_has_only_lines_and_kind() -> None:
    found = folding_ranges(await context())
    assert {frozenset(fold) for fold in found} == {frozenset({"startLine", "endLine", "kind"})}
    assert {fold["kind"] for fold in found} == {"region"}


@pytest.mark.parametrize("limit", range(1, 14))
async def test_folding_limit_keeps_the_largest_folds(limit: int) -> None:
    everything = folding_ranges(await context())
    client = replace(Client(), max_folding_ranges=limit)
    found = folding_ranges(await context(client=client))
    assert len(found) == limit
    assert [fold for fold in everything if fold in found] == found
    sizes = sorted((fold["endLine"] - fold["startLine"] for fold in everything), reverse=True)
    assert sorted((f["endLine"] - f["startLine"] for f in found), reverse=True) == sizes[:limit]


async def test_invalid_line_keeps_folds_of_other_lines() -> None:
    text = DUMP.replace("allocation 1: size 512", "allocation size 512")
    whole, broken = await folds(), await folds(text=text)
    assert set(whole) - set(broken) <= {(LINES[1], LINES[2]), (LINES[3], LINES[4])}


MODULE = """\
HloModule m

FileNames
1 "a.py"
2 "b.py"

FunctionNames
1 "f"

// one
// two

ENTRY %e (a: f32[]) -> f32[] {
  // alone
  %a = f32[] parameter(0)
  /* three
     four */
  // five
  ROOT %r = f32[] negate(%a)
}
"""


async def test_location_tables_and_comments_have_their_kinds() -> None:
    lines = MODULE.split("\n")
    found = [
        (fold["kind"], lines[fold["startLine"]].strip(), lines[fold["endLine"]].strip())
        for fold in folding_ranges(await context(MODULE))
    ]
    assert [one for one in found if one[0] != "region"] == [
        ("imports", "FileNames", '2 "b.py"'),
        ("imports", "FunctionNames", '1 "f"'),
        ("comment", "// one", "// two"),
        ("comment", "/* three", "// five"),
    ]
    assert [first for kind, first, _ in found if kind == "region"] == [
        "ENTRY %e (a: f32[]) -> f32[] {"
    ]
