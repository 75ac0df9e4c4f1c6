"""Tests for inlay hints: ranges, tooltips, settings, and refresh requests."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from lsprotocol import types

from hlo_lsp.ide.code_lenses import LensChoice
from hlo_lsp.ide.inlay_hints import HintKind
from hlo_lsp.lsp import inlay_hints
from hlo_lsp.lsp.client import Client
from hlo_lsp.lsp.session import Session
from hlo_lsp.lsp.settings import Settings
from hlo_lsp.text.document import Encoding
from lsp.opened import DUMP, item

URI = "untitled:dump"
MODULE = """\
HloModule m

%fused (p: f32[]) -> f32[] {
  ROOT %p = f32[] parameter(0)
}

ENTRY %e (a: f32[]) -> f32[] {
  %a = f32[] parameter(0), metadata={op_name="\U0001f600" source_file="/x/train.py" source_line=212}
  ROOT %b = f32[] fusion(%a), kind=kLoop, calls=%fused
}
"""


class InlayHintsHarness:
    """A session with inlay hints."""

    def __init__(self, text: str, client: Client | None = None) -> None:
        self.session = Session()
        self.session.client = client or Client(can_refresh_hints=True)
        self.session.open(item(URI, text))

    async def hints(self, first: int = 0, last: int = 10_000) -> list[dict[str, Any]]:
        span = types.Range(types.Position(first, 0), types.Position(last, 0))
        params = types.InlayHintParams(types.TextDocumentIdentifier(URI), span)
        found = await inlay_hints.inlay_hints(self.session, params)
        assert found is not None
        return found

    async def labels(self, first: int = 0, last: int = 10_000) -> list[str]:
        return [hint["label"] for hint in await self.hints(first, last)]


async def test_hints_are_limited_to_the_range() -> None:
    harness = InlayHintsHarness(DUMP)
    assert await harness.labels(2, 3) == ["padded from 16 B"]
    lines = {hint["position"]["line"] for hint in await harness.hints(3, 12)}
    assert lines == {4, 6, 11}


async def test_hints_wait_for_settings() -> None:
    harness = InlayHintsHarness(DUMP)

    async def configure() -> None:
        await asyncio.sleep(0)
        harness.session.settings = Settings(hints=frozenset())

    harness.session.set_pending_settings(configure())
    assert await harness.hints() == []


async def test_hint_positions_use_client_encoding() -> None:
    for encoding, extra_units in ((Encoding.UTF32, 0), (Encoding.UTF16, 1), (Encoding.UTF8, 3)):
        harness = InlayHintsHarness(MODULE, Client(encoding=encoding))
        (hint,) = [
            candidate
            for candidate in await harness.hints(7, 7)
            if candidate["label"] == "train.py:212"
        ]
        assert hint["position"] == {
            "line": 7,
            "character": len(MODULE.split("\n")[7]) + extra_units,
        }
        assert (hint["paddingLeft"], hint["paddingRight"]) == (True, False)


async def test_tooltip_is_resolved_later() -> None:
    harness = InlayHintsHarness(DUMP)
    (json,) = await harness.hints(2, 2)
    assert "tooltip" not in json
    position = types.Position(**json["position"])
    hint = types.InlayHint(position, json["label"], data=json["data"])
    assert (await inlay_hints.resolve(harness.session, hint)).tooltip == (
        "512 B in memory, 16 B without padding: padded to T(128) (dim 0 4 -> 128)"
    )


@pytest.mark.parametrize("data", [None, {}, {"uri": URI}, {"uri": URI, "line": 9999}, {"line": 2}])
async def test_unknown_hint_has_no_tooltip(data: object) -> None:
    hint = types.InlayHint(types.Position(2, 3), "padded from 16 B", data=data)
    assert (await inlay_hints.resolve(InlayHintsHarness(DUMP).session, hint)).tooltip is None


async def test_stdout_dump_has_hints_in_each_section() -> None:
    text = f"noise\n*** Begin a.txt ***\n{MODULE}*** End a.txt ***\nnoise\n*** Begin b-buffer-assignment.txt ***\n{DUMP}*** End b-buffer-assignment.txt ***\n"  # noqa: E501
    harness = InlayHintsHarness(text)
    lines = text.split("\n")
    hints = await harness.hints()
    hint_lines = [lines[hint["position"]["line"]] for hint in hints]
    assert hint_lines[0] == "  ROOT %p = f32[] parameter(0)"
    assert hint_lines[3] == " value: <1 x @0> (size=512,offset=0): f32[4]{0:T(128)}"
    hint = hints[3]
    position = types.Position(**hint["position"])
    resolved = await inlay_hints.resolve(
        harness.session, types.InlayHint(position, hint["label"], data=hint["data"])
    )
    assert str(resolved.tooltip).startswith("512 B in memory")


async def test_setting_turns_off_each_kind() -> None:
    harness = InlayHintsHarness(MODULE)
    assert await harness.labels() == ["= %a", "train.py:212", "f32[]"]
    for name, remaining in {
        "source": ["= %a", "f32[]"],
        "operandShapes": ["= %a", "train.py:212"],
        "parameterNames": ["train.py:212", "f32[]"],
    }.items():
        harness.session.settings, problems = Settings.of([{"inlayHints": {name: False}}])
        assert (await harness.labels(), problems) == (remaining, [])


async def test_other_file_has_no_hints() -> None:
    harness = InlayHintsHarness("Dear diary,\n")
    span = types.Range(types.Position(0, 0), types.Position(9, 0))
    params = types.InlayHintParams(types.TextDocumentIdentifier(URI), span)
    assert await inlay_hints.inlay_hints(harness.session, params) is None


def test_hint_settings_are_read_and_validated() -> None:
    def read_hints(setting: object) -> tuple[frozenset[HintKind], list[str]]:
        settings, problems = Settings.of([{"inlayHints": setting}])
        return settings.hints, problems

    all_hints = frozenset(HintKind)
    assert (
        read_hints(None)
        == read_hints({})
        == read_hints([])
        == read_hints({"steps": None, "new": 3})
        == (all_hints, [])
    )
    assert read_hints({"steps": False, "source": True}) == (all_hints - {HintKind.STEP}, [])
    assert read_hints({"steps": "no"}) == (
        all_hints,
        ["hlo.inlayHints.steps: must be true or false"],
    )
    assert read_hints(3) == (all_hints, ["hlo.inlayHints: must be an object"])


async def test_live_range_is_shown_by_a_lens_or_by_a_hint() -> None:
    text = DUMP.replace("  Live ranges at 2 (peak)", "    late{}:3-3\n  Live ranges at 2 (peak)")
    late = " value: <9 late @1> (size=512,offset=0): f32[4]{0:T(128)S(1)}\n"
    harness = InlayHintsHarness(text.replace("\nTotal bytes", f"{late}\nTotal bytes", 1))
    live = [label for label in await harness.labels(0, 10) if label.startswith("live")]
    assert live == ["live 3"]
    settings = harness.session.settings
    harness.session.settings = replace(settings, code_lens=LensChoice.OFF)
    live = [label for label in await harness.labels(0, 10) if label.startswith("live")]
    assert live == ["live 1-2, at the peak", "live 3"]
