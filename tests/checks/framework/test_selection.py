"""Tests for the selection of rules from several sources."""

import pickle
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hlo_lsp.checks.catalogue import CATALOGUE, DEFAULT_RULES, selected_rules
from hlo_lsp.checks.framework.explanations import explanations
from hlo_lsp.checks.framework.finding import Severity
from hlo_lsp.checks.framework.options import CheckOptions, Limits, Selection

CODES = st.frozensets(st.sampled_from(list(explanations())))
OPTIONS = st.builds(
    CheckOptions,
    select=st.none() | CODES,
    ignore=CODES,
    severity=st.none() | st.sampled_from(Severity),
    thresholds=st.dictionaries(st.sampled_from(["size", "share"]), st.integers(0)),
)


def options_of(**keys: Any) -> CheckOptions:
    options, errors = CheckOptions.of(keys)
    assert errors == []
    return options


def test_default_selection_is_the_enabled_rules() -> None:
    assert selected_rules(Selection.of([])) == DEFAULT_RULES


def test_select_replaces_the_default() -> None:
    first = options_of(select=["syntax", "overlap"], ignore=["size-mismatch"])
    assert Selection.of([first]).codes == {"syntax", "overlap"}
    assert Selection.of([first, options_of(select=["size", "live-range-bounds"])]).codes == {
        "size-mismatch", "live-range-bounds"
    }  # fmt: skip


def test_ignored_rules_are_removed_from_the_selection() -> None:
    first = options_of(ignore=["syntax"])
    default = Selection().codes
    assert Selection.of([first]).codes == default - {"syntax"}
    assert Selection.of([first, options_of(ignore=["overlap"])]).codes == default - {
        "syntax",
        "overlap",
    }
    both = options_of(select=["live-range"], ignore=["live-range-bounds"])
    assert "live-range-bounds" not in Selection.of([both]).codes


def test_disabled_rule_is_added_by_name() -> None:
    off = next(code for code, explanation in explanations().items() if not explanation.is_on)
    added = Selection.of([options_of(select=["default", off])])
    assert added.codes == Selection().codes | {off}
    assert {rule.code for rule in selected_rules(added)} == {
        rule.code for rule in DEFAULT_RULES
    } | {off}


def test_rules_without_selected_codes_do_not_run() -> None:
    for severity in Severity:
        rules = selected_rules(Selection.of([options_of(select=["all"], severity=severity.value)]))
        assert rules == tuple(rule for rule in CATALOGUE if rule.severity.rank <= severity.rank)


def test_severity_selects_counting_findings() -> None:
    counting = {
        lowest: [severity for severity in Severity if Selection(severity=lowest).counts(severity)]
        for lowest in (None, *Severity)
    }
    problems = [Severity.ERROR, Severity.WARNING]
    assert counting == {
        None: problems,
        Severity.ERROR: [Severity.ERROR],
        Severity.WARNING: problems,
        Severity.INFORMATION: [*problems, Severity.INFORMATION],
        Severity.HINT: list(Severity),
    }


def test_thresholds_are_set_one_by_one() -> None:
    first = options_of(thresholds={"size": 1, "share": 0.5})
    found = Selection.of([first, options_of(thresholds={"size": 3})])
    assert found.thresholds == Limits(size=3, share=0.5)


@given(st.lists(OPTIONS, max_size=4), OPTIONS)
def test_last_selection_takes_precedence(before: list[CheckOptions], last: CheckOptions) -> None:
    selection = Selection.of([*before, last])
    assert not selection.codes & last.ignore
    if last.select is not None:
        assert selection.codes == last.select - last.ignore
    assert last.severity in (None, selection.severity)
    for name, number in last.thresholds.items():
        assert getattr(selection.thresholds, name) == number
    assert selection == Selection.of(before).then(last)


@given(OPTIONS)
def test_selection_survives_pickling(options: CheckOptions) -> None:
    selection = Selection.of([options])
    again = pickle.loads(pickle.dumps(selection))
    assert again == selection
    assert hash(again) == hash(selection)
    assert selected_rules(again) == selected_rules(selection)


def test_negligible_savings_are_an_option_of_the_command() -> None:
    assert not Selection().thresholds.with_negligible
    assert Selection.of([CheckOptions(thresholds={"with_negligible": True})]).thresholds == Limits(
        with_negligible=True
    )
    _, errors = CheckOptions.of({"thresholds": {"with_negligible": True}})
    assert [error.keys for error in errors] == [("thresholds", "with_negligible")]
