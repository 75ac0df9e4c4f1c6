"""Tests for folders whose content no other user can choose."""

import os
import sys
from pathlib import Path

import pytest

from hlo_lsp.text.remote_cache import NotPrivateError, has_link, require_private

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has access lists")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "base" / "cache"
    found.mkdir(mode=0o700, parents=True)
    return found


def give_away(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a path, or without permission all paths, belong to another user."""
    if os.getuid():
        other = os.getuid() + 1
        monkeypatch.setattr(os, "getuid", lambda: other)
    else:
        os.chown(path, 12345, -1, follow_symlinks=False)


def test_own_folder_is_private(folder: Path) -> None:
    require_private(folder)


def test_sticky_folder_above_is_private(folder: Path) -> None:
    folder.parent.chmod(0o1777)
    require_private(folder)


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o702])
def test_others_can_write(folder: Path, mode: int) -> None:
    folder.chmod(mode)
    with pytest.raises(NotPrivateError, match=f"other users can write to {folder}"):
        require_private(folder)


def test_others_can_rename(folder: Path) -> None:
    folder.parent.chmod(0o707)
    with pytest.raises(NotPrivateError, match=f"other users can write to {folder.parent}$"):
        require_private(folder)


def test_a_group_can_write(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.chmod(0o770)
    if not os.getuid():
        os.chown(folder, -1, 12345)
    else:
        monkeypatch.setattr("grp.getgrgid", {}.__getitem__)
    with pytest.raises(NotPrivateError, match="other users can write"):
        require_private(folder)


@pytest.mark.parametrize("above", [False, True])
def test_folder_of_another_user(
    folder: Path, monkeypatch: pytest.MonkeyPatch, *, above: bool
) -> None:
    given = folder.parent if above else folder
    folder.parent.chmod(0o1777)  # which does not help if its owner is another user
    give_away(given, monkeypatch)
    with pytest.raises(NotPrivateError, match="belongs to another user"):
        require_private(folder)


def test_folder_is_a_link(folder: Path) -> None:
    link = folder.with_name("link")
    link.symlink_to(folder)
    with pytest.raises(NotPrivateError, match=f"{link} is a link"):
        require_private(link)


def test_own_link_above(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(folder.parent)
    require_private(tmp_path / "link" / "cache")
    folder.parent.chmod(0o777)
    with pytest.raises(NotPrivateError, match=f"other users can write to {folder.parent}"):
        require_private(tmp_path / "link" / "cache")


def test_link_of_another_user_above(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "link").symlink_to(folder.parent)
    give_away(tmp_path / "link", monkeypatch)
    with pytest.raises(NotPrivateError, match="belongs to another user"):
        require_private(tmp_path / "link" / "cache")


def test_endless_links_above(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises((NotPrivateError, OSError)):
        require_private(tmp_path / "a" / "cache")


@pytest.mark.parametrize(
    ("path", "expected"),
    [("a/b.txt", False), ("new/b.txt", False), ("link/b.txt", True), ("a/link.txt", True)],
)
def test_links_in_a_path(tmp_path: Path, path: str, *, expected: bool) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "link").symlink_to("a")
    (tmp_path / "a" / "link.txt").symlink_to(os.devnull)
    (tmp_path / "own").symlink_to(tmp_path)
    assert has_link(tmp_path, path) == expected
    assert has_link(tmp_path / "own", path) == expected
