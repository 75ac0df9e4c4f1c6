"""Tests for the positions and resolved titles of code lenses."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from hlo_lsp.ide import code_lenses
from hlo_lsp.ide.code_lenses import LensChoice
from hlo_lsp.lsp import code_lenses as lenses
from hlo_lsp.lsp.client import Client
from hlo_lsp.lsp.session import RequestContext, Session
from lsp.opened import DUMP, at, context, context_in, item, split_dump


async def titles(context: RequestContext) -> dict[str, str]:
    """Return lens titles by line, joined for lenses of one line, without the summary."""
    found: dict[str, str] = {}
    for lens in lenses.code_lenses(context):
        if "summary" not in lens["data"]:
            line = context.file.lines[lens["range"]["start"]["line"]].strip()
            text = await title(context, lens["data"])
            found[line] = f"{found[line]} + {text}" if line in found else text
    return found


async def resolved(context: RequestContext, lens: types.CodeLens) -> types.Command:
    """Return the command of a lens of the context's file."""
    data: dict[str, Any] = lens.data if isinstance(lens.data, dict) else {}
    lens.data = {"uri": context.file.uri, **data}
    found = await lenses.resolve(context.session, lens)
    assert found is not None
    assert found.command is not None
    return found.command


async def title(context: RequestContext, data: object) -> str:
    start = types.Position(0, 0)
    lens = types.CodeLens(types.Range(start, start), None, data)
    command = await resolved(context, lens)
    assert command.command == ""  # The lens has no command to run.
    return command.title


async def test_allocations_values_and_peak_have_lenses() -> None:
    assert await titles(await context()) == {
        "value: <1 x @0> (size=512,offset=0): f32[4]{0:T(128)}": (
            "512 B in HBM · whole program · x → add"
        ),
        "value: <3 mul @0> (size=512,offset=0): f32[4]{0:T(128)}": (
            "512 B in HBM · whole program, written at step 2"
        ),
        "value: <2 add @1> (size=512,offset=512): f32[4]{0:T(128)S(1)}": (
            "512 B in VMEM · steps 1-2, at the peak · add → mul"
        ),
        "<1 x @0>": "512 B in HBM · whole program · x → add",
        "<2 add @1>": "512 B in VMEM · steps 1-2, at the peak · add → mul",
        "<3 mul @0>": "512 B in HBM · whole program, written at step 2",
        "Total bytes used: 2048 (2.0KiB)": "HBM 1.0 KiB, VMEM 1.0 KiB",
        "Live ranges at 2 (peak):": (
            "declared by XLA: 48 B at step 2 + HBM: 1.0 KiB occupied, the maximum"
        ),
    }


async def test_first_line_lens_opens_the_summary() -> None:
    command = await _summary(await context())
    assert command == types.Command(
        "HBM: 1.0 KiB of 1.0 KiB at the peak, step 0 | arguments 512 B, unknown 512 B",
        "hlo.server.summary",
        arguments=["untitled:dump", 0],
    )
    command = await _summary(await context(client=replace(Client(), can_show_summary=True)))
    assert command.command == "hlo.memorySummary"


async def _summary(found: RequestContext) -> types.Command:
    lens = lenses.code_lenses(found)[0]
    assert "command" not in lens  # Every client resolves it later.
    start = types.Position(lens["range"]["start"]["line"], 0)
    unresolved = types.CodeLens(types.Range(start, start), None, lens["data"])
    return await resolved(found, unresolved)


async def test_setting_selects_lenses() -> None:
    text = DUMP.replace("size 512, output shape", "size 1048576, output shape")
    text = text.replace("<3 mul @0> (size=512", "<3 mul @0> (size=1048576")
    found = await context(text)
    counts = {}
    for choice in LensChoice:
        found.session.settings = replace(found.session.settings, code_lens=choice)
        counts[choice] = len(lenses.code_lenses(found))
    # `x` in HBM is smaller than 1 % of the peak.
    assert counts == {LensChoice.ALL: 13, LensChoice.LARGE: 8, LensChoice.OFF: 0}


async def test_value_without_bytes_at_the_peak_has_no_lens() -> None:
    late = " value: <9 late @1> (size=512,offset=0): f32[4]{0:T(128)S(1)}\n"
    text = DUMP.replace("\nTotal bytes", f"{late}\nTotal bytes", 1)
    text = text.replace("add{}:1-2", "add{}:1-2\n    late{}:2-2").replace("mul{}:2-3", "mul{}:3-3")
    shown = await titles(await context(text))
    assert [line for line in shown if "late" in line] == [late.strip()]
    text = text.replace("late{}:2-2", "late{}:3-3")
    found = await context(text)
    assert not [line for line in await titles(found) if "late" in line]
    found.session.settings = replace(found.session.settings, code_lens=LensChoice.ALL)
    assert "not at the peak" in (await titles(found))[late.strip()]


