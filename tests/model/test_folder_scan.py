"""One walk of folders: what it finds, and as of which time."""

import os
from pathlib import Path

import pytest

from hlo_lsp.model.compile_files import FolderCache
from hlo_lsp.model.folder_scan import ScannedFolder, SearchFolder, SearchScope, scan_folders


def scan(*searched: SearchFolder) -> list[ScannedFolder]:
    return list(scan_folders(searched, FolderCache()))


def write(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("HloModule m\n", "utf-8")
    return path


def test_hidden_folders_are_left_out(tmp_path: Path) -> None:
    write(tmp_path / "a/b/x.txt")
    write(tmp_path / ".hidden/x.txt")
    assert [folder.path.name for folder in scan(SearchFolder(tmp_path / "a"))] == ["a", "b"]
    assert tmp_path / ".hidden" not in {one.path for one in scan(SearchFolder(tmp_path))}


@pytest.mark.skipif(os.name == "nt", reason="links need rights")
def test_linked_folders_are_not_followed(tmp_path: Path) -> None:
    write(tmp_path / "outside/x.txt")
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside/link").symlink_to(tmp_path / "outside")
    assert [one.path.name for one in scan(SearchFolder(tmp_path / "inside"))] == ["inside"]


def test_folder_of_an_open_file_is_searched_alone(tmp_path: Path) -> None:
    write(tmp_path / "below/x.txt")
    found = scan(SearchFolder(tmp_path, SearchScope.OPEN_FILE))
    assert [folder.path for folder in found] == [tmp_path]


def test_folder_is_found_once(tmp_path: Path) -> None:
    write(tmp_path / "below/x.txt")
    found = scan(SearchFolder(tmp_path), SearchFolder(tmp_path / "below", SearchScope.REQUEST))
    assert [(one.path.name, one.top.scope) for one in found[1:]] == [
        ("below", SearchScope.WORKSPACE)
    ]


def test_files_of_one_module_have_one_stamp_each(tmp_path: Path) -> None:
    paths = [write(tmp_path / f"m.{name}.txt") for name in ("before_optimizations", "tpu_after")]
    os.utime(paths[0], ns=(5, 5))
    (folder,) = scan(SearchFolder(tmp_path))
    module = folder.module_of(paths[0].name)
    assert module is not None
    assert folder.stamp(paths[0]) == (5, paths[0].stat().st_size)
    assert module is folder.module_of(paths[0].name)


def test_removed_file_has_no_module(tmp_path: Path) -> None:
    path = write(tmp_path / "m.txt")
    (folder,) = scan(SearchFolder(tmp_path))
    path.unlink()
    assert folder.module_of(path.name) is None
    assert folder.stamp(path) is None
