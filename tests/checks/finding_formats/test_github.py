"""Tests for workflow commands of GitHub."""

import pytest

from hlo_lsp.checks.check_jobs import FindingSummary, Spot
from hlo_lsp.checks.finding_formats import github_annotation
from hlo_lsp.checks.framework.finding import Severity


def command(severity: Severity = Severity.ERROR, path: str = "a.txt", message: str = "m") -> str:
    return github_annotation(FindingSummary("syntax", severity, Spot(path, 6, 39, 43), message))


def test_command_has_place_and_message() -> None:
    assert command() == (
        "::error file=a.txt,line=6,endLine=6,col=39,endColumn=43,title=hlo-lsp syntax::m"
    )


@pytest.mark.parametrize(
    ("severity", "name"),
    [
        (Severity.ERROR, "error"),
        (Severity.WARNING, "warning"),
        (Severity.INFORMATION, "notice"),
        (Severity.HINT, "notice"),
    ],
)
def test_severities_have_commands(severity: Severity, name: str) -> None:
    assert command(severity).startswith(f"::{name} ")


def test_command_separators_are_escaped() -> None:
    assert "::100 %25 of a, b: c" in command(message="100 % of a, b: c")
    assert "file=C%3A\\a%2Cb%25.txt,line" in command(path="C:\\a,b%.txt")
