"""Tests for the check options and the errors of invalid ones."""

import math

import pytest

from hlo_lsp.checks.framework.explanations import explanations
from hlo_lsp.checks.framework.finding import Severity
from hlo_lsp.checks.framework.options import CheckOptions, OptionError, codes_of

ON = {code for code, explanation in explanations().items() if explanation.is_on}


def option_errors(**given: object) -> list[tuple[str, str]]:
    """Return the errors of invalid options, which have no effect."""
    options, found = CheckOptions.of(given)
    assert options in (CheckOptions(), CheckOptions(select=frozenset()))
    return [(".".join(one.keys), one.message) for one in found]


def test_prefix_selects_all_codes_that_start_with_it() -> None:
    live_range = {code for code in explanations() if code.startswith("live-range-")}
    assert codes_of("live-range") == live_range
    assert "live-range-bounds" in live_range
    assert {"size-mismatch"} == codes_of("size")
    assert {"undefined-instruction", "undefined-computation"} <= codes_of("undefined")


def test_all_and_default_select_groups() -> None:
    assert codes_of("all") == set(explanations())
    assert codes_of("default") == ON


@pytest.mark.parametrize(
    "word", ["", "-", "l", "live-", "live-rang", "LIVE-RANGE", "size_mismatch"]
)
def test_part_of_a_word_selects_nothing(word: str) -> None:
    with pytest.raises(LookupError, match="unknown rule"):
        codes_of(word)


@pytest.mark.parametrize(
    ("word", "near"),
    [("size-mismach", "size-mismatch"), ("overlaps", "overlap"), ("defaults", "default")],
)
def test_nearest_code_is_suggested(word: str, near: str) -> None:
    with pytest.raises(LookupError) as raised:
        codes_of(word)
    assert raised.value.args == (f"unknown rule `{word}`; did you mean `{near}`?",)


def test_all_options_are_read() -> None:
    options, found = CheckOptions.of(
        {
            "select": ["default", "layout-copy"],
            "ignore": ["syntax"],
            "severity": "warning",
            "thresholds": {"share": 0.5, "size": 4096},
        }
    )
    assert found == []
    assert options.select == frozenset(ON | {"layout-copy"})
    assert options.ignore == {"syntax"}
    assert options.severity is Severity.WARNING
    assert options.thresholds == {"share": 0.5, "size": 4096}


def test_missing_options_have_defaults() -> None:
    unset: dict[str, object] = {
        "select": None,
        "ignore": None,
        "severity": None,
        "thresholds": None,
    }
    sections: list[dict[str, object]] = [
        {}, unset, {"ignore": []}, {"thresholds": {}}, {"thresholds": []}
    ]  # fmt: skip
    for section in sections:
        assert CheckOptions.of(section) == (CheckOptions(), [])


def test_empty_selection_selects_nothing() -> None:
    assert CheckOptions.of({"select": []})[0].select == frozenset()


@pytest.mark.parametrize("given", ["syntax", 3, {"syntax": True}, True])
def test_codes_must_be_a_list(given: object) -> None:
    assert option_errors(select=given) == [("select", "must be a list of codes")]


def test_valid_codes_of_a_list_are_used() -> None:
    options, found = CheckOptions.of({"ignore": ["syntax", "overlapp", 3]})
    assert options.ignore == {"syntax"}
    assert found == [
        OptionError(("ignore",), "unknown rule `overlapp`; did you mean `overlap`?", "overlapp"),
        OptionError(("ignore",), "a code must be a string, not 3"),
    ]


@pytest.mark.parametrize("given", ["fatal", 1, ["error"], {}])
def test_unknown_severity_is_an_error(given: object) -> None:
    message = "must be one of error, warning, information, hint"
    assert option_errors(severity=given) == [("severity", message)]


@pytest.mark.parametrize("given", [-1, True, "3", None, [1], math.nan])
def test_threshold_must_be_a_non_negative_number(given: object) -> None:
    message = "must be a number of at least 0"
    assert option_errors(thresholds={"share": given}) == [("thresholds.share", message)]


def test_threshold_must_be_in_its_range() -> None:
    assert option_errors(thresholds={"size": 1.5}) == [("thresholds.size", "must be an integer")]
    assert option_errors(thresholds={"share": 1.5}) == [("thresholds.share", "must be at most 1")]
    assert option_errors(thresholds=[1]) == [("thresholds", "must be a table of numbers")]


def test_former_thresholds_set_the_new_ones() -> None:
    former = {"constant_bytes": 64, "padding_bytes": 32, "padding_ratio": 4, "transfer_bytes": 9}
    options, problems = CheckOptions.of({"thresholds": {"size": 1 << 20, **former}})
    assert options.thresholds == {"size": 32, "share": 0.75}
    assert [problem.keys[1] for problem in problems] == list(former)
    assert all(problem.is_warning for problem in problems)
    assert problems[0].message == "is now `size`, for all advice"
    assert problems[3].message == "has no effect any more"
