"""What the README says of numbers that the code knows."""

import re
from dataclasses import fields
from pathlib import Path

from hlo_lsp.checks.wishes.thresholds import Thresholds

README = Path(__file__).parents[1] / "README.md"
ROW = re.compile(r"\| `(\w+)` \| ([\d.,]+) \| ")


def test_every_threshold_is_there_with_its_default() -> None:
    rows = ROW.findall(README.read_text("utf-8"))
    assert rows == [(one.name, f"{one.default:,}") for one in fields(Thresholds)]
