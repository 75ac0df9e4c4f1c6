"""Tests for fixes, which restore the printed text."""

from collections.abc import Iterable

import pytest

from checks.damage import findings, replace_once
from hlo_lsp.checks.framework.finding import Edit, Fix, together
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import Place
from hlo_lsp.text.document import Document

# Printed text of the sample and the damaged text that a rule reports.
DAMAGES = [
    ("<69 Arg_1.2 @0> (size=32768", "<69 Arg_1.2 @0> (size=32767"),
    ("allocation 3: size 8192,", "allocation 3: size 512,"),
    ("allocation 3: size 8192,", "allocation 3: size 1024,"),
    ("allocation 5: size", "allocation 55: size"),
    ("Total bytes used: 172580 (168.5KiB)", "Total bytes used: 172579 (168.5KiB)"),
    ("Total bytes used: 172580 (168.5KiB)", "Total bytes used: 1725 (1.7KiB)"),
    ("Total bytes used: 172580 (168.5KiB)", "Total bytes used: 172580 (168.4KiB)"),
    ("HloLiveRange (max 14)", "HloLiveRange (max 15)"),
    ("    11:fusion.2\n", "    12:fusion.2\n"),
    ("    11:fusion.2\n", "    11:fusion.2\n    11:fusion.2\n"),
]


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """Return the text after edits, applied from its end to its beginning."""
    document = Document(text)
    for edit in sorted(edits, key=lambda one: one.start, reverse=True):
        document.edit(edit.start, edit.end, edit.text)
    return document.text


@pytest.mark.parametrize(("old", "new"), DAMAGES)
def test_fix_restores_the_text(sample: str, old: str, new: str) -> None:
    damaged = replace_once(sample, old, new)
    found = findings(damaged)
    assert sample in [apply_edits(damaged, fix.edits) for one in found for fix in one.fixes[:1]]


def test_all_sure_fixes_together_restore_the_text(sample: str) -> None:
    damaged = sample
    for old, new in (DAMAGES[0], DAMAGES[4], DAMAGES[7], DAMAGES[8]):
        damaged = replace_once(damaged, old, new)
    fixes = [fix for one in findings(damaged) for fix in one.fixes[:1] if fix.is_sure]
    assert apply_edits(damaged, together(fixes)) == sample


def test_schedule_is_renumbered_by_rows(sample: str) -> None:
    lines = sample.split("\n")
    first = lines.index("  InstructionSequence:") + 1
    damaged = "\n".join([*lines[: first + 4], *lines[first + 5 :]])
    (renumber,) = {
        fix for one in findings(damaged) for fix in one.fixes if fix.title.startswith("Renumber")
    }
    assert not renumber.is_sure
    rows = apply_edits(damaged, renumber.edits).split("\n")[first : first + 13]
    assert [row.split(":")[0].strip() for row in rows] == [str(step) for step in range(13)]
    assert "HloLiveRange (max 13):" in apply_edits(damaged, renumber.edits)


@pytest.mark.parametrize(
    ("first", "count", "left"),
    [(0, 1, "b\nc"), (1, 1, "a\nc"), (2, 1, "a\nb"), (1, 2, "a"), (0, 3, "")],
)
def test_removed_lines_include_one_line_end(first: int, count: int, left: str) -> None:
    file = DumpFile.of_text("a\nb\nc")
    assert apply_edits("a\nb\nc", [Edit.drop(file, first, count)]) == left


def test_first_of_overlapping_fixes_is_applied() -> None:
    file = DumpFile.of_text("0123456789")
    fixes = [Fix.put(Place(file, 0, start, start + 3), str(start)) for start in (0, 2, 3, 6, 7)]
    assert [edit.text for edit in together(fixes)] == ["0", "3", "6"]
