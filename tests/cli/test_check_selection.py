"""Which findings there are, and whether they count: options and ``hlo-lsp.toml``."""

from pathlib import Path

import pytest

from cli.running import Ran, run
from hlo_lsp.checks.config.config_file import CONFIG_FILE_NAME

BOTH = ["size-mismatch", "out-of-bounds"]


def codes(ran: Ran) -> list[str]:
    return [finding["code"] for finding in ran.json]


def check(path: Path, *arguments: str) -> Ran:
    return run("check", path, "--format", "json", *arguments)


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (["--select", "size-mismatch"], ["size-mismatch"]),
        (["--select", "size,out"], BOTH),
        (["--select", "size", "--select", "out-of"], BOTH),
        (["--select", "all", "--ignore", "size", "--severity", "error"], ["out-of-bounds"]),
        (["--ignore", "size-mismatch, out-of-bounds,"], []),
        (["--select", "live-range"], []),
        (["--select", ""], []),
    ],
)
def test_rules_are_chosen(damaged: Path, arguments: list[str], found: list[str]) -> None:
    ran = check(damaged, *arguments)
    assert (ran.status, codes(ran), ran.err) == (1 if found else 0, found, "")


def test_an_unknown_rule_is_wrong_usage(damaged: Path) -> None:
    ran = check(damaged, "--select", "size-mismach,syntax", "--ignore", "qqq")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err == (
        "hlo-lsp: --select: unknown rule `size-mismach`; did you mean `size-mismatch`?\n"
        "hlo-lsp: --ignore: unknown rule `qqq`; `hlo-lsp rule` lists them\n"
    )


def test_the_status_may_be_zero_whatever_is_found(damaged: Path, tmp_path: Path) -> None:
    ran = check(damaged, "--exit-zero")
    assert (ran.status, codes(ran)) == (0, BOTH)
    assert run("check", damaged, tmp_path / "gone", "--exit-zero").status == 2


@pytest.fixture
def wasteful(tmp_path: Path) -> Path:
    """A dump of one array that is padded from 1 to 128 MiB / 1024: nothing is wrong with it."""
    path = tmp_path / "wasteful" / "dump.txt"
    path.parent.mkdir()
    path.write_text(
        "BufferAssignment:\n"
        "allocation 0: size 8388608, maybe-live-out:\n"
        " value: <0 a @0> (size=8388608,offset=0): f32[16384,1]{1,0:T(8,128)}\n",
        "utf-8",
    )
    return path


def test_advice_counts_when_it_is_asked_for(wasteful: Path) -> None:
    only = ["--select", "padding-waste"]
    for lowest, status, found in (
        ([], 0, ["padding-waste"]),
        (["--severity", "information"], 1, ["padding-waste"]),
        (["--severity", "hint"], 1, ["padding-waste"]),
        (["--severity", "warning"], 0, []),
    ):
        ran = check(wasteful, *only, *lowest)
        assert (ran.status, codes(ran)) == (status, found)


def test_what_is_found_is_summed_up(wasteful: Path, damaged: Path) -> None:
    only = ["--select", "padding-waste,size-mismatch"]
    assert run("check", wasteful, *only).err == "1 piece of advice in 1 of 1 file\n"
    assert run("check", wasteful, damaged, *only).err == (
        "1 problem and 1 piece of advice in 2 of 2 files\n"
    )


def test_a_file_beside_the_dump_has_a_say_and_the_command_line_the_last(wasteful: Path) -> None:
    settings = wasteful.with_name(CONFIG_FILE_NAME)
    settings.write_text('select = ["padding-waste", "size-mismatch"]\n', "utf-8")
    assert codes(check(wasteful)) == ["padding-waste"]
    assert codes(check(wasteful, "--ignore", "padding-waste")) == []
    settings.write_text('ignore = ["padding-waste"]\nseverity = "information"\n', "utf-8")
    assert codes(check(wasteful)) == []
    ran = check(wasteful, "--select", "padding-waste")
    assert (codes(ran), ran.status) == (["padding-waste"], 1)
    settings.write_text("thresholds.padding_bytes = 8388609\n", "utf-8")
    assert codes(check(wasteful, "--select", "padding-waste")) == []


def test_a_wrong_settings_file_is_told_with_its_line(wasteful: Path) -> None:
    settings = wasteful.with_name(CONFIG_FILE_NAME)
    settings.write_text('# wishes\nignore = ["padding"]\nselect = ["padding-wast"]\n', "utf-8")
    ran = check(wasteful)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err == (
        f"hlo-lsp: {settings}:3: select: unknown rule `padding-wast`;"
        " did you mean `padding-waste`?\n"
    )
