"""Tests for the request that compares two compiles."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from hlo_lsp.lsp import comparison
from hlo_lsp.lsp.client import Json
from hlo_lsp.lsp.comparison import answer_comparison
from hlo_lsp.lsp.custom_requests import CompareParams, CompilePlace
from hlo_lsp.lsp.memory_map import answer_memory_map
from hlo_lsp.lsp.progress import RequestFailedError
from hlo_lsp.lsp.session import Session
from reports.example import ASSIGNMENT, MODULE, RANGES, STEM


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare in this process, because starting another one takes a second."""

    async def run(work: Callable[[], object]) -> object:
        return work()

    monkeypatch.setattr(comparison, "run_in_process", run)


def write_dump(folder: Path, module: str = MODULE, assignment: str = ASSIGNMENT) -> Path:
    folder.mkdir()
    (folder / f"{STEM}.txt").write_text(module, "utf-8")
    (folder / f"{STEM}-buffer-assignment.txt").write_text(assignment, "utf-8")
    (folder / f"{STEM}-live-range.txt").write_text(RANGES, "utf-8")
    return folder


def comparison_params(before: Path, after: Path) -> CompareParams:
    return CompareParams(CompilePlace(before.as_uri()), CompilePlace(after.as_uri()))


async def compare(before: Path, after: Path) -> Json:
    return await answer_comparison(Session(), comparison_params(before, after))


@pytest.fixture
def larger(tmp_path: Path) -> Path:
    """Return a compile in which the buffer of one instruction is larger."""
    assignment = ASSIGNMENT.replace("size=2048,offset=0", "size=4096,offset=0").replace(
        "size=1024,offset=2048", "size=1024,offset=4096"
    )
    module = MODULE.replace("%a = f32[512]", "%a = f32[1024]")
    return write_dump(tmp_path / "after", module, assignment.replace("size 3072", "size 5120"))


async def test_answer_links_buffers_of_both_dumps(tmp_path: Path, larger: Path) -> None:
    before = write_dump(tmp_path / "before")
    found = await compare(before, larger)
    title, _, cause = found["title"].partition("): ")
    assert found["markdown"].startswith(f"# {title})\n\n{cause}\n\n- Before: ")
    line = 1 + MODULE.split("\n").index(next(x for x in MODULE.split("\n") if "%a =" in x))
    for folder in (before, larger):
        assert f"({(folder / f'{STEM}.txt').as_uri()}#L{line})" in found["markdown"]


async def test_page_has_links_in_its_text(tmp_path: Path, larger: Path) -> None:
    params = replace(comparison_params(write_dump(tmp_path / "before"), larger), columns=80)
    page = (await answer_comparison(Session(), params))["page"]
    lines = page["text"].split("\n")
    link = page["links"][0]
    start, end = (link["range"][side] for side in ("start", "end"))
    assert lines[start["line"]][start["character"] : end["character"]] == "before"
    assert link["target"].startswith((tmp_path / "before").as_uri())


async def test_texts_differ_only_in_changed_lines(tmp_path: Path, larger: Path) -> None:
    found = await compare(write_dump(tmp_path / "before"), larger)
    first, second = (text["text"].split("\n") for text in found["texts"])
    changed = [before for before, after in zip(first, second, strict=True) if before != after]
    assert changed == ["  a = f32[512]{0} sine(x)"]
    assert all(len(text["lines"]) == text["text"].count("\n") for text in found["texts"])


def add_equal_compile(folder: Path) -> None:
    """Add a small compile whose files come before those of the other one."""
    module = MODULE.replace("HloModule jit_f", "HloModule jit_equal")
    (folder / f"{STEM.replace('0001.jit_f', '0000.jit_equal')}.txt").write_text(module, "utf-8")


async def test_all_modules_of_folders_are_compared(tmp_path: Path, larger: Path) -> None:
    before = write_dump(tmp_path / "before")
    add_equal_compile(before)
    add_equal_compile(larger)
    found = await compare(before, larger)
    assert found["title"] == "1 of 2 modules differs"
    assert f"- Before: `{before}`\n- After: `{larger}`\n" in found["markdown"]
    assert "\n# jit_f: HBM peak +2.0 KiB" in found["markdown"]
    assert "no differences in 1 module: jit_equal" in found["markdown"]
    assert "HloModule jit_f" in found["texts"][0]["text"]


async def test_memory_map_of_folders_has_all_modules(tmp_path: Path, larger: Path) -> None:
    before = write_dump(tmp_path / "before")
    both = tmp_path / "both"
    for number, folder in enumerate((before, larger)):
        shutil.copytree(folder, both / str(number))
    found = await answer_memory_map(Session(), comparison_params(both, both))
    assert found is not None
    assert len(found["comparisons"]) == 2


async def test_missing_module_text_omits_the_texts(tmp_path: Path, larger: Path) -> None:
    before = write_dump(tmp_path / "before")
    (before / f"{STEM}.txt").unlink()
    found = await compare(before, larger)
    assert found["texts"] is None
    assert "HBM" in found["title"]


@pytest.mark.parametrize("text", [None, "to do"])
async def test_other_file_is_named_in_the_error(
    tmp_path: Path, text: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()  # in a process of its own
    before = write_dump(tmp_path / "before")
    other = tmp_path / "notes.txt"
    if text is not None:
        other.write_text(text, "utf-8")
    with pytest.raises(RequestFailedError, match=r"notes\.txt"):
        await compare(before, other)


async def test_unsaved_text_is_rejected(tmp_path: Path) -> None:
    before = write_dump(tmp_path / "before")
    params = CompareParams(CompilePlace(before.as_uri()), CompilePlace("untitled:1"))
    with pytest.raises(RequestFailedError, match="only files on disk"):
        await answer_comparison(Session(), params)


async def test_memory_map_of_two_compiles_links_boxes(tmp_path: Path, larger: Path) -> None:
    before = write_dump(tmp_path / "before")
    found = await answer_memory_map(Session(), comparison_params(before, larger))
    assert found is not None
    assert [Path(module["path"]).parent.name for module in found["modules"]] == ["before", "after"]
    (comparison,) = found["comparisons"]
    assert len(comparison["boxes"]["before"]) == len(found["modules"][0]["boxes"]["id"])


async def test_compile_without_memory_has_no_map(tmp_path: Path, larger: Path) -> None:
    before = write_dump(tmp_path / "before")
    (before / f"{STEM}-buffer-assignment.txt").unlink()
    with pytest.raises(RequestFailedError, match="no buffer assignment"):
        await answer_memory_map(Session(), comparison_params(before, larger))
