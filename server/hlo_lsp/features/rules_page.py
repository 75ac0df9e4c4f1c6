"""The page of all rules, as a file that an editor can open at a rule."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

_HEADING = "### "
_HERE = Path(__file__).resolve()
# Inside the wheel the page lies in the package, in a checkout beside server/.
_PLACES = (_HERE.parents[1] / "docs" / "rules.md", _HERE.parents[3] / "docs" / "rules.md")


@cache
def rules_page() -> Path | None:
    """The page, None where it was not installed as a file."""
    return next((path for path in _PLACES if path.is_file()), None)


@cache
def rule_lines() -> Mapping[str, int]:
    """The lines of the page (from 0) on which the texts about codes begin."""
    path = rules_page()
    if path is None:
        return {}
    lines = path.read_text("utf-8").split("\n")
    return {
        line.removeprefix(_HEADING): number
        for number, line in enumerate(lines)
        if line.startswith(_HEADING)
    }


def rule_href(code: str) -> str | None:
    """A link to the text about a code, None if there is none.

    It leads to a line: editors open the page themselves, and know no other anchors in a file.
    """
    path, line = rules_page(), rule_lines().get(code)
    return None if path is None or line is None else f"{path.as_uri()}#L{line + 1}"
