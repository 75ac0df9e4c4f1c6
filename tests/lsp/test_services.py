"""Services: settings files that change on disk, and views that files change."""

from pathlib import Path

import pytest
from lsprotocol import types

from hlo_lsp.checks.config_file import CONFIG_FILE_NAME
from hlo_lsp.checks.framework.options import CheckOptions
from hlo_lsp.lsp.protocol import HloProtocol, HloServer
from hlo_lsp.lsp.services import Services
from hlo_lsp.lsp.session import Session
from hlo_lsp.lsp.shown_views import ShownView
from lsp.opened import DUMP, item


class ServicesHarness:
    """A session with a dump two folders deep, and what is told of settings."""

    def __init__(self, top: Path) -> None:
        self.session = Session()
        self.open(top / "runs" / "today" / "dump.txt")
        self.is_told()

    def open(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.session.open(item(path.as_uri(), DUMP))

    def is_told(self) -> bool:
        """Whether there is news since the last question."""
        return self.session.look_for_config_files()


@pytest.mark.parametrize("folder", [".", "runs", "runs/today"])
def test_file_creation_change_and_deletion_are_noticed(tmp_path: Path, folder: str) -> None:
    harness = ServicesHarness(tmp_path)
    assert not harness.is_told()
    settings = tmp_path / folder / CONFIG_FILE_NAME
    for text in ("", 'ignore = ["overlap"]\n'):
        settings.write_text(text)
        assert harness.is_told()
        assert not harness.is_told()
    settings.unlink()
    assert harness.is_told()
    assert not harness.is_told()


def test_requests_do_not_look_for_the_file_of_an_open_dump(tmp_path: Path) -> None:
    harness = ServicesHarness(tmp_path)
    folder = tmp_path / "runs" / "today"
    (folder / CONFIG_FILE_NAME).write_text('ignore = ["overlap"]\n')

    def ignores() -> bool:
        return "overlap" not in harness.session.selections.of_folder(folder, CheckOptions()).codes

    assert not ignores()
    assert harness.is_told()
    assert ignores()


def test_nearer_file_is_another(tmp_path: Path) -> None:
    (tmp_path / CONFIG_FILE_NAME).touch()
    harness = ServicesHarness(tmp_path)
    (tmp_path / "runs" / CONFIG_FILE_NAME).touch()
    assert harness.is_told()
    (tmp_path / CONFIG_FILE_NAME).unlink()  # it counts for nothing that is open
    assert not harness.is_told()


def test_file_that_is_opened_is_no_news(tmp_path: Path) -> None:
    harness = ServicesHarness(tmp_path)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / CONFIG_FILE_NAME).touch()
    assert not harness.is_told()
    harness.open(tmp_path / "other" / "dump.txt")
    assert not harness.is_told()
    harness.session.open(item("untitled:dump", DUMP))
    assert not harness.is_told()


@pytest.mark.parametrize(
    ("name", "change", "refreshes"),
    [
        ("module_1.jit_f.txt", types.FileChangeType.Changed, False),  # the open text applies
        ("module_1.jit_f.txt", types.FileChangeType.Deleted, True),
        ("module_1.jit_f-live-range.txt", types.FileChangeType.Changed, True),
    ],
)
async def test_changed_file_refreshes_views_unless_open(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    change: types.FileChangeType,
    *,
    refreshes: bool,
) -> None:
    scheduled: set[ShownView] = set()

    def note(view: ShownView) -> None:
        scheduled.add(view)

    monkeypatch.setattr(ShownView, "schedule", note)
    monkeypatch.setattr(ShownView, "refresh", note)
    session = Session()
    server = HloServer("test", "1", protocol_cls=HloProtocol)
    services = Services(server, session, lambda *_: None)
    session.open(item((tmp_path / "module_1.jit_f.txt").as_uri(), DUMP))
    event = types.FileEvent((tmp_path / name).as_uri(), change)
    services.files_changed(types.DidChangeWatchedFilesParams([event]))
    assert len(scheduled) == (4 if refreshes else 0)  # tokens, hints, lenses, diagnostics
