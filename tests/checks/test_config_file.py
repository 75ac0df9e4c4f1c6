"""Tests for the lookup of ``hlo-lsp.toml`` and the lines of its errors."""

import sys
from pathlib import Path

import pytest

from hlo_lsp.checks.config_file import (
    CONFIG_FILE_NAME,
    find_config_file,
    read_config_file,
    with_ignored_code,
)


def errors(tmp_path: Path, text: str) -> list[str]:
    path = tmp_path / CONFIG_FILE_NAME
    path.write_text(text, "utf-8")
    return [str(error).removeprefix(str(path)) for error in read_config_file(path).errors]


def test_nearest_file_is_used(tmp_path: Path) -> None:
    deep = tmp_path / "a" / "b" / "c"
    deep.mkdir(parents=True)
    (tmp_path / CONFIG_FILE_NAME).touch()
    assert find_config_file(deep) == tmp_path / CONFIG_FILE_NAME
    (tmp_path / "a" / "b" / CONFIG_FILE_NAME).touch()
    assert find_config_file(deep) == tmp_path / "a" / "b" / CONFIG_FILE_NAME
    assert find_config_file(tmp_path / "a") == tmp_path / CONFIG_FILE_NAME


def test_relative_folder_has_parents_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / CONFIG_FILE_NAME).touch()
    monkeypatch.chdir(tmp_path / "here")
    assert find_config_file(Path()) == tmp_path / CONFIG_FILE_NAME


def test_folder_of_that_name_is_no_file(tmp_path: Path) -> None:
    (tmp_path / CONFIG_FILE_NAME).touch()
    (tmp_path / "a" / CONFIG_FILE_NAME).mkdir(parents=True)
    assert find_config_file(tmp_path / "a") == tmp_path / CONFIG_FILE_NAME


def test_valid_file_has_no_errors(tmp_path: Path) -> None:
    path = tmp_path / CONFIG_FILE_NAME
    path.write_text(
        "\ufeffselect = ['default', 'live-range']  # all of them\n"
        'ignore = ["overlap"]\nseverity = "error"\n[thresholds]\nsize = 1_000\n',
        "utf-8",
    )
    read = read_config_file(path)
    assert read.errors == ()
    assert read.options.select is not None
    assert "live-range-bounds" in read.options.select
    assert read.options.ignore == {"overlap"}
    assert read.options.thresholds == {"size": 1000}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('select = ["syntax"]\nignore = [\n', 2),
        ("a = 1\nb = ?\n", 2),
        ("select = []\nselect = []\n", 2),
        ("\n\n= 3\n", 3),
    ],
)
def test_invalid_toml_is_reported_with_its_line(tmp_path: Path, text: str, line: int) -> None:
    (error,) = errors(tmp_path, text)
    assert error.startswith(f":{line}: ")
    assert "(at" not in error


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ('# ignored: select\nignore = [\n  "syntax",\n  "overlapp",\n]\n',
         ":4: ignore: unknown rule `overlapp`; did you mean `overlap`?"),
        ("ignore = []\n\nselct = ['syntax']\n",
         ":3: selct: unknown key `selct`; did you mean `select`?"),
        ('"ignore" = 3\n', ":1: ignore: must be a list of codes"),
        ("# size = 1\n[thresholds]\nshare = 1\nsize = -1\n",
         ":4: thresholds.size: must be a number of at least 0"),
        ("ignore = []\nthresholds = { share = 1, size = 0.5 }\n",
         ":2: thresholds.size: must be an integer"),
        ("\nthresholds.shares = 3\n",
         ":2: thresholds.shares: unknown threshold `shares`; did you mean `share`?"),
        ("severity = 'fatal'", ":1: severity: must be one of error, warning, information, hint"),
    ],
)  # fmt: skip
def test_invalid_value_is_reported_with_its_line(tmp_path: Path, text: str, error: str) -> None:
    assert errors(tmp_path, text) == [error]


def test_binary_file_is_reported(tmp_path: Path) -> None:
    path = tmp_path / CONFIG_FILE_NAME
    path.write_bytes(b"\xff\xfe\0")
    assert [str(error) for error in read_config_file(path).errors] == [f"{path}:1: not UTF-8 text"]
    gone = tmp_path / "gone.toml"
    assert [error.message for error in read_config_file(gone).errors] == [
        "No such file or directory"
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 'ignore = ["x"]\n'),
        ("# mine\n", '# mine\nignore = ["x"]\n'),
        ('ignore = ["a"]\n', 'ignore = ["a", "x"]\n'),
        ("ignore = []\n", 'ignore = ["x"]\n'),
        ('ignore = [\n  "a", # why\n]\n', 'ignore = [\n  "a", # why\n  "x",\n]\n'),
        ("[thresholds]\nx = 3\n", 'ignore = ["x"]\n\n[thresholds]\nx = 3\n'),
    ],
)
def test_ignored_code_is_added(text: str, expected: str) -> None:
    assert with_ignored_code(text, "x") == expected


@pytest.mark.parametrize("text", ['ignore = ["x"]', "ignore = [", 'ignore = "a"', "ignore.a = 1"])
def test_ignored_code_is_added_once_to_toml_only(text: str) -> None:
    assert with_ignored_code(text, "x") is None


# Python 3.10 reads TOML with tomli, which limits the parts of a key.
_DEEP_KEY = ":1: a: unknown key `a`" if sys.version_info >= (3, 11) else ":1: nested too deeply"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("a = " + "[" * 10_000, ":1: nested too deeply"),
        ("a = " + "{b=" * 10_000, ":1: nested too deeply"),
        (f"a = {'4' * 5000}", ":1: Exceeds the limit (4300"),
        (f"[{'.'.join('a' * 10_000)}]", _DEEP_KEY),
    ],
    ids=["lists", "tables", "digits", "dotted key"],
)
def test_deep_and_long_values_are_reported(tmp_path: Path, text: str, error: str) -> None:
    (found,) = errors(tmp_path, text)
    assert found.startswith(error)
    assert with_ignored_code(text, "overlap") is None or text.startswith("[")


def test_huge_files_are_not_read(tmp_path: Path) -> None:
    assert errors(tmp_path, "#" * 2_000_000) == [":1: larger than 1,048,576 bytes"]
