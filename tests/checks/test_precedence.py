from graphlib import CycleError

import pytest

from hlo_lsp.checks import run
from hlo_lsp.checks.catalogue import CATALOGUE
from hlo_lsp.checks.framework.finding import Finding, Related, Severity
from hlo_lsp.checks.run import SUPPRESSES, Scope, ranks, suppressors_of, unsuppressed
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import Place

FILE, OTHER = DumpFile.of_text("a\nb\nc\n"), DumpFile.of_text("d\n")
TABLE = {
    "first": {Scope.LINE: frozenset({"second"})},
    "second": {Scope.LINE: frozenset({"third"})},
    "entry": {Scope.RECORD: frozenset({"row"})},
    "broken": {Scope.FILE: frozenset({"first", "third"})},
}


@pytest.fixture(autouse=True)
def _table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "SUPPRESSES", TABLE)
    monkeypatch.setattr(run, "_RANKS", ranks(TABLE))


def finding(code: str, line: int, *related: int, file: DumpFile = FILE) -> Finding:
    places = tuple(Related(Place(FILE, each, 0, 1), "see") for each in related)
    return Finding(code, Severity.ERROR, Place(file, line, 0, 1), code, places)


def codes(*findings: Finding) -> list[str]:
    return [one.code for one in unsuppressed(findings)]


def test_finding_on_the_same_line_is_suppressed() -> None:
    assert codes(finding("second", 1), finding("first", 1), finding("second", 2)) == [
        "first",
        "second",
    ]


def test_finding_on_a_related_line_is_suppressed() -> None:
    assert codes(finding("first", 0, 2), finding("second", 2)) == ["first"]
    assert codes(finding("first", 2), finding("second", 0, 2)) == ["first"]


def test_suppressed_finding_suppresses_nothing() -> None:
    assert codes(finding("third", 1), finding("second", 1), finding("first", 1)) == [
        "third",
        "first",
    ]


def test_record_of_several_lines_is_suppressed() -> None:
    text = (
        "Used values:\n<1 a @0>\n positions:\n  a\n uses:\n from instruction: %a = f32[] iota()\n"
    )
    file = DumpFile.of_text(text)
    assert codes(finding("row", 3, file=file), finding("entry", 1, file=file)) == ["entry"]
    assert codes(finding("row", 0, file=file), finding("entry", 1, file=file)) == ["row", "entry"]


def test_whole_file_is_suppressed() -> None:
    assert codes(
        finding("broken", 2),
        finding("first", 0),
        finding("second", 0),
        finding("third", 0, file=OTHER),
    ) == ["broken", "second", "third"]


def test_unknown_codes_are_kept() -> None:
    assert codes(finding("x", 0), finding("x", 0)) == ["x", "x"]


def test_cycle_is_refused() -> None:
    with pytest.raises(CycleError):
        ranks({"a": {Scope.LINE: frozenset("b")}, "b": {Scope.FILE: frozenset("a")}})


def test_table_names_codes_of_rules() -> None:
    known = {rule.code for rule in CATALOGUE}
    named = {code for scopes in SUPPRESSES.values() for each in scopes.values() for code in each}
    assert named | set(SUPPRESSES) <= known


def test_suppressors_are_found_through_others() -> None:
    assert suppressors_of({"third"}) == {"first", "second", "broken"}
    assert suppressors_of({"first"}) == {"broken"}
    assert suppressors_of({"x"}) == set()
