"""Tests for settings of the user and reports of invalid values."""

from pathlib import Path

import pytest

from hlo_lsp.checks.framework.options import CheckOptions
from hlo_lsp.lsp.settings import Settings, hlo_section, section_of_options

FOLDER = Path("/work space").absolute()


def source_map_rules(setting: object, folder: Path | None = FOLDER) -> dict[str, Path]:
    settings, problems = Settings.of([{"sourceMap": setting}], folder)
    assert problems == []
    return dict(settings.source_map.rules)


def test_missing_settings_have_defaults() -> None:
    cases: list[list[object]] = [[], [None], [{}], [[]], [{"sourceMap": None}], [{"unknown": 3}]]
    for sections in cases:
        assert Settings.of(sections) == (Settings(), [])


def test_source_map_paths_are_expanded() -> None:
    assert source_map_rules(
        {
            "/a": "/x/y",
            "/b": "~/y",
            "/c": "${workspaceFolder}/y",
            "/d": "${workspaceFolder}",
            "/e": "src",
        }
    ) == {
        "/a": Path("/x/y"),
        "/b": Path.home() / "y",
        "/c": FOLDER / "y",
        "/d": FOLDER,
        "/e": FOLDER / "src",
    }


@pytest.mark.parametrize("path", ["src", "${workspaceFolder}/src", "${workspaceFolder}"])
def test_relative_path_without_workspace_is_reported(path: str) -> None:
    settings, problems = Settings.of([{"sourceMap": {"/a": path, "/b": "/x"}}], None)
    assert dict(settings.source_map.rules) == {"/b": Path("/x")}
    assert problems == [f'hlo.sourceMap: cannot resolve the path "{path}" for "/a"']


def test_later_sections_override_earlier_ones() -> None:
    first, second = {"sourceMap": {"/a": "/x"}}, {"sourceMap": {"/a": "/y"}}
    for sections in ([first, second], [second, first, second, None], [second, {"sourceMap": None}]):
        assert dict(Settings.of(sections)[0].source_map.rules) == {"/a": Path("/y")}


@pytest.mark.parametrize("section", ["x", 3, True, ["x"]])
def test_section_of_wrong_type_is_reported(section: object) -> None:
    settings, problems = Settings.of([section, {"sourceMap": {"/a": "/x"}}])
    assert dict(settings.source_map.rules) == {"/a": Path("/x")}
    assert problems == ["hlo: must be an object"]


def test_invalid_values_are_reported_with_their_setting() -> None:
    settings, problems = Settings.of([{"sourceMap": "/x"}])
    assert settings == Settings()
    assert problems == ['hlo.sourceMap: must be an object {"path in the dump": "local path"}']


@pytest.mark.parametrize(
    ("options", "section"),
    [
        ({"sourceMap": {}}, {"sourceMap": {}}),
        ({"hlo": {"sourceMap": {}}, "lensTexts": "at once"}, {"sourceMap": {}}),
        ({"hlo": "x"}, "x"),
        (None, None),
        ("x", None),
        ([], None),
    ],
)
def test_initialization_options_may_have_an_hlo_section(options: object, section: object) -> None:
    assert section_of_options(options) == section


@pytest.mark.parametrize("settings", [None, "x", [], {}, {"other": {}}, {"sourceMap": {}}])
def test_settings_of_other_programs_are_ignored(settings: object) -> None:
    assert hlo_section(settings) is None
    assert hlo_section({"hlo": {"a": 1}}) == {"a": 1}


def test_check_options_are_read() -> None:
    options = {"select": ["default", "layout-copy"], "ignore": ["syntax"], "severity": "warning",
               "thresholds": {"share": 0.3}}  # fmt: skip
    settings, problems = Settings.of([{"check": options}])
    assert problems == []
    assert settings.check == CheckOptions.of(options)[0]
    assert settings.check.ignore == {"syntax"}


def test_invalid_check_options_are_reported_with_their_setting() -> None:
    check = {"ignore": ["syntax", "overlapp"], "severity": 3, "thresholds": {"sizes": 1}}
    settings, problems = Settings.of([{"check": check}])
    assert settings.check.ignore == {"syntax"}
    assert problems == [
        "hlo.check.ignore: unknown rule `overlapp`; did you mean `overlap`?",
        "hlo.check.severity: must be one of error, warning, information, hint",
        "hlo.check.thresholds.sizes: unknown threshold `sizes`; did you mean `size`?",
    ]
    assert Settings.of([{"check": "syntax"}]) == (Settings(), ["hlo.check: must be an object"])


@pytest.mark.parametrize("value", [True, "some", ["all"], 1])
def test_invalid_python_notes_value_is_reported(value: object) -> None:
    settings, problems = Settings.of([{"pythonNotes": value}])
    assert settings == Settings()
    assert problems == ["hlo.pythonNotes: must be off, large, or all"]


@pytest.mark.parametrize("value", ["/home", [1], {}, [""]])
def test_invalid_workspace_setting_is_reported(value: object) -> None:
    settings, problems = Settings.of([{"workspace": value}])
    assert settings == Settings()
    assert problems == ["hlo.workspace: must be a list of paths in quotes"]


def test_profile_is_a_path_in_the_workspace_folder(tmp_path: Path) -> None:
    settings, problems = Settings.of([{"profile": "runs/1"}], tmp_path)
    assert (settings.profile, problems) == (tmp_path / "runs" / "1", [])
    assert Settings.of([{"profile": ""}])[0].profile is None
    wrong: object
    for wrong in ("runs/1", 3, []):
        assert Settings.of([{"profile": wrong}])[1] == [
            "hlo.profile: must be an absolute path, or one in the workspace folder"
        ]


def test_chip_is_a_known_one() -> None:
    assert Settings.of([{"chip": "v5e"}])[0].check.chip == "v5e"
    assert Settings.of([{"chip": ""}])[0].check.chip is None
    assert Settings.of([{"chip": "v5e", "check": {"chip": "v5p"}}])[0].check.chip == "v5p"
    wrong: object
    for wrong in ("v1", 3, []):
        settings, (problem,) = Settings.of([{"chip": wrong}])
        assert settings.check.chip is None
        assert problem.startswith("hlo.chip: must be one of v2, v3, v4, v5e, ")
