"""``hlo-lsp.toml``: where it is looked for, and what is said of its lines."""

from pathlib import Path

import pytest

from hlo_lsp.checks.wishes.settings_file import NAME, read_settings_file, settings_file_of


def errors(tmp_path: Path, text: str) -> list[str]:
    path = tmp_path / NAME
    path.write_text(text, "utf-8")
    return [str(error).removeprefix(str(path)) for error in read_settings_file(path).errors]


def test_the_nearest_file_counts(tmp_path: Path) -> None:
    deep = tmp_path / "a" / "b" / "c"
    deep.mkdir(parents=True)
    (tmp_path / NAME).touch()
    assert settings_file_of(deep) == tmp_path / NAME
    (tmp_path / "a" / "b" / NAME).touch()
    assert settings_file_of(deep) == tmp_path / "a" / "b" / NAME
    assert settings_file_of(tmp_path / "a") == tmp_path / NAME


def test_a_relative_folder_has_parents_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / NAME).touch()
    monkeypatch.chdir(tmp_path / "here")
    assert settings_file_of(Path()) == tmp_path / NAME


def test_a_folder_of_that_name_is_no_file(tmp_path: Path) -> None:
    (tmp_path / NAME).touch()
    (tmp_path / "a" / NAME).mkdir(parents=True)
    assert settings_file_of(tmp_path / "a") == tmp_path / NAME


def test_a_good_file(tmp_path: Path) -> None:
    path = tmp_path / NAME
    path.write_text(
        "\ufeffselect = ['default', 'live-range']  # all of them\n"
        'ignore = ["overlap"]\nseverity = "error"\n[thresholds]\npadding_bytes = 1_000\n',
        "utf-8",
    )
    read = read_settings_file(path)
    assert read.errors == ()
    assert read.wishes.select is not None
    assert "live-range-bounds" in read.wishes.select
    assert read.wishes.ignore == {"overlap"}
    assert read.wishes.thresholds == {"padding_bytes": 1000}


def test_an_empty_file_says_nothing(tmp_path: Path) -> None:
    assert errors(tmp_path, "") == []
    assert errors(tmp_path, "# nothing yet\n") == []


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('select = ["syntax"]\nignore = [\n', 2),
        ("a = 1\nb = ?\n", 2),
        ("select = []\nselect = []\n", 2),
        ("\n\n= 3\n", 3),
    ],
)
def test_what_is_no_toml_is_told_with_its_line(tmp_path: Path, text: str, line: int) -> None:
    (error,) = errors(tmp_path, text)
    assert error.startswith(f":{line}: ")
    assert "(at" not in error


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (
            '# ignored: select\nignore = [\n  "syntax",\n  "overlapp",\n]\n',
            ":4: ignore: there is no rule `overlapp`; did you mean `overlap`?",
        ),
        (
            "ignore = []\n\nselct = ['syntax']\n",
            ":3: selct: there is no key `selct`; did you mean `select`?",
        ),
        ('"ignore" = 3\n', ":1: ignore: it must be a list of codes"),
        (
            "# padding_bytes = 1\n[thresholds]\nconstant_bytes = 1\npadding_bytes = -1\n",
            ":4: thresholds.padding_bytes: it must be a number from 0 on",
        ),
        (
            "ignore = []\nthresholds = { constant_bytes = 1, padding_bytes = 0.5 }\n",
            ":2: thresholds.padding_bytes: it must be a whole number",
        ),
        (
            "\nthresholds.long_lived = 3\n",
            ":2: thresholds.long_lived: there is no threshold `long_lived`;"
            " did you mean `long_lived_count`?",
        ),
        ("severity = 'fatal'", ":1: severity: it must be one of error, warning, information, hint"),
    ],
)
def test_what_cannot_be_used_is_told_with_its_line(tmp_path: Path, text: str, error: str) -> None:
    assert errors(tmp_path, text) == [error]


def test_every_error_is_told(tmp_path: Path) -> None:
    told = errors(tmp_path, 'ignore = ["x-1"]\nselect = ["syntax", "x-2"]\nother = 1\n')
    assert [error.split(":")[1] for error in told] == ["3", "2", "1"]


def test_what_is_wrong_does_not_hide_the_rest(tmp_path: Path) -> None:
    path = tmp_path / NAME
    path.write_text('ignore = ["syntax", "nonsense"]\nother = 1\n', "utf-8")
    assert read_settings_file(path).wishes.ignore == {"syntax"}


def test_what_is_no_text_is_told(tmp_path: Path) -> None:
    path = tmp_path / NAME
    path.write_bytes(b"\xff\xfe\0")
    assert [str(error) for error in read_settings_file(path).errors] == [
        f"{path}:1: this is no UTF-8 text"
    ]
    gone = tmp_path / "gone.toml"
    assert [error.message for error in read_settings_file(gone).errors] == [
        "No such file or directory"
    ]