async def test_large_allocation_of_several_values_has_a_lens() -> None:
    other = " value: <9 other @1> (size=512,offset=0): f32[4]{0:T(128)S(1)}\n"
    text = DUMP.replace("\nTotal bytes", f"{other}\nTotal bytes", 1)
    heads = {
        line: one for line, one in (await titles(await context(text))).items() if "size 1" in line
    }
    assert list(heads.values()) == ["2 values, 1.0 KiB"]


async def test_lens_spans_its_line() -> None:
    found = await context()
    spans = [lens["range"] for lens in lenses.code_lenses(found)][1:]
    assert all(span["start"]["line"] == span["end"]["line"] for span in spans)
    assert all(span["start"]["character"] == 0 for span in spans)
    first = spans[0]
    assert found.file.lines[first["start"]["line"]].startswith(" value: <1 x @0>")
    assert first["end"]["character"] == len(found.file.lines[first["start"]["line"]])


async def test_lens_titles_are_resolved_later() -> None:
    found = await context()
    json_lenses = lenses.code_lenses(found)
    assert all("command" not in lens for lens in json_lenses)
    assert {lens["data"]["uri"] for lens in json_lenses} == {found.file.uri}


async def test_eager_client_gets_complete_lenses() -> None:
    found = await context(client=replace(Client(), has_eager_lenses=True))
    _, *json_lenses = lenses.code_lenses(found)
    assert [lens["command"]["title"] for lens in json_lenses] == [
        await title(found, lens["data"]) for lens in json_lenses
    ]
    assert {lens["command"]["command"] for lens in json_lenses} == {""}


async def test_peak_lens_is_complete_without_resolve_support() -> None:
    found = await context(client=replace(Client(), has_eager_lenses=True))
    _, *json_lenses = lenses.code_lenses(found)
    assert [lens["command"]["title"] for lens in json_lenses][-2:] == [
        "declared by XLA: 48 B at step 2",
        "HBM: 1.0 KiB occupied, the maximum",
    ]


async def test_without_live_ranges_lenses_have_sizes() -> None:
    text, *_ = DUMP.partition("HloLiveRange")
    assert set((await titles(await context(text))).values()) == {
        "512 B in HBM · x", "512 B in HBM", "512 B in VMEM · add", "HBM 1.0 KiB, VMEM 1.0 KiB"
    }  # fmt: skip


async def test_thread_local_values_are_not_large() -> None:
    text = "BufferAssignment:\nallocation 0: size 512, thread-local:\n"
    text += " value: <1 x @0> (size=512,offset=0): f32[]{:T(128)}\n"
    found = await context(text)
    assert not await titles(found)
    found.session.settings = replace(found.session.settings, code_lens=LensChoice.ALL)
    assert list((await titles(found)).values()) == ["1 value, 512 B", "512 B, thread-local"]


@pytest.mark.parametrize(
    "data",
    [
        {"value": 99, "uri": "untitled:dump"},
        {"allocation": 99, "uri": "untitled:dump"},
        {"peak": 7, "uri": "untitled:dump"},
        {"occupied": 7, "uri": "untitled:dump"},
        {"uri": "untitled:dump"},
        {},
        None,
        "text",
        ["value", 1],
    ],
)
async def test_outdated_lens_has_an_unavailable_title(data: object) -> None:
    text, *_ = DUMP.partition("HloLiveRange")
    assert await title(await context(text), data) in {
        "no longer available", "no live ranges", "unknown occupied bytes"
    }  # fmt: skip


async def test_lenses_remain_when_other_lines_are_invalid() -> None:
    text = DUMP.replace("BufferAssignment:\n", "~\n", 1).replace(" uses:\n", " us\n", 1)
    broken = lenses.code_lenses(await context(text))
    assert len(broken) == len(lenses.code_lenses(await context()))
    assert broken[1]["range"]["start"]["line"] == at(text, " value: <1 x").line


async def test_allocation_without_reuse_has_no_lens() -> None:
    second = " value: <9 x.2 @0> (size=512,offset=0): f32[4]{0:T(128)}\n"
    found = await context(DUMP.replace("allocation 1:", f"{second}allocation 1:", 1))
    data = [lens["data"] for lens in lenses.code_lenses(found)]
    assert not [one for one in data if "allocation" in one]
    found.session.settings = replace(found.session.settings, code_lens=LensChoice.ALL)
    assert (await title(found, {"allocation": 0, "line": 0})) == "2 values, 512 B"


