"""Tests for the outline and the breadcrumbs."""

import re

from editors.vscode.dump import ASSIGNMENT, MODULE, lines
from editors.vscode.host import spot, uri
from editors.vscode.marks import VSCODE
from editors.vscode.waiting import eventually, until
from editors.vscode.window import Window

pytestmark = VSCODE
ROW = ".outline-pane .monaco-list-row"
CRUMB = ".breadcrumbs-control .monaco-breadcrumb-item"


async def test_outline_leads_to_allocations(reading: Window) -> None:
    path = reading.dump.path(ASSIGNMENT)
    allocations = [line for line in lines(path) if line.startswith("allocation ")]
    await reading.open(path)

    async def outlined() -> None:
        (root,) = await reading.host.command("vscode.executeDocumentSymbolProvider", uri(path))
        assert len(root["children"]) == len(allocations)

    await eventually(outlined)
    await reading.host.command("outline.focus")
    # The size is a detail, apart.
    first = ["BufferAssignment", "allocation 0512 B"]
    await until(reading.shown(ROW), lambda rows: rows[:2] == first)
    await reading.page.locator(ROW, has_text=re.compile("^allocation 1")).first.click()
    await until(reading.cursor, lambda cursor: cursor[0] == lines(path).index(allocations[1]) + 1)


async def test_breadcrumbs_show_section_of_cursor(reading: Window) -> None:
    at = spot(reading.dump.path(MODULE), "  %^fusion.40 = f32[64,256]{1,0:T(8,128)} fusion(")
    await reading.open(at)
    await until(reading.shown(CRUMB), [at.path.name, "fused_computation.7", "fusion.40"].__eq__)
