"""What is wished to be checked, and what is complained of."""

import math

import pytest

from hlo_lsp.checks.framework.explanations import explanations
from hlo_lsp.checks.framework.finding import Severity
from hlo_lsp.checks.framework.options import CheckOptions, OptionError, codes_of

ON = {code for code, explanation in explanations().items() if explanation.is_on}


def complaints(**given: object) -> list[tuple[str, str]]:
    """Return the problems of options, which must have no effect."""
    options, found = CheckOptions.of(given)
    assert options in (CheckOptions(), CheckOptions(select=frozenset()))
    return [(".".join(one.keys), one.message) for one in found]


def test_prefix_selects_all_codes_that_begin_so() -> None:
    live_range = {code for code in explanations() if code.startswith("live-range-")}
    assert codes_of("live-range") == live_range
    assert "live-range-bounds" in live_range
    assert {"size-mismatch"} == codes_of("size")
    assert {"undefined-instruction", "undefined-computation"} <= codes_of("undefined")


def test_two_words_select_groups() -> None:
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
def test_nearest_code_is_offered(word: str, near: str) -> None:
    with pytest.raises(LookupError) as raised:
        codes_of(word)
    assert raised.value.args == (f"unknown rule `{word}`; did you mean `{near}`?",)


def test_all_options_are_read() -> None:
    options, found = CheckOptions.of(
        {
            "select": ["default", "layout-copy"],
            "ignore": ["syntax"],
            "severity": "warning",
            "thresholds": {"padding_ratio": 3, "padding_bytes": 4096},
        }
    )
    assert found == []
    assert options.select == frozenset(ON | {"layout-copy"})
    assert options.ignore == {"syntax"}
    assert options.severity is Severity.WARNING
    assert options.thresholds == {"padding_ratio": 3, "padding_bytes": 4096}


def test_missing_options_have_defaults() -> None:
    silent: dict[str, object] = {
        "select": None,
        "ignore": None,
        "severity": None,
        "thresholds": None,
    }
    sections: list[dict[str, object]] = [
        {}, silent, {"ignore": []}, {"thresholds": {}}, {"thresholds": []}
    ]  # fmt: skip
    for section in sections:
        assert CheckOptions.of(section) == (CheckOptions(), [])


def test_empty_selection_selects_nothing() -> None:
    assert CheckOptions.of({"select": []})[0].select == frozenset()


@pytest.mark.parametrize("given", ["syntax", 3, {"syntax": True}, True])
def test_codes_come_in_a_list(given: object) -> None:
    assert complaints(select=given) == [("select", "must be a list of codes")]


def test_good_codes_of_a_list_count() -> None:
    options, found = CheckOptions.of({"ignore": ["syntax", "overlapp", 3]})
    assert options.ignore == {"syntax"}
    assert found == [
        OptionError(("ignore",), "unknown rule `overlapp`; did you mean `overlap`?", "overlapp"),
        OptionError(("ignore",), "a code must be a string, not 3"),
    ]


@pytest.mark.parametrize("given", ["fatal", 1, ["error"], {}])
def test_severity_is_one_of_four(given: object) -> None:
    message = "must be one of error, warning, information, hint"
    assert complaints(severity=given) == [("severity", message)]


@pytest.mark.parametrize("given", [-1, True, "3", None, [1], math.nan])
def test_threshold_is_a_number_from_0_on(given: object) -> None:
    message = "must be a number of at least 0"
    assert complaints(thresholds={"padding_ratio": given}) == [
        ("thresholds.padding_ratio", message)
    ]


def test_threshold_of_bytes_is_whole() -> None:
    message = "must be an integer"
    assert complaints(thresholds={"padding_bytes": 1.5}) == [("thresholds.padding_bytes", message)]
    assert complaints(thresholds=[1]) == [("thresholds", "must be a table of numbers")]
