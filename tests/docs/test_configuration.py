"""Tests for the default thresholds in docs/configuration.md."""

import re
from dataclasses import fields

from docs.pages import DOCS
from hlo_lsp.checks.framework.options import Thresholds

PAGE = DOCS / "configuration.md"
ROW = re.compile(r"\| `(\w+)` \| ([\d.,]+) \| ")


def test_every_threshold_is_listed_with_default() -> None:
    rows = ROW.findall(PAGE.read_text("utf-8"))
    assert rows == [(one.name, f"{one.default:,}") for one in fields(Thresholds)]
