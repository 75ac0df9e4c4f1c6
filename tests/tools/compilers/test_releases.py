"""Tests for the choice of releases and Pythons."""

from pathlib import Path

import pytest

from compilers.environments import required_libtpu
from compilers.releases import (
    Interpreter,
    first_python,
    installed_pythons,
    is_watched,
    listed_versions,
    suitable_pythons,
)

_INTERPRETERS = [
    Interpreter(Path(f"/usr/bin/python3.{minor}"), (3, minor)) for minor in (13, 10, 11, 12)
]


def test_listing_gives_releases_newest_first() -> None:
    listing = "jax (0.12.0.1)\nAvailable versions: 0.12.0.1, 0.11.2, 0.4.30, 0.4.29, 0.4.9\n"
    versions = listed_versions(listing)
    assert versions == ["0.12.0.1", "0.11.2", "0.4.30", "0.4.29", "0.4.9"]
    assert [one for one in versions if is_watched(one)] == versions[:3]


def test_listing_without_versions_is_an_error() -> None:
    with pytest.raises(ValueError, match="no matching distribution"):
        listed_versions("no matching distribution")


@pytest.mark.parametrize(
    ("release", "expected"),
    [
        ("0.4.35", ["3.10", "3.11", "3.12", "3.13"]),
        ("0.10.2", ["3.11", "3.12", "3.13"]),
        ("0.11.0", ["3.12", "3.13"]),
        ("0.13.0.dev20270101", ["3.12", "3.13"]),
    ],
)
def test_release_tries_oldest_supported_python_first(release: str, expected: list[str]) -> None:
    assert [one.name for one in suitable_pythons(release, _INTERPRETERS)] == expected


def test_option_selects_only_one_python() -> None:
    assert [one.name for one in suitable_pythons("0.11.0", _INTERPRETERS, "3.13")] == ["3.13"]
    assert suitable_pythons("0.11.0", _INTERPRETERS, "3.14") == []


def test_release_without_suitable_python_has_none() -> None:
    assert suitable_pythons("0.11.0", _INTERPRETERS[1:3]) == []
    assert first_python("0.11.0") == (3, 12)


def test_installed_pythons_include_this_one() -> None:
    import sys

    assert tuple(sys.version_info[:2]) in {one.version for one in installed_pythons()}


@pytest.mark.parametrize(
    ("requirement", "version"),
    [
        ('libtpu==0.0.50.*; extra == "tpu"', "0.0.50.*"),
        ('libtpu (==0.0.2) ; extra == "tpu"', "0.0.2"),
        ('libtpu-nightly==0.1.dev20241002; extra == "tpu"', None),
    ],
)
def test_requirements_name_libtpu(requirement: str, version: str | None) -> None:
    assert required_libtpu(f"jaxlib<=0.12.0.1\n{requirement}\n") == version
