"""Positions and uses against the module text, or against the entries where that is all there is."""

from collections.abc import Callable
from pathlib import Path

import pytest

from checks.damage import replaced
from checks.values_rules import edited, put, tell_in, tell_of
from dumps import SMALL_DUMPS

VALUES = "-buffer-assignment-values.txt"
MODULE = "after_optimizations.txt"
A1 = "<10 a.1 @0>\n positions:\n  a.1\n"
FUSION1 = "  fusion {1}\n  get-tuple-element.14\n  tuple.6 {0}\n"
NO_USE = " uses:\n  (none)\n from instruction: %reduce_sum.5"


def _in_values(folder: Path, old: str, new: str) -> tuple[str, str, str]:
    """Code, place and sentence of the one thing that is wrong after a change."""
    edited(folder, VALUES, put(old, new))
    ((name, code, place, message),) = tell_in(folder)
    assert name == VALUES
    return code, place, message


# What is replaced by what; where that is told, and what is said.
POSITIONS = {
    "another instruction first": (
        A1,
        A1.replace("  a.1\n", "  a.1x\n"),
        "31:   »a.1x«",
        "the first position is `a.1x`, but the value is that of `a.1`",
    ),
    "no position": (
        A1,
        A1.replace("  a.1\n", ""),
        "30:  »positions:«",
        "the entry has no position, not even that of its instruction `a.1`",
    ),
    "a position twice": (
        A1,
        A1 + "  a.1\n",
        "32:   »a.1«",
        "the position `a.1` is listed twice in this entry",
    ),
    "a position of another value": (
        FUSION1,
        FUSION1.replace("tuple.6 {0}", "tuple.6 {2}"),
        "54:   »tuple.6 {2}«",
        "`tuple.6 {2}` is a position of value 12 `fusion{0}`, and of one value only",
    ),
    "the first two changed places": (
        FUSION1,
        "  get-tuple-element.14\n  fusion {1}\n  tuple.6 {0}\n",
        "52:   »get-tuple-element.14«",
        "the first position is `get-tuple-element.14`, but the value is that of `fusion {1}`",
    ),
    "a later one instead of the first": (
        FUSION1,
        FUSION1.replace("  fusion {1}", "  tuple.6 {0}"),
        "52:   »tuple.6 {0}«",
        "the first position is `tuple.6 {0}`, but the value is that of `fusion {1}`",
    ),
    "one that is missing": (
        FUSION1,
        FUSION1.replace("  get-tuple-element.14\n", ""),
        "51:  »positions:«",
        "the position `get-tuple-element.14` is missing",
    ),
    "an element of a tuple that is missing": (
        FUSION1,
        FUSION1.replace("  tuple.6 {0}\n", ""),
        "51:  »positions:«",
        "the position `tuple.6 {0}` is missing",
    ),
    "an index where there is no tuple": (
        FUSION1,
        FUSION1.replace("element.14", "element.14 {}"),
        "53:   »get-tuple-element.14 {}«",
        "`get-tuple-element.14` is no tuple, so the position has no index",
    ),
    "an element that the tuple lacks": (
        FUSION1,
        FUSION1.replace("tuple.6 {0}", "tuple.6 {7}"),
        "54:   »tuple.6 {7}«",
        "`tuple.6` is a tuple and has no part `{7}`",
    ),
    "a tuple without an index": (
        FUSION1,
        FUSION1.replace("tuple.6 {0}", "tuple.6"),
        "54:   »tuple.6«",
        "`tuple.6` is a tuple, so the position has an index",
    ),
    "a name that the module lacks": (
        FUSION1,
        FUSION1.replace("element.14", "element.15"),
        "53:   »get-tuple-element.15«",
        "the module has no instruction `get-tuple-element.15`",
    ),
}


@pytest.mark.parametrize("what", POSITIONS)
def test_positions(compiled: Path, what: str) -> None:
    old, new, place, message = POSITIONS[what]
    assert _in_values(compiled, old, new) == ("position-mismatch", place, message)


USES = {
    "another operand": (
        "  dynamic-update-slice.1, operand 0\n",
        "  dynamic-update-slice.1, operand 2\n",
        "62:   »dynamic-update-slice.1, operand 2«",
        "this use is `dynamic-update-slice.1, operand 0` by the module text",
    ),
    "another user": (
        "  dynamic-update-slice.1, operand 0\n",
        "  broadcast.16, operand 0\n",
        "62:   »broadcast.16, operand 0«",
        "this use is `dynamic-update-slice.1, operand 0` by the module text",
    ),
    "a use too many": (
        "  dynamic-update-slice.1, operand 0\n",
        "  dynamic-update-slice.1, operand 0\n  fusion, operand 0\n",
        "63:   »fusion, operand 0«",
        "by the module text `fusion, operand 0` is no use of value 14 `c.1{}`",
    ),
    "a use twice": (
        "  dynamic-update-slice.1, operand 0\n",
        "  dynamic-update-slice.1, operand 0\n" * 2,
        "63:   »dynamic-update-slice.1, operand 0«",
        "the use `dynamic-update-slice.1, operand 0` is listed twice",
    ),
    "a use that is missing": (
        "  dynamic-update-slice.1, operand 0\n",
        "",
        "61:  »uses:«",
        "by the module text `dynamic-update-slice.1, operand 0` is missing",
    ),
    "an index where the operand is no tuple": (
        "  dynamic-update-slice.1, operand 0\n",
        "  dynamic-update-slice.1, operand 0 {}\n",
        "62:   »dynamic-update-slice.1, operand 0 {}«",
        "this use is `dynamic-update-slice.1, operand 0` by the module text",
    ),
    "what hands a value on to the root": (
        "  tuple.6, operand 2\n",
        "",
        "47:  »uses:«",
        "by the module text `tuple.6, operand 2` is missing",
    ),
    "no use that is not said": (
        NO_USE,
        NO_USE.replace("  (none)\n", ""),
        "20:  »uses:«",
        "there is no use, but not `(none)` either, which other entries have",
    ),
    "none below uses": (
        "  dynamic-update-slice.1, operand 0\n",
        "  dynamic-update-slice.1, operand 0\n  (none)\n",
        "63:   »(none)«",
        "`(none)` stands below uses",
    ),
}


