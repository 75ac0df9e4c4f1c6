"""The order of findings in many files."""

from pathlib import Path

import pytest

from cli.command import run, run_process

GOOD = "HloModule m\n\nENTRY %main {\n  ROOT %a = f32[] constant(1)\n}\n"
BAD = GOOD.replace("constant(1)", "negate(%b)")
WASTEFUL = (
    "BufferAssignment:\nallocation 0: size 8388608, maybe-live-out:\n"
    " value: <0 a @0> (size=8388608,offset=0): f32[16384,1]{1,0:T(8,128)}\n"
)
FILLING = "// a long line of filling\n" * 1_500  # in sum large enough for a second process


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return forty modules; number 9 is wasteful, 31 and 5 are broken."""
    for number in range(40):
        folder = tmp_path / "dumps" / f"part {number % 2}"
        folder.mkdir(parents=True, exist_ok=True)
        text = {5: BAD, 9: WASTEFUL, 31: BAD}.get(number, GOOD + FILLING)
        (folder / f"module_{number:04}.jit_f.txt").write_text(text, "utf-8")
    return tmp_path / "dumps"


def test_files_with_errors_come_first(folder: Path) -> None:
    result = run_process("check", folder, "--format", "json", "--jobs", "2")
    found = [(finding["path"][-20:], finding["code"]) for finding in result.findings]
    assert found == [
        ("module_0005.jit_f.txt"[-20:], "undefined-instruction"),
        ("module_0031.jit_f.txt"[-20:], "undefined-instruction"),
        ("module_0009.jit_f.txt"[-20:], "padding-waste"),
    ]
    assert result.status == 1


def test_advice_on_the_largest_module_comes_first(tmp_path: Path) -> None:
    sizes = {"a": WASTEFUL, "b": WASTEFUL.replace("8388608", "16777216").replace("16384", "32768")}
    for name, text in sizes.items():
        (tmp_path / f"module_0001.jit_{name}.txt").write_text(text, "utf-8")
    found = run("check", tmp_path, "--format", "json")
    assert [Path(one["path"]).name[-5] for one in found.findings] == ["b", "a"]


def test_argument_order_is_kept(folder: Path) -> None:
    late, early = (next(folder.rglob(f"module_00{number}*")) for number in ("31", "05"))
    result = run("check", late, early, "--format", "json")
    assert [finding["path"] for finding in result.findings] == [str(late), str(early)]


@pytest.mark.parametrize("jobs", ["0", "-1", "two"])
def test_jobs_must_be_positive(folder: Path, jobs: str) -> None:
    result = run("check", folder, "--jobs", jobs)
    assert result.status == 2
    assert "--jobs" in result.err
