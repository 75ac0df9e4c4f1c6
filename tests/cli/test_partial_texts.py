"""Texts of other stages, and texts that are cut off: what is unknown is not 0, and not equal."""

from pathlib import Path

import pytest

from cli.command import run
from reports.example import ASSIGNMENT, MODULE, STEM

_SINE = """\
HloModule jit_f, entry_computation_layout={(f32[8,8]{1,0})->f32[8,8]{1,0}}

%negated (p: f32[8,8]) -> f32[8,8] {
  %p = f32[8,8]{1,0} parameter(0)
  ROOT %n = f32[8,8]{1,0} negate(%p)
}

ENTRY %main (x: f32[8,8], y: f32[8,8]) -> f32[8,8] {
  %x = f32[8,8]{1,0} parameter(0)
  %y = f32[8,8]{1,0} parameter(1)
  %s = f32[8,8]{1,0} sine(%x)
  %d = f32[8,8]{1,0} dot(%s, %y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT %c = f32[8,8]{1,0} call(%d), to_apply=%negated
}
""".replace("{(f32[8,8]{1,0})->", "{(f32[8,8]{1,0}, f32[8,8]{1,0})->")
_COSINE = _SINE.replace("sine", "cosine")
_BEFORE_ENTRY = _SINE.partition("ENTRY")[0]
_IN_BODY = _SINE.partition("  ROOT %n")[0]
_IN_ENTRY = _SINE.partition("  ROOT %c")[0]


def _file(folder: Path, text: str, name: str = "a.txt") -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(text, "utf-8")
    return path


_BEFORE = "module_0001.jit_f.before_optimizations.txt"


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize(("text", "status"), [(_SINE, 0), (_COSINE, 1)])
def test_programs_before_optimizations_are_compared(
    tmp_path: Path, text: str, status: int, *, named: bool
) -> None:
    paths = [_file(tmp_path / "a", _SINE, _BEFORE), _file(tmp_path / "b", text, _BEFORE)]
    found = run("diff", *(path if named else path.parent for path in paths))
    assert found.status == status
    expected = "no differences" if status == 0 else "the program differs: 1 added, 1 removed"
    assert f"jit_f: {expected}" in found.out


@pytest.mark.parametrize("text", [_BEFORE_ENTRY, _IN_BODY, _IN_ENTRY])
def test_cut_text_cannot_be_compared(tmp_path: Path, text: str) -> None:
    path = _file(tmp_path, text)
    found = run("diff", path, path)
    assert found.status == 2
    assert "cannot be compared as a whole: a.txt" in found.out
    assert "a.txt" in found.err


@pytest.mark.parametrize("text", [_BEFORE_ENTRY, _IN_BODY])
def test_text_without_entry_has_no_cost(tmp_path: Path, text: str) -> None:
    found = run("cost", _file(tmp_path, text))
    assert (found.status, found.out) == (2, "")
    assert found.err.endswith(", so the cost is unknown\n")


def test_cost_of_cut_entry_is_lower_bound(tmp_path: Path) -> None:
    path = _file(tmp_path, _IN_ENTRY)
    assert run("cost", path).out.startswith("jit_f: at least 1.02 kFLOP")
    (module,) = run("cost", path, "--format", "json").json["modules"]
    assert module["executed"]["complete"] is False
    assert module["executed"]["missing_part"].startswith("a.txt is cut off at line 12")


@pytest.mark.parametrize("text", [_BEFORE_ENTRY, _IN_BODY, _IN_ENTRY])
def test_donation_of_cut_text_is_unknown(tmp_path: Path, text: str) -> None:
    assert "so the donation is unknown" in run("summary", "--donation", _file(tmp_path, text)).out


@pytest.mark.parametrize("text", [_BEFORE_ENTRY, _IN_BODY])
def test_overlap_without_entry_is_unknown(tmp_path: Path, text: str) -> None:
    path = _file(tmp_path, text)
    assert "so the overlap is unknown" in run("cost", "--collectives", path).out
    (module,) = run("cost", "--collectives", path, "--format", "json").json["modules"]
    assert (module["totals"], module["complete"]) == (None, False)


def test_overlap_of_cut_entry_is_partial(tmp_path: Path) -> None:
    path = _file(tmp_path, _IN_ENTRY.replace("jit_f,", "jit_f, is_scheduled=true,"))
    assert run("cost", "--collectives", path).out.startswith(
        "jit_f: only a part of the program: a.txt is cut"
    )
    assert (
        run("cost", "--collectives", path, "--format", "json").json["modules"][0]["complete"]
        is False
    )


def test_unmarked_computation_of_whole_text_is_entry(tmp_path: Path) -> None:
    text = MODULE.replace("ENTRY ", "")
    assert run("cost", _file(tmp_path, text)).status == 0


def test_unknown_memory_of_one_side_is_not_0(tmp_path: Path) -> None:
    text = _file(tmp_path / "a", MODULE, f"{STEM}.txt")
    _file(tmp_path / "b", MODULE, f"{STEM}.txt")
    _file(tmp_path / "b", ASSIGNMENT, f"{STEM}-buffer-assignment.txt")
    found = run("diff", text, tmp_path / "b")
    assert found.status == 1
    assert "jit_f: the same instructions, and the memory before is unknown\n" in found.out
    assert "HBM: allocated unknown -> 5.0 KiB\n" in found.out


def test_unknown_growth_ends_with_2(tmp_path: Path) -> None:
    path = _file(tmp_path, MODULE)
    found = run("diff", path, path, "--max-growth", "2%")
    assert found.status == 2
    assert "the growth is unknown" in found.err


def test_unbounded_array_makes_the_cost_a_lower_bound(tmp_path: Path) -> None:
    text = MODULE.replace("%c = f32[512]{0}", "%c = f32[?]{0}")
    path = _file(tmp_path, text)
    found = run("cost", path)
    assert found.out.startswith("jit_f: at least ")
    assert "1 array of unknown size, with an unbounded dimension: c\n" in found.out
    (module,) = run("cost", path, "--format", "json").json["modules"]
    assert module["executed"]["unbounded"] == ["c"]


def test_size_of_unbounded_argument_is_unknown(tmp_path: Path) -> None:
    path = _file(tmp_path, MODULE.replace("%x = f32[256]", "%x = f32[?]"))
    assert "jit_f: 1 argument, unknown\n" in run("summary", "--donation", path).out
    (module,) = run("summary", "--donation", path, "--format", "json").json["modules"]
    assert (module["complete"], module["arguments"][0]["bytes"]) == (False, None)
