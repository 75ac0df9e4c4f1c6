"""The workspace: open files, files on disk, and compiles."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.text import disk
from hlo_lsp.text.disk import UnreadableError
from hlo_lsp.text.document import Document

_ASSIGNMENT = "BufferAssignment:\nallocation 0: size {size}, maybe-live-out:\n"
_VALUES = "\nTotal bytes used: 512 (512B)\n\nUsed values:\n"
_LIVE = "HloLiveRange (max 1):\n  InstructionSequence:\n    0:a\n  BufferLiveRange:\n    a{}:0-1\n"
_MODULE = "HloModule m\n\nENTRY %main (a: f32[2]) -> f32[2] {\n  ROOT %a = f32[2] parameter(0)\n}\n"
_STEM = "module_0001.jit_f.cpu_after_optimizations"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    _write(tmp_path / f"{_STEM}-buffer-assignment.txt", _ASSIGNMENT.format(size=512))
    _write(tmp_path / f"{_STEM}-buffer-assignment-values.txt", _VALUES)
    _write(tmp_path / f"{_STEM}-live-range.txt", _LIVE)
    _write(tmp_path / f"{_STEM}.txt", _MODULE)
    _write(tmp_path / "module_0002.jit_f.cpu_after_optimizations.txt", _MODULE)
    return tmp_path


def _write(path: Path, text: str) -> None:
    """Write a file with a new modification time."""
    before = path.stat().st_mtime_ns if path.exists() else 0
    path.write_text(text)
    os.utime(path, ns=(before + 10**9, before + 10**9))


def _open(library: DumpWorkspace, path: Path, text: str | None = None) -> DumpFile:
    document = Document(path.read_text() if text is None else text)
    return library.open(path.as_uri(), path, document)


def _set(library: DumpWorkspace, file: DumpFile) -> Compile:
    return library.compile_of(file)


def _size(dump: Compile) -> int | None:
    allocation = dump.allocation(0)
    return None if allocation is None else allocation.record.size


def test_file_finds_its_companions_on_disk(folder: Path) -> None:
    library = DumpWorkspace()
    dump = _set(library, _open(library, folder / f"{_STEM}-live-range.txt"))
    assert {file.kind for file in dump.files} == {
        FileKind.ASSIGNMENT,
        FileKind.VALUES,
        FileKind.LIVE_RANGE,
        FileKind.MODULE,
    }
    assert {file.path for file in dump.files if file.path} == set(folder.glob(f"{_STEM}*"))
    assert _size(dump) == 512
    assert all(file.is_fresh for file in dump.files)


def test_files_of_a_compile_share_a_set(folder: Path) -> None:
    library = DumpWorkspace()
    files = [_open(library, path) for path in sorted(folder.glob(f"{_STEM}*"))]
    sets = [_set(library, file) for file in files]
    assert all(dump is sets[0] for dump in sets)
    other = _open(library, folder / "module_0002.jit_f.cpu_after_optimizations.txt")
    assert _set(library, other) is not sets[0]
    assert _set(library, files[0]) is sets[0]


def test_open_file_takes_precedence_until_closed(folder: Path) -> None:
    library = DumpWorkspace()
    live = _open(library, folder / f"{_STEM}-live-range.txt")
    path = folder / f"{_STEM}-buffer-assignment.txt"
    assert _size(_set(library, live)) == 512
    opened = _open(library, path, _ASSIGNMENT.format(size=1024))
    assert _size(_set(library, live)) == 1024
    assert library.file(path) is opened
    opened.changed(opened.document.replace(_ASSIGNMENT.format(size=2048)))
    assert _size(_set(library, live)) == 2048
    library.close(opened.uri)
    assert _size(_set(library, live)) == 512
    assert library.file(path) is not opened


@pytest.mark.parametrize("added", ["", "\n"])
def test_opened_file_is_reused_if_text_is_equal(folder: Path, added: str) -> None:
    library = DumpWorkspace()
    dump = _set(library, _open(library, folder / f"{_STEM}-live-range.txt"))
    (module,) = (file for file in dump.files if file.kind is FileKind.MODULE)
    file = _open(library, folder / f"{_STEM}.txt", _MODULE + added)
    assert (file is module) is (not added)
    assert (_set(library, file) is dump) is (not added)


def test_changed_companion_is_reloaded(folder: Path) -> None:
    library = DumpWorkspace()
    live = _open(library, folder / f"{_STEM}-live-range.txt")
    before = _set(library, live)
    assert _set(library, live) is before
    _write(folder / f"{_STEM}-buffer-assignment.txt", _ASSIGNMENT.format(size=768))
    after = _set(library, live)
    assert after is not before
    assert _size(after) == 768


def test_companion_can_appear_and_disappear(folder: Path) -> None:
    library = DumpWorkspace()
    live = _open(library, folder / f"{_STEM}-live-range.txt")
    path = folder / f"{_STEM}-buffer-assignment.txt"
    path.unlink()
    assert _size(_set(library, live)) is None
    _write(path, _ASSIGNMENT.format(size=640))
    assert _size(_set(library, live)) == 640
    path.unlink()
    assert _size(_set(library, live)) is None


def _shrink(path: Path) -> None:
    _write(path, "BufferAssignment:\n")


def _change(path: Path) -> None:
    _write(path, _ASSIGNMENT.format(size=768))


def _replace(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("happens", [_shrink, _change, Path.unlink, _replace])
def test_companion_that_changes_while_read_is_read_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch, happens: Callable[[Path], None]
) -> None:
    library = DumpWorkspace()
    live = _open(library, folder / f"{_STEM}-live-range.txt")
    path = folder / f"{_STEM}-buffer-assignment.txt"
    remaining = [happens]

    def change_once() -> None:
        if remaining:
            remaining.pop()(path)

    monkeypatch.setattr(disk, "_BYTES_PER_CHECKPOINT", 1)
    monkeypatch.setattr(disk, "_MAX_SMALL_BYTES", 0)
    monkeypatch.setattr(disk, "checkpoint", change_once)
    _set(library, live)
    assert not remaining
    assert _size(_set(library, live)) == (768 if happens is _change else None)


@pytest.mark.parametrize("damage", ["binary", "folder", "other text", "empty"])
def test_companion_of_other_kind_is_left_out(folder: Path, damage: str) -> None:
    path = folder / f"{_STEM}-buffer-assignment.txt"
    path.unlink()
    if damage == "folder":
        path.mkdir()
    else:
        path.write_bytes({"binary": b"\x7fELF\0", "other text": b"Lorem\n", "empty": b""}[damage])
    library = DumpWorkspace()
    dump = _set(library, _open(library, folder / f"{_STEM}-live-range.txt"))
    kinds = {file.kind for file in dump.files}
    assert kinds == {FileKind.VALUES, FileKind.LIVE_RANGE, FileKind.MODULE}


def test_other_text_has_no_companions(folder: Path) -> None:
    library = DumpWorkspace()
    file = _open(library, folder / f"{_STEM}-live-range.txt", "Lorem ipsum\n")
    assert _set(library, file).files == [file]


def test_text_without_a_path_has_no_companions() -> None:
    library = DumpWorkspace()
    file = library.open("untitled:1", None, Document(_LIVE))
    assert _set(library, file).files == [file]
    assert library.open_files == {"untitled:1": file}
    library.close("untitled:1")
    assert library.open_files == {}


def test_closing_an_unknown_file_does_nothing() -> None:
    DumpWorkspace().close("file:///nowhere.txt")


def test_unchanged_file_is_read_once(folder: Path) -> None:
    library = DumpWorkspace()
    path = folder / f"{_STEM}.txt"
    file = library.file(path)
    assert file.kind is FileKind.MODULE
    assert library.file(path) is file
    _write(path, _MODULE + "\n")
    assert library.file(path) is not file


def test_touched_file_keeps_the_compile(folder: Path) -> None:
    library = DumpWorkspace()
    module = library.file(folder / f"{_STEM}.txt")
    before = library.compile_of(module)
    _write(folder / f"{_STEM}-live-range.txt", _LIVE)
    assert library.compile_of(module) is before


def test_compiles_with_shared_memory_files_remain(folder: Path) -> None:
    stem = "module_0003.jit_f.after_optimizations"
    _write(folder / f"{stem}-buffer-assignment.txt", _ASSIGNMENT.format(size=512))
    for end in ("", "_before_buffer_assignment", "_after_buffer_assignment"):
        _write(folder / f"{stem}{end}.txt", _MODULE)
    _write(folder / "module_0003.jit_f.after_codegen.txt", _MODULE)
    library = DumpWorkspace()
    files = [library.file(path) for path in sorted(folder.glob("module_0003*"))]
    compiles = [library.compile_of(file) for file in files]
    assert len(set(compiles)) == 4  # one for each text; the assignment has that of the module
    assert [library.compile_of(file) for file in files] == compiles


def test_missing_file_is_an_error(folder: Path) -> None:
    with pytest.raises(UnreadableError, match="No such file"):
        DumpWorkspace().file(folder / "gone.txt")


def test_thunks_have_the_files_of_their_module(tmp_path: Path) -> None:
    stem = "module_0001.jit_f.sm_9.0a_gpu_after_optimizations"
    _write(tmp_path / f"{stem}.txt", _MODULE)
    _write(tmp_path / f"{stem}-live-range.txt", _LIVE)
    path = tmp_path / "module_0001.jit_f.thunk_sequence.txt"
    _write(path, "001: kCopy [source | sink] kCopy\n")
    library = DumpWorkspace()
    dump = _set(library, _open(library, path))
    kinds = {file.kind for file in dump.files}
    assert kinds == {FileKind.THUNKS, FileKind.MODULE, FileKind.LIVE_RANGE}
