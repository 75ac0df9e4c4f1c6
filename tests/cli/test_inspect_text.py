"""``hlo-lsp inspect`` as text."""

from collections.abc import Callable
from pathlib import Path

import pytest

from cli.command import CommandResult, run
from e2e.compiles import Compile
from stats.test_measured_programs import written_profile

Compiled = Callable[[str], Compile]


def facts(result: CommandResult) -> dict[str, str]:
    """Return the title and the facts of a printed card."""
    assert (result.status, result.err) == (0, "")
    title, headline, *lines = result.out.rstrip("\n").split("\n")
    pairs = (line.partition("  ") for line in lines)
    return {
        "title": title,
        "headline": headline,
        **{label: words.strip() for label, _, words in pairs},
    }


def test_value_is_printed_as_card(sample: Path) -> None:
    card = facts(run("inspect", sample, "--value", "174", COLUMNS="200"))
    assert card["title"] == "pad_add_fusion"
    assert (
        card["headline"]
        == "1.0 KiB in HBM · whole program, written at step 12 · tpu.py:79 concatenate"
    )
    assert card["padded size"] == "1,024 B (1.0 KiB): padded to T(2,128)"
    assert card["padding"] == "1,000 B, 97.7%: dim 0: 3 -> 128 by T(2,128)"
    assert card["allocation"].endswith("bytes 0 to 1,024")
    assert card["source"] == "/home/ptoulme/tpu.py:79"


def test_position_prints_its_target(sample: Path) -> None:
    value = run("inspect", sample, "--value", "174")
    assert value.status == 0
    for place in ("6", "6:9", "6:20", "95", "95:1", "128", "128:5"):
        assert run("inspect", sample, "--at", place).out == value.out, place
    instruction = run("inspect", sample, "--instruction", "xor.4")
    assert instruction.status == 0
    for place in ("58", "58:3", "111", "61:22"):
        assert run("inspect", sample, "--at", place).out == instruction.out, place
    assert run("inspect", sample, "--instruction", "%xor.4").out == instruction.out


def test_companion_files_are_read(compiled: Compiled) -> None:
    files = compiled("tpu")
    whole = run("inspect", files.assignment, "--value", "23")
    assert "25-27" in whole.out
    for path in (files.values, files.live_range, files.report, files.module):
        assert run("inspect", path, "--value", "23").out == whole.out, path.name
    alone = compiled("cpu")
    for path in (alone.values, alone.live_range, alone.module):
        path.unlink()
    assert "live range" not in run("inspect", alone.assignment, "--value", "29").out


def test_piped_card_has_one_line_per_fact(sample: Path) -> None:
    result = run("inspect", sample, "--value", "170")
    assert "\x1b" not in result.out
    assert "`" not in result.out
    labels = [line.split("  ")[0] for line in result.out.rstrip("\n").split("\n")[2:]]
    assert all(label and not label.startswith(" ") for label in labels), result.out


@pytest.mark.parametrize("columns", ["40", "80", "400"])
def test_any_terminal_width_keeps_all_text(sample: Path, columns: str) -> None:
    result = run("inspect", sample, "--value", "166", COLUMNS=columns)
    squeezed = "".join(result.out.split())
    assert "add_add_fusion,xor.4,bitcast.1" in squeezed
    assert "jit(_threefry_split)/jit(main)/slice" in squeezed
    assert "/home/ptoulme/tpu.py:79" in squeezed


def test_colors_can_be_forced(sample: Path) -> None:
    assert "\x1b[" in run("inspect", sample, "--value", "170", FORCE_COLOR="1").out


def test_times_are_those_of_the_hover(timed: Path, tmp_path: Path) -> None:
    out = run("inspect", timed, "--instruction", "neg", "--chip", "v5e", COLUMNS="200").out
    assert "512.0 KiB accessed, 0.125 FLOP/B: at least 640 ns on TPU v5e, bound by memory" in out
    assert "30.0 µs a run (75.0% of own times)\n" in out  # of a CPU, which no roofline describes
    computation = run("inspect", timed, "--computation", "e").out
    assert "time          40.0 µs a run (100% of own times)" in computation
    other = written_profile(tmp_path / "other.xplane.pb", dot=20, neg=20)
    found = run("inspect", timed, "--instruction", "neg", "--profile", other)
    assert "20.0 µs a run (50.0% of own times)" in found.out


def test_profile_of_another_program_is_named(timed: Path, tmp_path: Path) -> None:
    other = written_profile(tmp_path / "other.xplane.pb", name="g", dot=20)
    found = run("inspect", timed, "--instruction", "neg", "--profile", other)
    assert found.err == f"hlo-lsp: {other}: no run of this dump\n"
    assert "measured" not in found.out
