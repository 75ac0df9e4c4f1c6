"""Tests for protos in VS Code."""

from editors.conftest import Compile
from editors.vscode.dump import REPORT
from editors.vscode.host import Spot, hover, uri
from editors.vscode.marks import vscode
from editors.vscode.waiting import eventually, until
from editors.vscode.window import Window
from protos.messages import HLO_PROTO, serialized

pytestmark = vscode(1)
_HEAD = "m.hlo.pb: HloProto, converted to the text that XLA prints for it."
_MESSAGE = "not the proto of an HLO module or a buffer assignment"


async def test_protos_open_as_text_or_show_the_reason(dump: Compile, window: Window) -> None:
    data = serialized("HloProto", HLO_PROTO)
    path = dump.folder / "m.hlo.pb"
    path.write_bytes(data)
    await window.host.command("vscode.open", uri(path))
    active = await until(
        lambda: window.host.ask("active"),
        lambda shown: shown is not None and shown["line"] == _HEAD,
    )
    assert active["language"] == "xla-stdout"
    text = await window.host.ask("text", uri(active["file"]))
    lines = text.split("\n")
    line = next(number for number, each in enumerate(lines) if each.startswith("  %fusion = "))
    at = Spot(active["file"], line, 4)
    await until(lambda: hover(window.host, at), lambda shown: "fusion" in shown)
    await window.page.keyboard.type("x")  # the editor refuses it
    assert await window.host.ask("text", uri(active["file"])) == text
    assert path.read_bytes() == data

    other = dump.folder / "other.hlo.pb"
    other.write_bytes(b"\x08\x01")
    await window.host.command("vscode.open", uri(other))

    async def refused() -> None:
        frames = [await frame.content() for frame in window.page.frames]
        assert any(_MESSAGE in frame for frame in frames)

    await eventually(refused)

    printed = dump.path(REPORT)
    report = printed.with_suffix(".pb")
    report.write_bytes(b"\x0a\x00")
    await window.host.command("vscode.open", uri(report))
    await until(window.front, lambda front: front[0] == printed)