async def test_lens_commands_show_buffers_users_and_steps() -> None:
    second = " value: <9 x.2 @0> (size=512,offset=0): f32[4]{0:T(128)}\n"
    text = DUMP.replace("allocation 1:", f"{second}allocation 1:", 1)
    other = " value: <8 other @1> (size=512,offset=0): f32[4]{0:T(128)S(1)}\n"
    text = text.replace("\nTotal bytes", f"{other}\nTotal bytes", 1)
    client = Client.from_capabilities(
        types.ClientCapabilities(), "utf-16", {"commands": ["hlo.showPlaces"]}
    )
    request = await context(text, client)
    shown_places = []
    for lens in lenses.code_lenses(request):
        line = types.Position(lens["range"]["start"]["line"], 0)
        lens_here = types.CodeLens(types.Range(line, line), None, lens["data"])
        command = await resolved(request, lens_here)
        if command.command == "hlo.showPlaces":
            assert command.arguments is not None
            uri, position, places = command.arguments
            assert (uri, position) == ("untitled:dump", {"line": line.line, "character": 0})
            lines = [
                request.file.lines[place["range"]["start"]["line"]].strip()
                for place in places or ()
            ]
            shown_places.append((next(iter(lens["data"])), lines))
    x, second_x, mul, add = (
        "value: <1 x @0> (size=512,offset=0): f32[4]{0:T(128)}",
        "value: <9 x.2 @0> (size=512,offset=0): f32[4]{0:T(128)}",
        "value: <3 mul @0> (size=512,offset=0): f32[4]{0:T(128)}",
        "value: <2 add @1> (size=512,offset=512): f32[4]{0:T(128)S(1)}",
    )
    heads = [line for line in text.split("\n") if line.startswith("allocation ")]
    assert shown_places == [
        ("value", ["add, operand 1"]),
        ("value", [second_x]),
        ("value", ["<3 mul @0>"]),
        ("allocation", [add, other.strip()]),
        ("value", ["2:mul"]),
        ("value", [other.strip()]),
        ("total", [heads[2], heads[0], heads[1]]),
        ("value", ["add, operand 1"]),
        ("value", ["2:mul"]),
        ("value", ["<3 mul @0>"]),
        ("peak", [x, mul, add]),
        ("occupied", ["0:x"]),
    ]


async def test_eager_lenses_have_commands() -> None:
    client = replace(Client(), has_eager_lenses=True, can_show_places=True)
    found = await context(client=client)
    _, *json_lenses = lenses.code_lenses(found)
    for lens in json_lenses:
        command = lens["command"]
        start = types.Position(lens["range"]["start"]["line"], 0)
        line = types.Range(start, start)
        shown = await resolved(found, types.CodeLens(line, None, lens["data"]))
        assert (command["title"], command["command"]) == (shown.title, shown.command)
        uri, position, _ = shown.arguments or ()
        assert command["arguments"] == [uri, position, lens["data"]]


@pytest.mark.parametrize(
    "options", [None, [], {}, {"commands": None}, {"commands": "hlo.showPlaces"}]
)
async def test_client_without_command_gets_titles_only(options: object) -> None:
    client = Client.from_capabilities(types.ClientCapabilities(), "utf-16", options)
    assert await titles(await context(client=client))  # Resolving reads the command option.


async def test_long_list_of_places_states_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (lenses, code_lenses):
        monkeypatch.setattr(module, "MAX_LISTED_PLACES", 1)
    found = await context(client=replace(Client(), can_show_places=True))
    start = types.Position(0, 0)
    lens = types.CodeLens(types.Range(start, start), None, {"peak": 2})
    command = await resolved(found, lens)
    assert command.arguments is not None
    assert len(command.arguments[2] or ()) == 1
    assert command.tooltip == "the largest 1"


MODULE = """\
HloModule f, is_scheduled=true

%fused (p: f32[4]) -> f32[4] {
  ROOT %p = f32[4] parameter(0)
}

%again (x: f32[4]) -> f32[4] {
  %x = f32[4] parameter(0)
  ROOT %add = f32[4] fusion(%x), kind=kLoop, calls=%fused
}

%done (c: f32[4]) -> pred[] {
  ROOT %c = pred[] constant(true)
}

ENTRY %main (mul: f32[4]) -> f32[4] {
  %mul = f32[4] parameter(0)
  ROOT %loop = f32[4] while(%mul), condition=%done, body=%again
}
"""


async def test_computation_lenses_count_instructions_and_buffers(tmp_path: Path) -> None:
    split_dump(tmp_path)
    path = tmp_path / "module_0001.f.after_optimizations.txt"
    path.write_text(MODULE, "utf-8")
    session = Session()
    file = session.open(item(path.as_uri(), MODULE))
    found = await context_in(session, types.TextDocumentIdentifier(file.uri))
    assert found is not None
    session.settings = replace(session.settings, code_lens=LensChoice.ALL)
    assert await titles(found) == {
        "%again (x: f32[4]) -> f32[4] {": "2 instructions, 1 buffer defined, 512 B",
        "%done (c: f32[4]) -> pred[] {": "1 instruction",
        "ENTRY %main (mul: f32[4]) -> f32[4] {": "2 instructions",
    }


async def test_total_excludes_thread_local_bytes() -> None:
    text = DUMP.replace("parameter 0, shape |f32[4]| at ShapeIndex {}:", "thread-local:")
    found = await titles(await context(text))
    assert found["Total bytes used: 2048 (2.0KiB)"] == (
        "HBM 512 B, VMEM 1.0 KiB, without 512 B thread-local"
    )
