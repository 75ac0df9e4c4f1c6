"""Command lines without a command, with an old name, or with a word that is neither."""

import shutil
from pathlib import Path

import pytest

from cli.command import run, run_process
from hlo_lsp.cli.help_text import SHORT_HELP
from oom_messages import GPU
from reports.example import STEM
from stats.test_measured_programs import written_profile


def _same(found: tuple[str | Path, ...], expected: tuple[str | Path, ...], folder: Path) -> bool:
    return run(*found, cwd=folder) == run(*expected, cwd=folder)


def test_dump_or_folder_is_summarized(dump: Path) -> None:
    assert _same((dump,), ("summary", dump), dump)
    text = dump / f"{STEM}.txt"
    assert _same((text, "--format", "json"), ("summary", text, "--format", "json"), dump)


def test_options_can_precede_the_path(dump: Path) -> None:
    assert _same(("--format", "json", dump), ("summary", dump, "--format", "json"), dump)


def test_log_is_explained(dump: Path) -> None:
    log = dump / "train.log"
    log.write_text(GPU, "utf-8")
    assert _same((log,), ("oom", log), dump)
    assert _same((dump, log), ("oom", log, dump), dump)


def test_profile_is_shown(timed: Path) -> None:
    profile = timed.parent / "host.xplane.pb"
    assert _same((profile,), ("profile", profile), timed.parent)
    assert _same((timed, profile), ("profile", profile, timed), timed.parent)
    later = timed.parent / "later"
    later.mkdir()
    written_profile(later / "host.xplane.pb", dot=20, neg=30)
    (later / "notes.json").write_text("{}", "utf-8")
    assert _same((later,), ("profile", later), timed.parent)
    assert _same((profile, later), ("profile", later, "--compare", profile), timed.parent)


def test_two_dumps_are_compared(dump: Path, tmp_path: Path) -> None:
    shutil.copytree(dump, tmp_path / "after")
    after = tmp_path / "after"
    assert _same((dump, after), ("diff", dump, after), dump)


def test_two_files_of_a_compile_are_not_compared(dump: Path) -> None:
    files = tuple(sorted(dump.iterdir())[:2])
    assert _same(files, ("summary", *files), dump)


def test_dump_and_a_name_are_inspected(dump: Path) -> None:
    assert _same((dump, "c", "--format", "json"), ("inspect", dump, "c", "--format", "json"), dump)


def test_values_of_options_are_no_paths(dump: Path, tmp_path: Path) -> None:
    for _ in range(2):  # the second time, the file exists
        assert run(dump, "-o", tmp_path / "answer.md").status == 0
    assert run(dump, "--format", "json", "--workspace", dump).status == 0


def test_option_of_another_answer_chooses_its_command(dump: Path) -> None:
    assert _same((dump, "--collectives"), ("cost", dump, "--collectives"), dump)
    assert _same((dump, "--padding"), ("summary", dump, "--padding"), dump)


def test_folder_of_a_failed_compile_is_explained(dump: Path) -> None:
    log = dump / f"{STEM}.oom_message"
    log.write_text(GPU, "utf-8")
    assert _same((dump,), ("oom", log), dump)
    assert _same((dump, dump), ("diff", dump, dump), dump)


def test_folder_without_a_dump_is_an_error(tmp_path: Path) -> None:
    for paths in ((tmp_path,), (tmp_path, tmp_path)):
        found = run(*paths)
        assert (found.status, found.out) == (2, "")
        assert found.err.endswith(f"{tmp_path}: no dumps in this folder\n")
    assert "no *.oom_* file" in run("oom", tmp_path).err


