"""The files of one module: each is read once, and large ones are not kept."""

from pathlib import Path

import pytest

from hlo_lsp.model import module_reader
from hlo_lsp.model.folder_scan import ModuleFiles
from hlo_lsp.model.module_reader import ModuleReader, ModuleTexts
from hlo_lsp.model.source import PROGRAM_FRAMES
from hlo_lsp.protos.reading import read_document
from hlo_lsp.text.document import Document

MODULE = "HloModule m\n\nENTRY %main {\n  ROOT %one = f32[] constant(1)\n}\n"


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the files that are read as a whole."""
    names: list[str] = []

    def note(path: Path) -> Document:
        names.append(path.name)
        return read_document(path)

    monkeypatch.setattr(module_reader, "read_document", note)
    return names


def module_of(path: Path, *, size: int = 100) -> ModuleFiles:
    return ModuleFiles(path, {path: (1, size)}, size, 1)


def write(folder: Path, text: str = MODULE) -> Path:
    path = folder / "m.tpu_after_optimizations.txt"
    path.write_text(text, "utf-8")
    return path


def test_small_text_is_read_once(tmp_path: Path, reads: list[str]) -> None:
    path = write(tmp_path)
    texts = ModuleTexts(module_of(path))
    for _ in range(2):
        reader = ModuleReader(module_of(path), PROGRAM_FRAMES, texts)
        assert reader.is_dump(path)
        assert reader.lines(path) == MODULE.split("\n")
        assert reader.workspace.file(path) is reader.without_values.file(path)
    assert reads == []  # `is_dump` has read the text


def test_large_text_is_not_kept(tmp_path: Path, reads: list[str]) -> None:
    path = write(tmp_path)
    reader = ModuleReader(module_of(path, size=module_reader.MAX_KEPT_BYTES + 1), PROGRAM_FRAMES)
    for _ in range(2):
        assert reader.lines(path) == MODULE.split("\n")
    assert len(reads) == 2


def test_other_text_is_no_dump(tmp_path: Path) -> None:
    path = write(tmp_path, "to do\n")
    assert not ModuleReader(module_of(path), PROGRAM_FRAMES).is_dump(path)


def test_open_text_replaces_the_one_on_disk(tmp_path: Path) -> None:
    path = write(tmp_path)
    reader = ModuleReader(module_of(path), PROGRAM_FRAMES)
    workspace = reader.with_open([(path.as_uri(), path, Document(MODULE.replace("one", "two")))])
    assert "%two" in workspace.file(path).lines[3]
    assert "%one" in reader.workspace.file(path).lines[3]
