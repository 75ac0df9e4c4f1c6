"""Tests for the outline and the breadcrumbs."""

import re

from editors.conftest import Compile
from editors.vscode.dump import ASSIGNMENT, MODULE, lines
from editors.vscode.host import spot
from editors.vscode.marks import vscode
from editors.vscode.waiting import until
from editors.vscode.window import Window

pytestmark = vscode(1)
ROW = ".outline-pane .monaco-list-row"
CRUMB = ".breadcrumbs-control .monaco-breadcrumb-item"


async def test_outline_leads_to_allocations(dump: Compile, window: Window) -> None:
    path = dump.path(ASSIGNMENT)
    allocations = [line for line in lines(path) if line.startswith("allocation ")]
    await window.open(path)
    await window.host.command("outline.focus")
    # The size is a detail, apart.
    first = ["BufferAssignment", "allocation 0512 B"]
    await until(window.shown(ROW), lambda rows: rows[:2] == first)
    await window.page.locator(ROW, has_text=re.compile("^allocation 1")).first.click()
    await until(window.cursor, lambda cursor: cursor[0] == lines(path).index(allocations[1]) + 1)


async def test_breadcrumbs_show_section_of_cursor(dump: Compile, window: Window) -> None:
    at = spot(dump.path(MODULE), "  %^fusion.40 = f32[64,256]{1,0:T(8,128)} fusion(")
    await window.open(at)
    await until(
        window.shown(CRUMB),
        [dump.folder.name, at.path.name, "fused_computation.7", "fusion.40"].__eq__,
    )
