"""Tests for uses, compared with the module text or, without one, with the entries."""

from pathlib import Path

import pytest

from checks.damage import related
from checks.values_rules import edit_file, findings_of, replacement, reports_in, reports_of
from dumps import SMALL_DUMPS
from hlo_lsp.model.workspace import DumpWorkspace

VALUES = "-buffer-assignment-values.txt"
MODULE = "after_optimizations.txt"

USES = {
    "another operand": (
        "  dynamic-update-slice.1, operand 0\n",
        "  dynamic-update-slice.1, operand 2\n",
        "62:   »dynamic-update-slice.1, operand 2«",
        "uses of value 14 `c.1{}` do not match the module text: unexpected "
        "`dynamic-update-slice.1, operand 2`, missing `dynamic-update-slice.1, operand "
        "0`",
    ),
    "another user": (
        "  dynamic-update-slice.1, operand 0\n",
        "  broadcast.16, operand 0\n",
        "62:   »broadcast.16, operand 0«",
        "uses of value 14 `c.1{}` do not match the module text: unexpected "
        "`broadcast.16, operand 0`, missing `dynamic-update-slice.1, operand 0`",
    ),
    "a use too many": (
        "  dynamic-update-slice.1, operand 0\n",
        "  dynamic-update-slice.1, operand 0\n  fusion, operand 0\n",
        "63:   »fusion, operand 0«",
        "uses of value 14 `c.1{}` do not match the module text: unexpected `fusion, operand 0`",
    ),
    "a use twice": (
        "  dynamic-update-slice.1, operand 0\n",
        "  dynamic-update-slice.1, operand 0\n" * 2,
        "63:   »dynamic-update-slice.1, operand 0«",
        "uses of value 14 `c.1{}` do not match the module text: repeated "
        "`dynamic-update-slice.1, operand 0`",
    ),
    "a use that is missing": (
        "  dynamic-update-slice.1, operand 0\n",
        "",
        "61:  »uses:«",
        "uses of value 14 `c.1{}` do not match the module text: missing "
        "`dynamic-update-slice.1, operand 0`",
    ),
    "an index where the operand is no tuple": (
        "  dynamic-update-slice.1, operand 0\n",
        "  dynamic-update-slice.1, operand 0 {}\n",
        "62:   »dynamic-update-slice.1, operand 0 {}«",
        "uses of value 14 `c.1{}` do not match the module text: unexpected "
        "`dynamic-update-slice.1, operand 0 {}`, missing `dynamic-update-slice.1, "
        "operand 0`",
    ),
    "what hands a value on to the root": (
        "  tuple.6, operand 2\n",
        "",
        "47:  »uses:«",
        "uses of value 12 `fusion{0}` do not match the module text: missing `tuple.6, operand 2`",
    ),
    "none below uses": (
        "  dynamic-update-slice.1, operand 0\n",
        "  dynamic-update-slice.1, operand 0\n  (none)\n",
        "63:   »(none)«",
        "uses of value 14 `c.1{}` do not match the module text: unexpected `(none)`",
    ),
}


@pytest.mark.parametrize("what", USES)
def test_wrong_use_is_one_finding(compiled: Path, what: str) -> None:
    old, new, place, message = USES[what]
    edit_file(compiled, VALUES, replacement(old, new))
    assert reports_in(compiled) == [(VALUES, "use-mismatch", place, message)]


def test_operand_of_the_module_is_related(compiled: Path) -> None:
    edit_file(compiled, MODULE, replacement(" fusion(%b.1, %a.1)", " fusion(%b.1, %c.1)"))
    library = DumpWorkspace()
    dump = library.compile_of(library.file(next(compiled.glob(f"*{VALUES}"))))
    found = findings_of(dump)
    assert {finding.code for finding in found} == {"use-mismatch"}
    places = [text for finding in found for _, text in related(finding)]
    assert places.count("operand 1 is `c.1`") == 2


def test_entries_with_incomplete_module_are_not_reported(compiled: Path) -> None:
    for change in (
        replacement("%get-tuple-element.14 = f32", "%get-tuple-element.14 f32"),
        lambda text: "\n".join(
            line for line in text.split("\n") if "%get-tuple-element.14 " not in line
        ),
    ):
        edit_file(compiled, MODULE, change)
        assert [code for _, code, _, _ in reports_in(compiled) if code != "truncated"] == []


def test_values_without_a_use_may_leave_out_none(compiled: Path) -> None:
    """Check jaxlib 0.10.0 and 0.10.1, which omit `(none)`."""
    assert reports_of((SMALL_DUMPS / "jax_0.10.1_values.txt").read_text()) == []
    edit_file(compiled, VALUES, lambda text: text.replace("  (none)\n", ""))
    assert reports_in(compiled) == []
