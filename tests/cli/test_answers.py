"""The other answers of commands, and the options that all answers have."""

from pathlib import Path

import pytest

from cli.command import run
from reports.example import STEM

_ANSWERS = (
    *("summary", "summary --donation", "summary --padding", "summary --timeline"),
    *("summary --values", "cost", "cost --collectives", "modules", "find b", "check"),
)


@pytest.mark.parametrize(
    ("arguments", "option", "answer"),
    [
        ("summary --donation --group-by line --frames all", "--frames", "--donation"),
        ("summary --padding --at 2", "--at", "--padding"),
        ("summary --timeline --all", "--all", "--timeline"),
        ("cost --collectives --by scope", "--by", "--collectives"),
        ("modules --hosts --all", "--all", "--hosts"),
        ("check --explain --select syntax", "--select", "--explain"),
    ],
)
def test_option_without_effect_is_an_error(arguments: str, option: str, answer: str) -> None:
    found = run(*arguments.split(), ".")
    assert (found.status, found.out) == (2, "")
    assert found.err == f"hlo-lsp: {option} has no effect with {answer}\n"


def test_answers_exclude_each_other(dump: Path) -> None:
    found = run("summary", "--donation", "--padding", dump)
    assert found.status == 2
    assert "not allowed with argument" in found.err


@pytest.mark.parametrize("command", _ANSWERS)
def test_answer_goes_to_a_file(command: str, dump: Path, tmp_path: Path) -> None:
    for name, options in (
        ("a.txt", []),
        ("a.md", ["--format", "markdown"]),
        ("a.json", ["--format", "json"]),
    ):
        expected = run(*command.split(), dump, *options)
        found = run(*command.split(), dump, "-o", tmp_path / name)
        written = tmp_path / name
        assert (found.status, found.out, found.err) == (expected.status, "", expected.err)
        assert (written.read_text("utf-8") if written.exists() else "") == expected.out


def test_empty_answer_replaces_the_file(dump: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("yesterday", "utf-8")
    assert run("check", dump, "--select", "overlap", "-o", path).status == 0
    assert path.read_text("utf-8") == ""


@pytest.mark.parametrize("name", ["a.html", "a.pb.gz", "a.csv"])
def test_answer_is_no_page(name: str, dump: Path, tmp_path: Path) -> None:
    found = run("summary", dump, "-o", tmp_path / name)
    assert (found.status, found.out) == (2, "")
    assert "`hlo-lsp report` writes such files" in found.err
    assert not (tmp_path / name).exists()


def test_file_that_cannot_be_written_is_an_error(dump: Path, tmp_path: Path) -> None:
    found = run("summary", dump, "-o", tmp_path / "none" / "a.txt")
    assert (found.status, found.out) == (2, "")
    assert "cannot write" in found.err


@pytest.mark.parametrize("answer", ["--values", "--timeline"])
def test_step_can_be_the_peak(answer: str, dump: Path) -> None:
    assert run("summary", answer, dump, "--at", "peak").status == 0
    assert run("summary", dump, "--at", "peak") == run("summary", dump)


@pytest.mark.parametrize(
    ("spelling", "chip"),
    [("TPU v5e", "v5e"), ("V5E", "v5e"), ("H100 SXM", "h100"), ("TPU 7x", "tpu7x")],
)
def test_chip_can_be_named_as_it_is_printed(spelling: str, chip: str, dump: Path) -> None:
    assert run("cost", dump, "--chip", spelling) == run("cost", dump, "--chip", chip)


def test_values_at_the_peak_say_why_they_are_alive(dump: Path) -> None:
    found = run("summary", "--values", dump)
    assert found.status == 0
    first, titles, *rows = found.out.splitlines()
    assert first.startswith("jit_f: 5.0 KiB of HBM are occupied at step 2")
    assert titles.split() == ["bytes", "value", "Python", "line", "kept", "for"]
    assert any("the caller" in row or "step" in row for row in rows)


@pytest.mark.parametrize("name", ["b", "model.py:3", "p['w']", "f32[256]", "1"])
def test_buffer_can_be_named_as_it_is_printed(name: str, dump: Path) -> None:
    found = run("inspect", dump, name)
    assert found.status == 0, found.err
    assert "\nkept for" in found.out


def test_instruction_without_buffer_is_described(dump: Path) -> None:
    text = dump / f"{STEM}.txt"
    for path in dump.iterdir():
        if path != text:
            path.unlink()
    found = run("inspect", dump, "c", "--format", "json")
    assert found.status == 0
    assert found.json["values"] == []
    assert found.json["instruction"]["name"] == "c"


def test_unexpected_error_has_one_line(dump: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> int:
        raise ValueError("what\nwent wrong")

    monkeypatch.setattr("hlo_lsp.cli.cost.run", fail)
    found = run("cost", dump)
    assert (found.status, found.out) == (2, "")
    assert found.err == ("hlo-lsp: internal error: ValueError: what went wrong; -v shows where\n")
    with pytest.raises(ValueError, match="went wrong"):
        run("cost", dump, "-v")
