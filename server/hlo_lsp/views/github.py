"""Findings as workflow commands, which GitHub shows beside the lines of a change.

Source of the form: GitHub's "Workflow commands for GitHub Actions"; of the escapes: its toolkit,
``packages/core/src/command.ts``.
"""

from hlo_lsp.checks.finding import Severity
from hlo_lsp.checks.folders.told import Told

_COMMANDS = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFORMATION: "notice",
    Severity.HINT: "notice",
}


def workflow_command(told: Told) -> str:
    """One line; columns from 1, the end exclusive, as other linters print them."""
    spot = told.spot
    properties = {
        "file": spot.path,
        "line": str(spot.line),
        "endLine": str(spot.line),
        "col": str(spot.column),
        "endColumn": str(spot.end_column),
        "title": f"hlo-lsp {told.code}",
    }
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{_COMMANDS[told.severity]} {listed}::{_data(told.message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
