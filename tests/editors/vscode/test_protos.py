"""Tests for protos in VS Code."""

from pathlib import Path

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


def _proto(dump: Compile, data: bytes) -> Path:
    path = dump.folder / "m.hlo.pb"
    path.write_bytes(data)
    return path


async def test_protos_open_as_text_with_hovers(dump: Compile, window: Window) -> None:
    data = serialized("HloProto", HLO_PROTO)
    path = _proto(dump, data)
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


async def test_other_protos_show_the_reason(dump: Compile, window: Window) -> None:
    path = _proto(dump, b"\x08\x01")
    await window.host.command("vscode.open", uri(path))

    async def shown() -> None:
        frames = [await frame.content() for frame in window.page.frames]
        assert any(_MESSAGE in frame for frame in frames)

    await eventually(shown)


async def test_proto_of_a_memory_report_opens_its_text(dump: Compile, window: Window) -> None:
    text = dump.path(REPORT)
    path = text.with_suffix(".pb")
    path.write_bytes(b"\x0a\x00")
    await window.host.command("vscode.open", uri(path))
    await until(window.front, lambda front: front[0] == text)
