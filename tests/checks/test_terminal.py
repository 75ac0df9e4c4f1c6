"""Tests for findings on a terminal."""

import re
from dataclasses import replace

import pytest

from display.console import make_console, output_text
from hlo_lsp.checks.check_jobs import FindingSummary
from hlo_lsp.checks.finding_formats import Count, finding_json
from hlo_lsp.checks.framework.finding import Finding, Related, Severity
from hlo_lsp.checks.terminal import print_finding, print_findings, print_statistics
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import Place

FILE = DumpFile.of_text("BufferAssignment:\nallocation 0: size x\n", "/d/a b.txt")
PLACE = Place(FILE, 1, 19, 20)
FINDING = FindingSummary.of(Finding("syntax", Severity.ERROR, PLACE, "expected a [number]"))
RELATED = Related(Place(FILE, 0, 0, 17), "it [b]egins[/b]")


def test_finding_has_colors_only_on_a_terminal() -> None:
    plain, colored = make_console(), make_console(color=True)
    for out in (plain, colored):
        print_finding(out, FINDING)
    assert "\x1b[" not in output_text(plain)
    assert "\x1b[1m" in output_text(colored)


def test_finding_is_one_line_editors_can_link() -> None:
    out = make_console(width=30)
    print_finding(out, FINDING)
    assert output_text(out) == "/d/a b.txt:2:20: error: expected a [number] [syntax]\n"


def test_terminal_shows_findings_below_their_file_and_a_pipe_one_on_each_line() -> None:
    other = Related(Place(DumpFile.of_text("x", "/e/other.txt"), 0, 0, 1), "defined here")
    finding = Finding("syntax", Severity.HINT, PLACE, "m " * 20, (RELATED, other))
    findings = [FINDING, FindingSummary.of(finding)]
    terminal, pipe = make_console(color=True, width=40), make_console()
    print_findings(terminal, findings)
    print_findings(pipe, findings)
    shown = re.sub(r"\x1b\[[0-9;]*m", "", output_text(terminal))
    assert [line.rstrip() for line in shown.split("\n")] == [
        "/d/a b.txt",
        "  2:20           error  expected a",
        "                        [number]",
        "                        [syntax]",
        "  2:20           hint   m m m m m m m m",
        "                        m m m m m m m m",
        "                        m m m m",
        "                        [syntax]",
        "  1:1            note   it [b]egins[/b]",
        "  other.txt:1:1  note   defined here",
        "",
        "",
    ]
    assert output_text(pipe).count("/d/a b.txt:2:20: ") == len(findings)


@pytest.mark.parametrize("severity", Severity)
def test_every_severity_is_named(severity: Severity) -> None:
    out = make_console()
    print_finding(out, replace(FINDING, severity=severity))
    assert f": {severity.value}: " in output_text(out)


def test_related_places_follow_in_the_same_format() -> None:
    out = make_console(width=30)
    finding = Finding("syntax", Severity.HINT, PLACE, "m", (RELATED, RELATED))
    print_finding(out, FindingSummary.of(finding))
    assert output_text(out) == (
        "/d/a b.txt:2:20: hint: m [syntax]\n" + "/d/a b.txt:1:1: note: it [b]egins[/b]\n" * 2
    )


def test_json_counts_from_one_with_exclusive_ends() -> None:
    finding = Finding("syntax", Severity.ERROR, PLACE, "expected a [number]", (RELATED,))
    assert finding_json(FindingSummary.of(finding)) == {
        "path": "/d/a b.txt",
        "line": 2,
        "column": 20,
        "end_line": 2,
        "end_column": 21,
        "severity": "error",
        "code": "syntax",
        "message": "expected a [number]",
        "related": [
            {
                "path": "/d/a b.txt",
                "line": 1,
                "column": 1,
                "end_line": 1,
                "end_column": 18,
                "message": "it [b]egins[/b]",
            }
        ],
    }


def test_statistics_are_never_wrapped() -> None:
    out = make_console(width=10)
    print_statistics(out, [Count("size-mismatch", Severity.ERROR, 1234, 1)])
    assert output_text(out) == "  1,234  error size-mismatch in 1 file\n"