def test_python_program_is_not_run(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("raise ValueError", "utf-8")
    found = run("train.py", cwd=tmp_path)
    assert (found.status, found.out) == (2, "")
    assert "hlo-lsp run -- python train.py" in found.err


@pytest.mark.parametrize("arguments", [(), ("summary",)])
def test_standard_input_is_read(arguments: tuple[str, ...], dump: Path) -> None:
    text = (dump / f"{STEM}.txt").read_text("utf-8")
    found = run_process(*arguments, "-", text=text)
    assert found.status == 0
    assert found.out.startswith("jit_f · ")


def test_standard_input_has_a_name(dump: Path) -> None:
    assert run_process("cost", "-", text="nothing").err.startswith("hlo-lsp: standard input: ")
    found = run_process("check", "-", text="HloModule m\n\nENTRY e {\n  ROOT a = f32[] }\n")
    assert "standard input:" in found.out


@pytest.mark.parametrize(
    ("word", "command"),
    [
        ("memory", "summary PATH"),
        ("peak", "summary PATH"),
        ("who", "summary PATH"),
        ("owner", "summary PATH"),
        ("time", "cost PATH"),
        ("flops", "cost PATH"),
        ("leak", "inspect PATH NAME"),
        ("recompile", "modules PATH"),
        ("donate", "summary --donation PATH"),
        ("collective", "cost --collectives PATH"),
        ("sumary", "summary"),
        ("inspekt", "inspect"),
    ],
)
def test_other_word_names_the_command(word: str, command: str) -> None:
    found = run(word, "x.txt")
    assert (found.status, found.out) == (2, "")
    expected = f"`{word}` is neither a command nor a file; did you mean `hlo-lsp {command}`?"
    assert expected in found.err


def test_unlike_word_has_no_suggestion() -> None:
    assert "did you mean" not in run("words").err


def test_missing_name_can_be_searched() -> None:
    assert "`hlo-lsp find train.py:27 PATH`" in run("train.py:27").err


def test_missing_path_is_no_command(tmp_path: Path) -> None:
    found = run("missing/x.txt", cwd=tmp_path)
    assert (found.status, found.out) == (2, "")
    assert "missing/x.txt: No such file or directory" in found.err


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("donation {}", "summary --donation {}"),
        ("donation -n 1 {} --format json", "summary --donation -n 1 {} --format json"),
        ("padding {}", "summary --padding {}"),
        ("timeline {} --at 2", "summary --timeline {} --at 2"),
        ("overlap {} --chip v5e", "cost --collectives {} --chip v5e"),
        ("hosts {}", "modules --hosts {}"),
        ("why {} c", "inspect {} c"),
        ("export {} --folded", "report {} --as folded -o -"),
        ("export --kernels {}", "report {} --as csv -o -"),
        ("rule overlap --format json", "check --explain overlap --format json"),
        ("rule", "check --explain"),
        ("rule --all", "check --explain --format markdown"),
    ],
)
def test_old_name_gives_the_answer_and_names_the_new_one(old: str, new: str, dump: Path) -> None:
    found, expected = (run(*line.format(dump).split()) for line in (old, new))
    first, *rest = found.err.splitlines(keepends=True)
    assert (found.status, found.out) == (expected.status, expected.out)
    assert "".join(rest) == expected.err
    assert first.startswith(f"hlo-lsp: `{old.split(maxsplit=1)[0]}` is now `")


def test_file_does_not_hide_a_command(dump: Path) -> None:
    folder = dump.rename(dump.parent / "rule")
    found = run("rule", "overlap", cwd=folder.parent)
    assert (found.status, found.out) == (0, run("check", "--explain", "overlap").out)


def test_command_can_follow_options(dump: Path) -> None:
    expected = run("summary", dump, "--format", "json")
    assert run("--format", "json", "summary", dump) == expected
    assert run("-v", "help").out == SHORT_HELP


def test_other_answer_of_several_paths_is_no_comparison(dump: Path) -> None:
    assert _same((dump, dump, "--table"), ("summary", "--table", dump, dump), dump)
    assert run("--explain", "padding-waste").status == 0


def test_text_among_dumps_is_no_log(dump: Path) -> None:
    note = dump / "notes.md"
    note.write_text("Some notes.\n", "utf-8")
    assert _same((dump, note), ("summary", dump, note), dump)


def test_file_named_like_an_option_runs_no_code(dump: Path) -> None:
    found = run("--executor=json:dumps", "--import-from=.", dump)
    assert (found.status, found.out) == (2, "")
    assert "follow a command" in found.err
    for more in ("--hosts", "summary"):  # which can be names of files, too
        found = run("--executor=json:dumps", more, dump)
        assert (found.status, found.out) == (2, "")
        assert "follow a command" in found.err
    found = run("--", "--executor=json:dumps")
    assert (found.status, found.out) == (2, "")
    assert "--executor=json:dumps" in found.err
