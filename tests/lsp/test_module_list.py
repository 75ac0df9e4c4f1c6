"""The compiles in the workspace with their files and buffers."""

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lsprotocol import types

from hlo_lsp.lsp import compile_index, module_list
from hlo_lsp.lsp.client import Json
from hlo_lsp.lsp.custom_requests import MODULES_CHANGED_METHOD, ModulesParams
from hlo_lsp.lsp.module_list import ModuleList
from hlo_lsp.lsp.session import Session
from hlo_lsp.model.module_reader import ModuleReader
from lsp.test_workspace_symbols import serve
from protos.messages import HLO_PROTO, serialized
from reports.example import ASSIGNMENT, MODULE, RANGES


class Listing:
    """The list of compiles in a session with one workspace folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        server = SimpleNamespace(
            workspace=SimpleNamespace(folders={folder.as_uri(): None}, root_uri=None),
            client_capabilities=types.ClientCapabilities(),
            work_done_progress=None,
        )
        self.notified: list[str] = []
        session = Session()
        serve(session, server)
        self.list = ModuleList(session, self._notify)

    def _notify(self, method: str, _: Json) -> None:
        self.notified.append(method)

    def dump(self, name: str, module: str = MODULE, *, has_memory: bool = True) -> Path:
        stem = self.folder / f"module_{name}.tpu_after_optimizations"
        texts = {".txt": module}
        if has_memory:
            texts.update({"-buffer-assignment.txt": ASSIGNMENT, "-live-range.txt": RANGES})
        for end, text in texts.items():
            Path(f"{stem}{end}").write_text(text, "utf-8")
        return Path(f"{stem}.txt")

    async def ask(self, folders: list[str] | None = None) -> list[Json]:
        found: list[Json] = (await self.list.answer(ModulesParams(folders)))["modules"]
        return found


@pytest.fixture
def listing(tmp_path: Path) -> Listing:
    return Listing(tmp_path)


async def test_compile_lists_files_and_buffers(listing: Listing) -> None:
    text = listing.dump("0001.jit_f")
    text.with_name("module_0001.jit_f.before_optimizations.txt").write_text(MODULE, "utf-8")
    text.with_name("module_0001.jit_f.0002.fusion.after_dce.before_cse.txt").write_text(MODULE)
    text.with_name("module_0001.jit_f.debug_options").write_text("x: 1", "utf-8")
    (module,) = await listing.ask()
    (compile_,) = module["compiles"]
    assert (module["name"], compile_["peak_bytes"]) == ("jit_f", 5120)
    assert [(one["label"], one["isPass"]) for one in compile_["files"]] == [
        ("buffer assignment", False),
        ("live range", False),
        ("before optimizations", False),
        ("fusion > dce", True),
        ("after optimizations", False),
    ]
    assert [one["name"] for one in compile_["buffers"]][:2] == ["a{}", "x{}"]
    assert compile_["buffers"][0]["location"]["uri"] == text.as_uri()


async def test_only_changed_compiles_are_read_again(
    listing: Listing, monkeypatch: pytest.MonkeyPatch
) -> None:
    listing.dump("0001.jit_f")
    other = listing.dump("0002.jit_g", MODULE.replace("jit_f", "jit_g"))
    assert len(await listing.ask()) == 2
    read: list[str] = []
    original = module_list.read_compiles

    def note(reader: ModuleReader, path: Path, **others: Any) -> Any:
        read.append(path.name)
        return original(reader, path, **others)

    monkeypatch.setattr(module_list, "read_compiles", note)
    other.write_text(MODULE.replace("jit_f", "jit_longer"), "utf-8")
    names = {module["name"] for module in await listing.ask()}
    assert (names, len(read)) == ({"jit_f", "jit_longer"}, 1)


async def test_large_compiles_are_read_in_a_process(
    listing: Listing, monkeypatch: pytest.MonkeyPatch
) -> None:
    listing.dump("0001.jit_f")
    here = await listing.ask()
    monkeypatch.setattr(compile_index, "MAX_KEPT_BYTES", 0)
    assert await Listing(listing.folder).ask() == here


async def test_other_texts_are_no_compiles(listing: Listing) -> None:
    (listing.folder / "notes.txt").write_text("to do", "utf-8")
    (listing.folder / "model.py").write_text("HloModule jit_f", "utf-8")
    assert await listing.ask() == []


async def test_requested_folders_replace_workspace(listing: Listing, tmp_path: Path) -> None:
    listing.dump("0001.jit_f")
    other = tmp_path / "other"
    other.mkdir()
    assert await listing.ask(folders=[other.as_uri(), "untitled:1"]) == []


async def test_sections_of_stdout_dump_are_compiles(listing: Listing) -> None:
    text = "".join(
        f"*** Begin module_000{n}.{name}.cpu_after_optimizations.txt ***\n"
        f"{MODULE.replace('jit_f', name)}\n"
        f"*** End module_000{n}.{name}.cpu_after_optimizations.txt ***\n"
        for n, name in enumerate(("jit_f", "jit_g"))
    )
    (listing.folder / "log.txt").write_text(text, "utf-8")
    found = await listing.ask()
    assert [one["compiles"][0]["line"] for one in found] == [
        1,
        text[: text.index("HloModule jit_g")].count("\n"),
    ]


async def test_proto_is_a_compile(listing: Listing) -> None:
    path = listing.folder / "m.after_optimizations.hlo.pb"
    path.write_bytes(serialized("HloProto", HLO_PROTO))
    (module,) = await listing.ask()
    assert module["compiles"][0]["uri"] == path.as_uri()


async def test_changes_notify_once_after_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module_list, "_NOTIFICATION_DELAY_SECONDS", 0.01)
    listing = Listing(tmp_path)
    listing.list.files_changed()
    await asyncio.sleep(0.05)
    assert listing.notified == []
    await listing.ask()
    listing.list.files_changed()
    listing.list.files_changed()
    await asyncio.sleep(0.1)
    assert listing.notified == [MODULES_CHANGED_METHOD]


async def test_equal_compiles_of_hosts_have_one_row(listing: Listing) -> None:
    other = MODULE.replace("sine", "cosine").replace("ROOT %r", "%s = f32[] constant(0)\n  ROOT %r")
    for host, text in (("host_0", MODULE), ("host_1", other), ("host_2", MODULE)):
        (listing.folder / host).mkdir()
        listing.dump("0001.jit_f", text).rename(listing.folder / host / "module_0001.jit_f.txt")
    (module,) = await listing.ask()
    rows = {one["host"]: one["row"] for one in module["compiles"]}
    assert rows["host_0"] == rows["host_2"] != rows["host_1"]


async def test_modules_with_small_peaks_are_marked(listing: Listing) -> None:
    listing.dump("0001.jit_f")
    listing.dump("0002.jit_unknown", MODULE.replace("jit_f", "jit_unknown"), has_memory=False)
    text = listing.dump("0003.jit_large", MODULE.replace("jit_f", "jit_large"), has_memory=False)
    assignment = ASSIGNMENT.replace("size 3072", "size 3072000")
    text.with_name(f"{text.stem}-buffer-assignment.txt").write_text(assignment, "utf-8")
    found = [
        (one["name"], one["isSmall"], one["compiles"][0]["size"]) for one in await listing.ask()
    ]
    assert found == [
        ("jit_large", False, "2.93 MiB"),
        ("jit_f", True, "5.0 KiB"),
        ("jit_unknown", False, "unknown size"),
    ]
