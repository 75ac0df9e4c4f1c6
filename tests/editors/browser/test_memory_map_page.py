"""The report of a memory map in a real browser, without a network."""

import json
import re
import statistics
import subprocess
from collections.abc import AsyncIterator
from functools import partial
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from editors.node import NODE, ROOT
from editors.vscode.waiting import until
from hlo_lsp.memory.live_set import live_buffers
from hlo_lsp.memory.occupancy_and_peaks import memory_space_occupancies
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.reports.diff import compare
from hlo_lsp.reports.map_comparison import compared_maps
from hlo_lsp.reports.memory_map import memory_map, memory_map_document
from hlo_lsp.reports.memory_map_page import memory_map_page

pytestmark = [
    pytest.mark.editors,
    pytest.mark.xdist_group("browser"),
    pytest.mark.asyncio(loop_scope="session"),
]
_AXE = ROOT / "vscode-client" / "node_modules" / "axe-core" / "axe.min.js"
_SERIOUS = {"serious", "critical"}
_FRAME_MILLISECONDS = 1000 / 60
_ROOT = "document.getElementById('memory-map')"
# The time between frames, measured in the page.
_RECORD_FRAMES = """() => {
  window.times = [];
  const tick = (time) => { window.times.push(time); window.ticking = requestAnimationFrame(tick); };
  window.ticking = requestAnimationFrame(tick);
}"""
# Instructions and changes of the buffers that differ at the steps of a comparison.
_CHANGED = f"""() => {_ROOT}.memoryMap.panel.changed
  .filter(({{ box, before, bytes }}) => box !== undefined && before !== bytes)
  .map(({{ box, before, bytes }}) => [box.instruction, bytes - before])"""
_STOP = "() => { cancelAnimationFrame(window.ticking); return window.times; }"


@pytest.fixture(scope="session")
def dump(corpus_small: Path) -> Compile:
    stem = "module_0000.jit_mlp_train.cl_1003875606.after_optimizations"
    workspace = DumpWorkspace()
    path = corpus_small / "tpu_v5e" / f"{stem}-buffer-assignment.txt"
    return workspace.compile_of(workspace.file(path))


@pytest_asyncio.fixture(loop_scope="session")
async def page(browser: Browser) -> AsyncIterator[Page]:
    """Return an empty page that reports every error and has no network."""
    context = await browser.new_context(viewport={"width": 1400, "height": 900}, offline=True)
    page = await context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    await context.close()
    assert errors == []


async def _open(page: Page, folder: Path, document: dict[str, Any]) -> None:
    report = folder / "report.html"
    report.write_text(memory_map_page(document), "utf-8")
    await page.goto(report.as_uri())
    await page.locator(".memory-map[data-boxes] .axes .steps .tick").first.wait_for()


async def _boxes(page: Page) -> int:
    return int(await page.evaluate(f"{_ROOT}.dataset.boxes"))


async def _point(page: Page, name: str) -> tuple[float, float]:
    found = await page.evaluate(f"(name) => {_ROOT}.memoryMap.pointOf(name)", name)
    return found["x"], found["y"]


async def test_each_memory_space_has_its_boxes(page: Page, tmp_path: Path, dump: Compile) -> None:
    data = memory_map(dump)
    await _open(page, tmp_path, memory_map_document([data]))
    allocations = data["allocations"]
    choice = page.get_by_role("group", name="Memory space")
    shown = [space["name"] for space in data["spaces"] if not space["isSmall"]]
    assert await choice.locator("strong").all_inner_texts() == shown
    await choice.get_by_role("button", name="small space").click()
    for space in data["spaces"]:
        await page.get_by_role("group", name="Memory space").get_by_text(space["name"]).click()
        expected = sum(
            allocations["space"][number] == space["space"] and start >= 0
            for number, start in zip(
                data["boxes"]["allocation"], data["boxes"]["start"], strict=True
            )
        )
        assert await _boxes(page) == expected


