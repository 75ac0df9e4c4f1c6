"""Settings files that change behind the back of the client."""

from pathlib import Path

import pytest

from hlo_lsp.checks.config.config_file import CONFIG_FILE_NAME
from hlo_lsp.lsp.session import Session
from hlo_lsp.lsp.watching import SettingsFileWatcher
from lsp.opened import DUMP, item


class Desk:
    """A session with a dump two folders deep, and what is told of settings."""

    def __init__(self, top: Path) -> None:
        self.session = Session()
        self.open(top / "runs" / "today" / "dump.txt")
        self.told = 0
        self.watch = SettingsFileWatcher(self.session, self._tell)
        self.watch.poll()

    def open(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.session.open(item(path.as_uri(), DUMP))

    def is_told(self) -> bool:
        """Whether there is news since the last question."""
        before = self.told
        self.watch.poll()
        return self.told > before

    def _tell(self) -> None:
        self.told += 1


@pytest.mark.parametrize("folder", [".", "runs", "runs/today"])
def test_a_file_that_comes_changes_and_goes_is_noticed_once_each(
    tmp_path: Path, folder: str
) -> None:
    desk = Desk(tmp_path)
    assert not desk.is_told()
    settings = tmp_path / folder / CONFIG_FILE_NAME
    for text in ("", 'ignore = ["overlap"]\n'):
        settings.write_text(text)
        assert desk.is_told()
        assert not desk.is_told()
    settings.unlink()
    assert desk.is_told()
    assert not desk.is_told()


def test_a_nearer_file_is_another(tmp_path: Path) -> None:
    (tmp_path / CONFIG_FILE_NAME).touch()
    desk = Desk(tmp_path)
    (tmp_path / "runs" / CONFIG_FILE_NAME).touch()
    assert desk.is_told()
    (tmp_path / CONFIG_FILE_NAME).unlink()  # it counts for nothing that is open
    assert not desk.is_told()


def test_a_file_that_is_opened_is_no_news(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / CONFIG_FILE_NAME).touch()
    assert not desk.is_told()
    desk.open(tmp_path / "other" / "dump.txt")
    assert not desk.is_told()
    desk.session.open(item("untitled:dump", DUMP))
    assert not desk.is_told()
