"""Facts in the files of a dump, as a reference for the editor."""

import re
from dataclasses import dataclass
from pathlib import Path

MODULE, ASSIGNMENT, VALUES = "", "-buffer-assignment", "-buffer-assignment-values"
LIVE_RANGE, REPORT = "-live-range", "-memory-usage-report"


@dataclass(frozen=True)
class Printed:
    """A value of the buffer assignment, in bytes, and its allocation."""

    size: int
    offset: int
    allocation: int
    allocation_size: int


def printed(assignment: Path, value: str) -> Printed:
    """Return the value with a header such as `<172 copy-start.10{} @0>`."""
    text = assignment.read_text("utf-8")
    found = re.search(re.escape(value) + r" \(size=(\d+),offset=(\d+)\)", text)
    assert found, value
    heads = re.findall(r"^allocation (\d+): size (\d+)", text[: found.start()], re.MULTILINE)
    return Printed(*map(int, (*found.groups(), *heads[-1])))


def live(live_range: Path, value: str) -> tuple[int, int]:
    """Return the first and last step of a value, such as `copy-start.10{}`."""
    line = rf"^\s+{re.escape(value)}:(\d+)-(\d+)$"
    found = re.search(line, live_range.read_text("utf-8"), re.MULTILINE)
    assert found, value
    return int(found[1]), int(found[2])


def lines(path: Path) -> list[str]:
    """Return the lines of a file."""
    return path.read_text("utf-8").splitlines()