async def test_groups_below_one_percent_share_a_row(
    page: Page, tmp_path: Path, dump: Compile
) -> None:
    await _open(page, tmp_path, memory_map_document([memory_map(dump)]))
    await page.get_by_role("checkbox", name="Fixed allocations").check()
    groups = page.get_by_role("list", name="Groups")
    assert await groups.locator(".name:visible").all_inner_texts() == [
        "arguments",
        "3 groups below 1%",
    ]
    await groups.locator("summary").click()
    assert "programs.py:43" in await groups.locator(".name:visible").all_inner_texts()
    before = await groups.inner_text()
    bounds = await page.locator(".overlay").first.bounding_box()
    assert bounds is not None
    await page.mouse.click(bounds["x"] + 90, bounds["y"] + 60)  # an early step
    await expect(groups).not_to_have_text(before, use_inner_text=True)
    assert "programs.py:43" in await groups.locator(".name:visible").all_inner_texts()


async def test_card_and_selection_follow_the_pointer(
    page: Page, tmp_path: Path, dump: Compile
) -> None:
    await _open(page, tmp_path, memory_map_document([memory_map(dump)]))
    await page.get_by_role("group", name="Memory space").get_by_text("VMEM").click()
    at = await _point(page, "fusion")
    await page.mouse.move(*at)
    card = page.locator(".card")
    await card.wait_for()
    text = await card.inner_text()
    assert "1.00 MiB in VMEM" in text
    assert re.search(r"kept for\s+step \d+, ", text)
    assert "scope" not in text
    await page.mouse.click(*at)
    selected = await page.evaluate(f"{_ROOT}.dataset.selected")
    assert text.startswith(selected)


async def test_card_of_a_loop_has_its_iterations(page: Page, tmp_path: Path) -> None:
    document = _synthetic(300)
    (module,) = document["modules"]
    module["strings"] += ["while.5", "while"]
    name = len(module["strings"]) - 2
    module["bands"] = {
        **{key: [0] for key in ("start", "depth", "line")},
        **{"end": [module["lastStep"]], "name": [name], "opcode": [name + 1], "tripCount": [33]},
    }
    await _open(page, tmp_path, document)
    bounds = await page.locator(".map canvas").last.bounding_box()
    assert bounds is not None
    card = page.locator(".card")
    await page.mouse.move(bounds["x"] + 300, bounds["y"] + 10)
    await page.mouse.move(bounds["x"] + 300, bounds["y"] + 14, steps=3)
    await until(card.inner_text, lambda text: text.startswith("while.5 · 33 iterations"))
    await page.get_by_role("button", name="Table", exact=True).click()
    row = page.get_by_role("table", name="All buffers").locator("tbody tr").first
    assert "while.5 · 33 iterations" in await row.inner_text()


async def test_toolbar_leaves_the_map_its_room(page: Page, tmp_path: Path, dump: Compile) -> None:
    await page.set_viewport_size({"width": 320, "height": 540})  # beside an editor, at 150%
    await _open(page, tmp_path, memory_map_document([memory_map(dump)]))
    header = await page.locator("header").bounding_box()
    assert header is not None
    assert header["height"] < 150  # it has one button more than in an editor


async def test_table_has_the_python_line_first(page: Page, tmp_path: Path) -> None:
    await _open(page, tmp_path, _planted())
    await page.get_by_role("button", name="Table", exact=True).click()
    heads = page.get_by_role("table", name="All buffers").locator("th")
    assert (await heads.all_inner_texts())[:3] == ["Buffer", "Size", "Python line"]
    assert not await page.locator(".legend").is_visible()


async def test_labels_of_loops_have_a_high_contrast(page: Page, tmp_path: Path) -> None:
    document = _planted()
    (module,) = document["modules"]
    bands = {**{key: [0] for key in ("start", "depth", "line", "opcode")}, "end": [9], "name": [0]}
    module["bands"] = bands
    await page.emulate_media(contrast="more")
    await _open(page, tmp_path, document)
    view = f"{_ROOT}.memoryMap.sides[0].view"
    bounds = await page.locator(".overlay").bounding_box()
    assert bounds is not None
    area = await page.evaluate(f"{view}.viewport.areas().bands")
    middle = area["x"] + area["width"] / 2, area["y"] + area["height"] / 2
    fill = await page.evaluate(_COLOR, [bounds["x"] + middle[0], bounds["y"] + middle[1]])
    text = await page.evaluate(f"getComputedStyle({_ROOT}).color")
    assert abs(sum(fill[:3]) - sum(map(int, re.findall(r"\d+", text)))) > 300