@pytest.mark.parametrize("what", USES)
def test_uses(compiled: Path, what: str) -> None:
    old, new, place, message = USES[what]
    assert _in_values(compiled, old, new) == ("use-mismatch", place, message)


def _one(folder: Path) -> tuple[str, str, str, str]:
    (found,) = tell_in(folder)
    return found


def test_an_operand_of_the_module_that_no_entry_agrees_with(compiled: Path) -> None:
    edited(compiled, MODULE, put(" fusion(%b.1, %a.1)", " fusion(%b.1, %c.1)"))
    name, code, place, message = _one(compiled)
    assert (name, code) == (".txt", "use-mismatch")
    assert "»%c.1«" in place or "»c.1«" in place
    assert message == "under `Used values` operand 1 of `fusion` is `a.1`"


def test_an_element_of_a_tuple_that_no_entry_agrees_with(compiled: Path) -> None:
    edited(
        compiled,
        MODULE,
        put(
            "tuple(%get-tuple-element.14, %dynamic-update-slice.1, %get",
            "tuple(%get-tuple-element.14, %c.1, %get",
        ),
    )
    name, code, _, message = _one(compiled)
    assert (name, code) == (".txt", "use-mismatch")
    assert message == ("under `Used values` operand 1 of `tuple.6` is `dynamic-update-slice.1`")


@pytest.mark.parametrize(
    "change",
    [
        put("%get-tuple-element.14 = f32", "%get-tuple-element.14 f32"),
        put("  ROOT %tuple.6 =", "  ROOT %tuple.6 "),
        lambda text: "\n".join(
            line for line in text.split("\n") if "%get-tuple-element.14 =" not in line
        ),
    ],
)
def test_a_line_that_the_module_lacks_accuses_no_entry(
    compiled: Path, change: Callable[[str], str]
) -> None:
    edited(compiled, MODULE, change)
    assert tell_in(compiled) == []


def test_values_without_a_use_may_print_nothing(compiled: Path) -> None:
    """jaxlib 0.10.0 and 0.10.1 leave out `(none)`, the releases before and after print it."""
    assert tell_of((SMALL_DUMPS / "jax_0.10.1_values.txt").read_text()) == []
    edited(compiled, VALUES, lambda text: text.replace("  (none)\n", ""))
    assert tell_in(compiled) == []


SAMPLE = {
    "another operand": (
        "  fusion.2, operand 0\n",
        "  fusion.2, operand 2\n",
        "195:   »fusion.2, operand 2«",
        "this use is `fusion.2, operand 0` by the instructions of the entries",
    ),
    "a user that is none": (
        "  fusion.2, operand 0\n",
        "  fusion.9, operand 0\n",
        "195:   »fusion.9, operand 0«",
        "this use is `fusion.2, operand 0` by the instructions of the entries",
    ),
    "a use that is missing": (
        "  fusion.2, operand 0\n",
        "",
        "194:  »uses:«",
        "by the instructions of the entries `fusion.2, operand 0` is missing",
    ),
}


@pytest.mark.parametrize("what", SAMPLE)
def test_uses_without_a_module_text(sample: str, what: str) -> None:
    old, new, place, message = SAMPLE[what]
    assert tell_of(replaced(sample, old, new)) == [("use-mismatch", place, message)]


def test_positions_without_a_module_text(sample: str) -> None:
    first = "\n positions:\n  fusion.5\n"
    assert tell_of(replaced(sample, first, first.replace("fusion.5", "fusion.5 {0}"))) == [
        (
            "position-mismatch",
            "193:   »fusion.5 {0}«",
            "the first position is `fusion.5 {0}`, but the value is that of `fusion.5`",
        )
    ]
    last = "  multiply_reduce_fusion {1}\n"
    ((code, _, message),) = tell_of(replaced(sample, last, last.replace("{1}", "{2}")))
    assert code == "position-mismatch"
    assert message.startswith("the first position is `multiply_reduce_fusion {2}`")


def test_a_dropped_entry_takes_no_position_from_others(compiled: Path) -> None:
    def without_entry(text: str) -> str:
        start, end = text.index("<12 fusion{0}"), text.index("<13 fusion{1}")
        return text[:start] + text[end:]

    edited(compiled, VALUES, without_entry)
    assert [code for _, code, _, _ in tell_in(compiled)] == ["value-set-mismatch"]
