"""``hlo-lsp diff``: exit status, folders, and formats."""

import json
import re
import shutil
from pathlib import Path

import pytest

from cli.command import run
from hlo_lsp.model.compile import Compile
from hlo_lsp.reports.comparison import ComparedSides
from reports.example import STEM


@pytest.fixture
def other(dump: Path, tmp_path: Path) -> Path:
    """Return a folder with the example compile and a larger value."""
    folder = shutil.copytree(dump, tmp_path / "other")
    path = folder / f"{STEM}-buffer-assignment.txt"
    text = path.read_text("utf-8").replace("size 3072", "size 4096")
    path.write_text(text.replace("<3 b @0> (size=1024", "<3 b @0> (size=2048"), "utf-8")
    return folder


def test_equal_compiles_end_with_0(dump: Path) -> None:
    found = run("diff", dump, dump)
    assert (found.status, found.out) == (0, "jit_f: no differences\n")


def test_equal_modules_share_a_line(dump: Path, tmp_path: Path) -> None:
    both = shutil.copytree(dump, tmp_path / "both")
    for path in list(both.iterdir()):
        shutil.copy(path, both / path.name.replace("module_0001.jit_f", "module_0002.jit_g"))
    for path in both.glob("*jit_g*optimizations.txt"):
        path.write_text(path.read_text("utf-8").replace("jit_f", "jit_g"), "utf-8")
    found = run("diff", both, both)
    assert (found.status, found.out) == (0, "no differences in 2 modules: jit_f, jit_g\n")


def test_different_compiles_end_with_1(dump: Path, other: Path) -> None:
    found = run("diff", dump, other)
    assert found.status == 1
    assert found.out.startswith("jit_f: HBM peak +1.0 KiB (5.0 KiB -> 6.0 KiB): b (")


def test_growth_is_judged_in_a_line(dump: Path, other: Path) -> None:
    found = run("diff", dump, other, "--max-growth", "1000 B")
    assert (found.status, found.err) == (1, "hlo-lsp: --max-growth 1000 B: exceeded by jit_f\n")
    found = run("diff", dump, other, "--max-growth", "2 KiB")
    assert (found.status, found.err) == (0, "hlo-lsp: --max-growth 2 KiB: not exceeded\n")


def test_growth_without_a_common_module_is_unknown(
    dump: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def apart(before: list[Compile], after: list[Compile], _: object) -> ComparedSides:
        return ComparedSides((), tuple(before), tuple(after))

    monkeypatch.setattr("hlo_lsp.cli.diff.compare_all", apart)
    found = run("diff", dump, dump, "--max-growth", "2%")
    assert found.status == 2
    assert "no module is on both sides, so the growth is unknown" in found.err


def test_module_of_one_folder_is_listed(dump: Path, other: Path) -> None:
    for path in list(other.iterdir()):
        shutil.copy(path, other / path.name.replace("module_0001.jit_f", "module_0002.jit_g"))
    for path in other.glob("*jit_g*optimizations.txt"):
        path.write_text(path.read_text("utf-8").replace("jit_f", "jit_g"), "utf-8")
    found = run("diff", dump, other)
    assert found.status == 1
    assert found.out.endswith(f"1 module only in {other}: jit_g\n")


def test_small_module_that_differs_shares_a_line(dump: Path, other: Path, tmp_path: Path) -> None:
    large = tmp_path / "large"
    for folder in (dump, other):
        copy = shutil.copytree(folder, large / folder.name)
        for path in list(copy.iterdir()):
            text = path.read_text("utf-8").replace("jit_f", "jit_g")
            target = copy / path.name.replace("module_0001.jit_f", "module_0002.jit_g")
            target.write_text(re.sub(r"(size[ =])(\d+)", r"\g<1>\g<2>000", text), "utf-8")
    out = run("diff", large / "dump", large / "other").out
    assert out.startswith("jit_g: HBM peak ")
    assert out.endswith("(name files to see them): jit_f\n")
    assert "jit_f: HBM" not in out


def test_folder_without_dump_ends_with_2(dump: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    found = run("diff", dump, empty)
    assert (found.status, found.out) == (2, "")
    assert "no dumps in this folder" in found.err


def test_markdown_is_a_table(dump: Path, other: Path) -> None:
    out = run("diff", dump, other, "--format", "markdown").out
    assert "| `b` | model.py:7 cos | +1.0\N{NO-BREAK SPACE}KiB | is larger |" in out


@pytest.mark.parametrize(("limit", "status"), [("1 KiB", 0), ("1000 B", 1), ("0%", 0)])
def test_growth_above_limit_ends_with_1(dump: Path, other: Path, limit: str, status: int) -> None:
    assert run("diff", dump, other, "--max-growth", limit).status == status


def test_wrong_limit_is_usage_error(dump: Path) -> None:
    found = run("diff", dump, dump, "--max-growth", "much")
    assert found.status == 2
    assert "'much' is neither a size such as `64 MiB` nor a share such as `2%`" in found.err


def test_maps_are_written_beside_the_answer(dump: Path, other: Path, tmp_path: Path) -> None:
    found = run("diff", dump, other, "--map", tmp_path / "map.json")
    assert (found.status, found.out) == (1, run("diff", dump, other).out)
    document = json.loads((tmp_path / "map.json").read_text("utf-8"))
    assert [module["name"] for module in document["modules"]] == ["jit_f", "jit_f"]
    assert len(document["comparisons"]) == 1


def test_maps_without_assignment_are_refused(dump: Path, other: Path, tmp_path: Path) -> None:
    for path in other.glob("*buffer-assignment*"):
        path.unlink()
    found = run("diff", dump, other, "--map", tmp_path / "map.html")
    assert found.status == 2
    assert "one of the compiles has no buffer assignment" in found.err
    assert not (tmp_path / "map.html").exists()