async def test_live_set_equals_that_of_the_server(
    page: Page, tmp_path: Path, dump: Compile
) -> None:
    await _open(page, tmp_path, memory_map_document([memory_map(dump)]))
    for occupancy in memory_space_occupancies(dump):
        for step in {0, occupancy.peak_step, *occupancy.change_steps[::7]}:
            buffers = await page.evaluate(
                f"([space, step]) => {_ROOT}.memoryMap.liveBytes(space, step)",
                [occupancy.space, step],
            )
            expected = [buffer.bytes for buffer in live_buffers(dump, occupancy.space, step)]
            assert buffers == expected
            assert sum(buffers) == occupancy.bytes_at(step)


@pytest.fixture(scope="session")
def other(corpus_small: Path) -> Compile:
    """Return the same program for another TPU."""
    folder = corpus_small / "tpu_v5p"
    path = next(folder.glob("*.jit_mlp_train.cl_*.after_optimizations-buffer-assignment.txt"))
    workspace = DumpWorkspace()
    return workspace.compile_of(workspace.file(path))


async def test_changes_at_the_peaks_equal_the_diff(
    page: Page, tmp_path: Path, dump: Compile, other: Compile
) -> None:
    await _open(page, tmp_path, compared_maps([(dump, other)]))
    tabs = page.get_by_role("group", name="Memory space").get_by_role("button")
    await tabs.filter(has_text="small space").click()
    for space in compare(dump, other).spaces:
        await tabs.filter(has_text=space.title).first.click()
        expected = sorted(
            (value.record.name, one.bytes)
            for one in space.buffers
            if (value := one.buffer.buffer.value) is not None
        )
        found = await page.evaluate(_CHANGED)
        assert sorted(map(tuple, found)) == expected


async def test_click_selects_the_box_of_both_compiles(
    page: Page, tmp_path: Path, dump: Compile, other: Compile
) -> None:
    await _open(page, tmp_path, compared_maps([(dump, other)]))
    boxes = f"{_ROOT}.memoryMap.sides[0].space.boxes"
    name = await page.evaluate(f"() => {boxes}.find(({{ match }}) => match !== undefined).name")
    await page.get_by_role("searchbox").fill(name)
    await page.get_by_role("searchbox").press("Enter")
    assert await page.evaluate(f"{_ROOT}.dataset.selected") == name
    match = await page.evaluate(f"{_ROOT}.dataset.match")
    assert f"after\n{match} · " in await page.locator(".selected").inner_text()


async def test_search_counts_buffers(page: Page, tmp_path: Path, dump: Compile) -> None:
    data = memory_map(dump)
    await _open(page, tmp_path, memory_map_document([data]))
    await page.get_by_role("searchbox").fill("no such buffer")
    await until(page.locator(".matches").inner_text, lambda text: text == "0 buffers")
    await page.get_by_role("searchbox").fill("f32[")
    count = await page.locator(".matches").inner_text()
    assert int(count.split()[0].replace(",", "")) > 0


async def test_table_has_the_same_buffers(page: Page, tmp_path: Path, dump: Compile) -> None:
    await _open(page, tmp_path, memory_map_document([memory_map(dump)]))
    await page.get_by_label("Fixed allocations").check()
    await page.get_by_role("button", name="Table", exact=True).click()
    table = page.get_by_role("table", name="All buffers")
    sizes = await table.locator("tbody tr").count()
    assert sizes == min(100, await _boxes(page))
    await table.get_by_role("button", name="Steps").click()
    assert await table.locator("th[aria-sort=descending]").inner_text() == "Steps"


async def test_another_map_can_be_dropped(page: Page, tmp_path: Path, dump: Compile) -> None:
    await _open(page, tmp_path, memory_map_document([memory_map(dump)]))
    other = {**memory_map(dump), "name": "another", "path": "another"}
    transfer = await page.evaluate_handle(
        """(text) => {
          const transfer = new DataTransfer();
          transfer.items.add(new File([text], "map.json", { type: "application/json" }));
          return transfer;
        }""",
        json.dumps(memory_map_document([other])),
    )
    await page.dispatch_event("#memory-map", "drop", {"dataTransfer": transfer})
    await until(page.locator("h1").inner_text, lambda title: title == "another")
    assert await page.get_by_label("Module").locator("option").count() == 2


