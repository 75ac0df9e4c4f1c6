"""Tests for hovers, on the screen and in the API."""

from editors.vscode.dump import ASSIGNMENT, LIVE_RANGE, live, printed
from editors.vscode.host import hover, spot
from editors.vscode.marks import VSCODE
from editors.vscode.waiting import eventually
from editors.vscode.window import Window

pytestmark = VSCODE


async def test_hover_describes_value(reading: Window) -> None:
    at = spot(reading.dump.path(ASSIGNMENT), "<235 ^fusion @1>")
    value = printed(at.path, "<235 fusion @1>")
    first, last = live(reading.dump.path(LIVE_RANGE), "fusion{}")
    await reading.open(at)

    async def described() -> None:
        lines = (await hover(reading.host, at)).splitlines()
        assert lines
        assert lines[0].startswith("1.00 MiB in VMEM · steps ")
        assert lines[2] == "**`fusion`**"
        assert f"- **padded size** {value.size:,} B (1.00 MiB): fits T(8,128)" in lines
        assert (
            f"- **allocation** {value.allocation}, preallocated-temp, {value.allocation_size:,} B"
            f" (1.86 MiB), bytes {value.offset:,} to {value.offset + value.size:,}"
        ) in lines
        assert any(line.startswith(f"- **live range** {first}-{last} ") for line in lines)

    await eventually(described)  # facts of companion files come after they are read
    shown = await reading.hovered("fusion")
    assert f"padded size {value.size:,} B (1.00 MiB): fits T(8,128)" in shown.splitlines()
    assert f"live range {first}-{last} ({last - first} steps)" in shown
    assert "**" not in shown  # it is shown as markdown
