"""The output of ``--xla_dump_to=-``: its sections behave like separate files."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cli.command import run
from e2e.compiles import Compile

Compiled = Callable[[str], Compile]


@pytest.fixture
def files(compiled: Compiled) -> list[Path]:
    """Return the files of a compile in the order in which XLA wrote them."""
    texts = [path for path in compiled("tpu").files if path.suffix == ".txt"]
    return sorted(texts, key=lambda path: "before_optimizations" not in path.name)


@pytest.fixture
def printed(files: list[Path], tmp_path: Path) -> Path:
    """Return the files as one stdout dump between lines of the program."""
    path = tmp_path / "stdout.txt"
    path.write_text(
        "step 0: loss 3.1\n"
        + "".join(
            f"*** Begin {file.name} ***\n{file.read_text('utf-8')}\n*** End {file.name} ***\n"
            for file in files
        ),
        "utf-8",
    )
    return path


def moved(facts: Any, path: Path, lines: int) -> Any:
    """Return facts about a file as facts about a section that begins ``lines`` lines lower."""
    if isinstance(facts, list):
        return [moved(one, path, lines) for one in facts]
    if not isinstance(facts, dict):
        return facts
    shifted = {
        key: value if key == "stack" else moved(value, path, lines) for key, value in facts.items()
    }
    if "path" in shifted and shifted["path"] is not None:
        shifted["path"] = str(path)
    if "line" in shifted and "path" in shifted and shifted["line"] is not None:
        shifted["line"] += lines
    return shifted


def test_section_is_inspected_like_a_file(files: list[Path], printed: Path) -> None:
    whole = run("inspect", printed, "--format", "json").json
    assert list(whole) == ["kind", "file_kind", "path", "parts"]
    assert (whole["kind"], whole["file_kind"]) == ("dump", "stdout-dump")
    by_name = {part["section"]: part for part in whole["parts"]}
    lines = printed.read_text("utf-8").split("\n")
    modules = [part for part in whole["parts"] if part["file_kind"] == "module"]
    assert len(modules) >= 2
    for file in files:
        part = by_name.get(file.name)
        if part is None:
            assert run("inspect", file).status == 2
            continue
        begin = part.pop("line")
        assert lines[begin - 2] == f"*** Begin {part.pop('section')} ***"
        if part["file_kind"] == "module":
            assert part == moved(run("inspect", file, "--format", "json").json, printed, begin - 1)
        else:
            alone = run("inspect", file, "--format", "json").json
            assert [one["id"] for one in part["values"]] == [one["id"] for one in alone["values"]]


def test_instruction_with_value_is_preferred(tmp_path: Path) -> None:
    path = tmp_path / "stdout.txt"
    path.write_text(_TWO, "utf-8")
    facts = run("inspect", path, "--instruction", "x", "--format", "json").json
    assert (facts["line"], facts["values"], facts["allocation"]) == (12, [0], 0)
    assert re.search(
        r"^allocation +0", run("inspect", path, "--instruction", "x").out, re.MULTILINE
    )


def test_check_reports_lines_of_the_whole_text(printed: Path) -> None:
    assert run("check", printed).status == 0
    lines = printed.read_text("utf-8").split("\n")
    number = next(n for n, text in enumerate(lines) if text.startswith("  %fusion.9 = "))
    lines[number] = lines[number].replace("%copy.11)", "%copy.12345)")
    printed.write_text("\n".join(lines), "utf-8")
    for where in (printed, printed.parent / "."):
        found = run("check", where, "--format", "json").findings
        assert [(one["code"], one["line"]) for one in found] == [
            ("undefined-instruction", number + 1)
        ]


_TWO = """\
*** Begin module_0000.f.before_optimizations.txt ***
HloModule f

ENTRY main {
  ROOT x = f32[8] parameter(0)
}

*** End module_0000.f.before_optimizations.txt ***
*** Begin module_0000.f.cpu_after_optimizations.txt ***
HloModule f
ENTRY main {
  ROOT x = f32[8]{0} parameter(0)
}

*** End module_0000.f.cpu_after_optimizations.txt ***
*** Begin module_0000.f.cpu_after_optimizations-buffer-assignment.txt ***
BufferAssignment:
allocation 0: size 32, parameter 0, shape |f32[8]| at ShapeIndex {}:
 value: <0 x @0> (size=32,offset=0): f32[8]{0}

*** End module_0000.f.cpu_after_optimizations-buffer-assignment.txt ***
"""