async def test_other_file_shows_a_message(page: Page, tmp_path: Path, dump: Compile) -> None:
    await _open(page, tmp_path, memory_map_document([memory_map(dump)]))
    path = tmp_path / "other.json"
    path.write_text("{}", "utf-8")
    await page.locator("input[type=file]").set_input_files(path)
    await until(page.locator(".message").inner_text, lambda text: "not a memory map" in text)


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_page_is_accessible(page: Page, tmp_path: Path, dump: Compile, scheme: Any) -> None:
    await page.emulate_media(color_scheme=scheme)
    await _open(page, tmp_path, memory_map_document([memory_map(dump)]))
    await page.add_script_tag(path=_AXE)
    for view in ("map", "table"):
        if view == "table":
            await page.get_by_role("button", name="Table", exact=True).click()
        found = (await page.evaluate("() => axe.run()"))["violations"]
        serious = [
            (each["id"], each["nodes"][0]["html"]) for each in found if each["impact"] in _SERIOUS
        ]
        assert serious == []


async def test_keys_zoom_and_change_the_step(page: Page, tmp_path: Path, dump: Compile) -> None:
    await _open(page, tmp_path, memory_map_document([memory_map(dump)]))
    ticks = page.locator(".axes .steps")
    before = await ticks.text_content()
    title = await page.locator("h2").inner_text()
    await page.get_by_role("application").focus()
    await page.keyboard.press("+")
    await page.keyboard.press("+")
    await until(ticks.text_content, lambda text: text != before)
    await page.keyboard.press("Shift+ArrowRight")
    await until(page.locator("h2").inner_text, lambda text: text != title)
    await page.keyboard.press("0")
    await until(ticks.text_content, lambda text: text == before)
    await page.keyboard.press("p")
    await until(page.locator("h2").inner_text, lambda text: text == title)


async def test_packaged_files_are_up_to_date(tmp_path: Path) -> None:
    client = ROOT / "vscode-client"
    subprocess.run([NODE, "esbuild.mjs", "assets", tmp_path], cwd=client, check=True)
    packaged = ROOT / "server" / "hlo_lsp" / "reports" / "assets"
    built = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert {path.name: path.read_bytes() for path in packaged.iterdir()} == built, (
        "run `npm run assets` in vscode-client"
    )


def _synthetic(count: int) -> dict[str, Any]:
    """Return a map with many boxes of all sizes in one memory space."""
    rows, columns = 300, count // 300
    names = [f"fusion.{number}" for number in range(1000)]
    lines = [f"model.py:{number}" for number in range(12)]
    numbers = range(rows * columns)
    duration = 40
    boxes: dict[str, list[int]] = {
        "allocation": [0 for _ in numbers],
        "offset": [(number % rows) * 4096 for number in numbers],
        "size": [1024 + 1021 * (number % 4) for number in numbers],
        "padding": [0 for _ in numbers],
        "start": [(number // rows) * duration + number % 9 for number in numbers],
        "end": [(number // rows) * duration + 20 + number % 19 for number in numbers],
        "name": [number % 1000 for number in numbers],
        "index": [1000 + len(lines) for _ in numbers],
        "id": list(numbers),
        "assignmentLine": list(numbers),
        "moduleLine": list(numbers),
        **{
            key: [1000 + number % len(lines) for number in numbers]
            for key in ("line", "scope", "opcode", "shape", "role")
        },
    }
    module = {
        "name": "synthetic",
        "path": "synthetic",
        "backend": "TPU",
        "lastStep": columns * duration,
        "missing": [],
        "files": {"assignment": None, "module": None},
        "spaces": [{"space": 0, "name": "HBM", "allocatedBytes": rows * 4096}],
        "allocations": {
            **{key: [0] for key in ("number", "space", "fixed", "kind", "line")},
            "size": [rows * 4096],
        },
        "boxes": boxes,
        "bands": {key: [] for key in ("start", "end", "depth", "name", "opcode", "line")},
        "steps": [],
        "strings": [*names, *lines, ""],
    }  # fmt: skip
    return memory_map_document([module])


_KIB = 1024


def _planted() -> dict[str, Any]:
    """Return a map in which 48 buffers of 8 KiB lie between 16 of 256 KiB, above an argument."""
    sizes = [256, 8, 8, 8] * 16
    starts = [0, *accumulate(sizes)]
    strings = ["", "p['w']", "w.1", "big", "tiny", "arguments", "p1.py:65", "p1.py:64"]
    strings += ["parameter", "temp", "donated, and used by an output"]
    rows = [(0, 0, 65536, 2, 1, 5)]
    rows += [(1, at, size, 3 if size > 8 else 4, 0, 6 if size > 8 else 7)
             for at, size in zip(starts, sizes, strict=False)]  # fmt: skip
    keys = ("allocation", "offset", "size", "name", "argument", "line")
    table = dict(zip(keys, map(list, zip(*rows, strict=True)), strict=True))
    zeros = [0] * len(rows)
    module = {
        **{"name": "planted", "path": "planted", "backend": "TPU", "lastStep": 9, "missing": []},
        "files": {"assignment": None, "module": None},
        "spaces": [
            {
                **{"space": 0, "name": "HBM", "allocatedBytes": 128 * 1024 * _KIB},
                **{"fixedBytes": 65536 * _KIB, "peakStep": 5, "peakBytes": 70016 * _KIB},
                **{"changeSteps": [0], "tempBytes": [4480 * _KIB]},
                "notes": ["Lost at the peak 61.9 KiB: array padding 61.9 KiB"],
                "advice": [["Donate 3 arguments", "saves at most 1.00 MiB"]],
            }
        ],
        "allocations": {
            **{"number": [0, 1], "space": [0, 0], "fixed": [1, 0], "kind": [8, 9], "line": [0, 1]},
            **{"size": [65536 * _KIB, 65536 * _KIB], "donation": [10, 0], "whole": [0, -1]},
        },
        "wholeArrays": [
            {
                "text": "f32[64,32]: dim 0 in 2 parts over model",
                **{"titles": ["dim 0", "devices"], "rows": [["0-31", "0, 2"], ["32-63", "1, 3"]]},
            }
        ],
        "boxes": {
            **dict.fromkeys(("padding", "start", "id", "assignmentLine", "moduleLine"), zeros),
            **dict.fromkeys(("index", "scope", "opcode", "shape", "role"), zeros),
            **table,
            **{key: [_KIB * each for each in table[key]] for key in ("offset", "size")},
            "end": [9] * len(rows),
        },
        "bands": {key: [] for key in ("start", "end", "depth", "name", "opcode", "line")},
        "steps": [],
        "strings": strings,
    }
    return memory_map_document([module])


# The color at a point of the window in the picture of the map.
_COLOR = """([x, y]) => {
  const canvas = document.querySelector(".map canvas");
  const bounds = canvas.getBoundingClientRect();
  const ratio = window.devicePixelRatio;
  const at = [(x - bounds.left) * ratio, (y - bounds.top) * ratio].map(Math.floor);
  return [...canvas.getContext("2d").getImageData(...at, 1, 1).data];
}"""


async def _swatch(page: Page, group: str) -> list[int]:
    """Return the color of a group in the list."""
    swatch = page.locator(".groups button", has_text=group).locator(".swatch")
    color = await swatch.evaluate("(swatch) => getComputedStyle(swatch).backgroundColor")
    return [int(part) for part in color.removeprefix("rgb(").removesuffix(")").split(",")] + [255]


async def _rows(page: Page) -> list[list[str]]:
    """Return the first cells of the table beside the map."""
    table = page.get_by_role("table", name="Buffers at the step").locator("tbody tr")
    return [await row.locator("td").all_inner_texts() for row in await table.all()]


async def test_pixels_show_the_owner_of_most_bytes(page: Page, tmp_path: Path) -> None:
    await _open(page, tmp_path, _planted())
    expected = await _swatch(page, "p1.py:65")
    assert expected != await _swatch(page, "p1.py:64")
    view = f"{_ROOT}.memoryMap.sides[0].view"
    first, last = [
        await page.evaluate(f"(byte) => {view}.clientPoint(5, byte)", byte * _KIB)
        for byte in (65536, 65536 + 16 * (256 + 24))
    ]
    card = page.locator(".card")
    # Rows with all their bytes in use, most of them by boxes that are lower than three rows.
    rows = range(int(last["y"]) + 2, int(first["y"]) - 1)
    colors = [await page.evaluate(_COLOR, [first["x"], row]) for row in rows]
    assert len(rows) > 20
    assert colors == [expected] * len(rows)
    for row in rows[::7]:
        await page.mouse.move(first["x"], row)
        await until(card.inner_text, lambda text: text.startswith("big") and "p1.py:65" in text)


async def test_fixed_allocations_are_a_band_that_expands(page: Page, tmp_path: Path) -> None:
    await _open(page, tmp_path, _planted())
    band = page.locator(".fixed-band")
    assert "64.00 MiB at all steps: arguments 64.00 MiB" in " ".join(
        (await band.inner_text()).split()
    )
    low = f"{_ROOT}.memoryMap.sides[0].view.viewport.y().domain()[0]"
    assert await page.evaluate(low) == 65536 * _KIB
    assert all(name in {"big", "tiny"} for name, *_ in await _rows(page))
    await band.click()
    assert await band.get_attribute("aria-expanded") == "true"
    assert await page.evaluate(low) == 0
    assert (await _rows(page))[0][:2] == ["p['w']", "64.00 MiB"]
    assert await page.get_by_label("Fixed allocations").is_checked()


async def test_fixed_allocations_and_search_filter_the_lists(page: Page, tmp_path: Path) -> None:
    await _open(page, tmp_path, _planted())
    table = page.locator("table[aria-label='All buffers'] tbody tr")
    fixed = page.get_by_label("Fixed allocations")
    for is_shown, count in ((True, 65), (False, 64)):
        await fixed.set_checked(is_shown)
        assert await table.count() == count
        assert len(await _rows(page)) == count
        groups = await page.locator(".groups").inner_text()
        assert ("arguments" in groups) is is_shown
    await page.get_by_role("searchbox").fill("p1.py:64")
    assert await table.count() == 48
    assert {name for name, *_ in await _rows(page)} == {"tiny"}
    assert "384.0 KiB match the search" in await page.locator(".listed").inner_text()


async def test_arguments_have_their_names_and_donation(page: Page, tmp_path: Path) -> None:
    await _open(page, tmp_path, _planted())
    await page.get_by_label("Fixed allocations").check()
    cell = page.get_by_role("table", name="Buffers at the step").locator("td").first
    assert await cell.get_attribute("title") == "p['w'], w.1"
    await cell.get_by_role("button", name="p['w']").click()
    selected = await page.locator(".selected").inner_text()
    assert "whole program" in selected
    assert "donated, and used by an output" in selected
    assert "f32[64,32]: dim 0 in 2 parts over model" in selected
    devices = await page.locator(".selected .devices tr").all_inner_texts()
    assert [row.split("\t") for row in devices] == [
        ["dim 0", "devices"],
        ["0-31", "0, 2"],
        ["32-63", "1, 3"],
    ]


async def test_lost_bytes_and_advice_open(page: Page, tmp_path: Path) -> None:
    document = _planted()
    document["modules"][0]["timeAdvice"] = ["Values are computed again"]
    await _open(page, tmp_path, document)
    notes = page.locator(".notes")
    title = await notes.locator("summary").inner_text()
    assert title == (
        "1 piece of advice on memory · 1 piece of advice on time · Lost at the peak 61.9 KiB"
    )
    await notes.locator("summary").click()
    text = await notes.inner_text()
    assert "Advice on memory: Donate 3 arguments; saves at most 1.00 MiB." in text
    assert "Advice on time: Values are computed again" in text


@pytest.mark.parametrize("width", [1400, 480])
async def test_card_does_not_stay_over_the_list(page: Page, tmp_path: Path, width: int) -> None:
    await page.set_viewport_size({"width": width, "height": 1000})
    document = _planted()
    document["modules"][0]["strings"][3] = f"big{'.long' * 100}"
    await _open(page, tmp_path, document)
    bounds = await page.locator("aside").bounding_box()
    at = await page.evaluate(
        f"(byte) => {_ROOT}.memoryMap.sides[0].view.clientPoint(9.9, byte)", 65600 * _KIB
    )
    assert bounds is not None
    card = page.locator(".card")
    await page.mouse.move(at["x"], at["y"])
    await card.wait_for()
    shown = await card.bounding_box()
    assert shown is not None
    is_left = shown["x"] + shown["width"] <= bounds["x"]
    assert is_left or shown["y"] + shown["height"] <= bounds["y"]
    assert shown["x"] + shown["width"] <= width
    await page.evaluate("document.querySelector('.overlay').remove()")  # as a reload does
    await page.mouse.move(bounds["x"] + 20, bounds["y"] + 20)
    await card.wait_for(state="hidden")


def _timed() -> dict[str, Any]:
    """Return the planted map with the time of its steps: 1 µs, unknown, 9 µs, and none."""
    document = _planted()
    module = document["modules"][0]
    times = [10**6, -1, 9 * 10**6, *[0] * 7]
    notes = ["unknown for 1 step"]
    module["time"] = {"title": "least time on TPU v5e", "picoseconds": times, "notes": notes}
    module["steps"] = [3] * 10
    module["boxes"]["end"] = [9, 1, *[9] * 63]  # the first temporary ends with the unknown step
    return document


async def test_axis_shows_the_time_of_steps(page: Page, tmp_path: Path) -> None:
    await _open(page, tmp_path, _timed())
    subtitle = await page.locator(".subtitle").inner_text()
    assert subtitle.endswith("least time on TPU v5e 10.0 µs · unknown for 1 step")
    view = f"{_ROOT}.memoryMap.sides[0].view"
    title = page.locator(".axes .title")
    assert await title.text_content() == "steps"
    await page.get_by_label("Axis").select_option("least time on TPU v5e")
    await until(title.text_content, lambda text: text == "least time on TPU v5e")
    assert await page.evaluate(f"{view}.viewport.x().domain()") == [0, 10**7]
    ticks = await page.locator(".axes .steps .tick").all_text_contents()
    assert (ticks[0], ticks[-1]) == ("0 ns", "10 µs")
    # The first temporary takes a tenth of the width: after it, its bytes are free.
    at = f"(step) => {view}.clientPoint(step, {65536 * _KIB + 100 * _KIB})"
    colors = {}
    for step in (0.5, 2.5):
        point = await page.evaluate(at, step)
        colors[step] = partial(page.evaluate, _COLOR, [point["x"], point["y"]])

    async def is_drawn() -> list[bool]:
        return [(await color())[3] != 0 for color in colors.values()]

    await until(is_drawn, lambda found: found == [True, False])  # after the axes
    await page.get_by_label("Axis").select_option("steps")
    await until(title.text_content, lambda text: text == "steps")
    assert await page.evaluate(f"{view}.viewport.x().domain()") == [0, 10]


async def test_band_shows_which_steps_take_long(page: Page, tmp_path: Path) -> None:
    await _open(page, tmp_path, _timed())
    view = f"{_ROOT}.memoryMap.sides[0].view"
    bounds = await page.locator(".overlay").bounding_box()
    assert bounds is not None
    top = bounds["y"] + await page.evaluate(f"{view}.viewport.areas().times.y") + 2
    shades = []
    for step in (0.5, 1.5, 2.5, 3.5):
        point = await page.evaluate(f"(step) => {view}.clientPoint(step, 0)", step)
        shades.append((await page.evaluate(_COLOR, [point["x"], top]))[3])
    assert 0 == shades[1] == shades[3] < shades[0] < shades[2] == 255
    card = page.locator(".card")
    for step, text in ((2.5, "big · 9.00 µs (90.0%)"), (1.5, "big · time unknown")):
        point = await page.evaluate(f"(step) => {view}.clientPoint(step, 0)", step)
        await page.mouse.move(point["x"], top)
        await until(card.inner_text, lambda shown, text=text: shown.startswith(text))  # type: ignore[misc]


async def test_panning_keeps_up_with_the_screen(
    page: Page, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    count, limit = 300_000, 60.0
    await _open(page, tmp_path, _synthetic(count))
    assert await _boxes(page) == count
    await page.mouse.move(500, 450)
    await page.mouse.wheel(0, -400)
    await page.wait_for_timeout(500)
    await page.evaluate(_RECORD_FRAMES)
    await page.mouse.down()
    for number in range(60):
        await page.mouse.move(500 + 4 * number, 450 - 2 * number)
    await page.mouse.up()
    times = await page.evaluate(_STOP)
    frames = [after - before for before, after in pairwise(times)]
    median = statistics.median(frames)
    slowest = sorted(frames)[int(0.95 * len(frames))]
    with capsys.disabled():
        print(
            f"\npanning {count:,} boxes: {len(frames)} frames, median {median:.1f} ms"
            f" ({1000 / median:.0f} per second), 95th percentile {slowest:.1f} ms"
        )
    assert median < max(limit, 1.5 * _FRAME_MILLISECONDS)
