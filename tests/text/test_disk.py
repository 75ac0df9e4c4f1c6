import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hlo_lsp.text import disk
from hlo_lsp.text.document import Document
from jobs import count_checkpoints


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "dump.txt"


@pytest.fixture(params=[1, 2, 3, 7, 64, 4 << 20])
def chunk(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Use small chunks, so that each chunk border is tested."""
    size: int = request.param
    monkeypatch.setattr(disk, "_BYTES_PER_CHECKPOINT", size)
    monkeypatch.setattr(disk, "_MAX_SMALL_BYTES", 0)
    return size


files = pytest.mark.parametrize(
    ("data", "lines"),
    [
        pytest.param(b"", [""], id="empty"),
        pytest.param(b"\n", ["", ""], id="one newline"),
        pytest.param(b"\n\na", ["", "", "a"], id="empty lines first"),
        pytest.param(b"a\nb\n", ["a", "b", ""], id="newline at the end"),
        pytest.param(b"a\nb", ["a", "b"], id="no newline at the end"),
        pytest.param(b"a\r\nb\r\n", ["a", "b", ""], id="CRLF"),
        pytest.param(b"a\rb", ["a", "b"], id="CR"),
        pytest.param(b"a\nb\nc\r\nd\n\re", ["a", "b", "c", "d", "", "e"], id="mixed"),
        pytest.param(b"a\n\r", ["a", "", ""], id="a return at the end"),
        pytest.param("│×\n𝔸│\n".encode(), ["│×", "𝔸│", ""], id="characters of several bytes"),
        pytest.param("│×\r\n𝔸│".encode(), ["│×", "𝔸│"], id="several bytes and CRLF"),
        pytest.param(b"\xef\xbb\xbfab\nc", ["ab", "c"], id="byte order mark"),
        pytest.param(b"\xef\xbb\xbfab\r\nc", ["ab", "c"], id="byte order mark and CRLF"),
        pytest.param(b"\xef\xbb\xbf", [""], id="byte order mark alone"),
        pytest.param(b"a\n\xef\xbb\xbfb", ["a", "\ufeffb"], id="a mark further down is text"),
        pytest.param(b"a\xffb\n\xc3\nc", ["a\ufffdb", "\ufffd", "c"], id="no UTF-8"),
        pytest.param(b"a\x0bb\x0cc\x1c\xe2\x80\xa8", ["a\x0bb\x0cc\x1c\u2028"], id="no line ends"),
    ],
)


@files
def test_file_is_read_for_any_checkpoint_size(
    file: Path, chunk: int, data: bytes, lines: list[str]
) -> None:
    file.write_bytes(data)
    assert disk.read_document(file).lines == lines


@files
def test_small_file_is_read(file: Path, data: bytes, lines: list[str]) -> None:
    file.write_bytes(data)
    assert disk.read_document(file).lines == lines


def test_file_equals_editor_text(file: Path, chunk: int) -> None:
    text = "one\ntwo\r\n" + "long" * 60 + "\nthree\r" + "long" * 60 + "\n"
    file.write_bytes(text.encode())
    document = disk.read_document(file)
    assert document.text == text
    assert document.lines == Document(text).lines


@pytest.mark.skipif(sys.platform != "linux", reason="other file systems fill holes")
def test_sparse_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("HloModule m\n" * 1000)
    os.truncate(path, 1 << 30)
    with pytest.raises(disk.UnreadableError, match="a sparse file"):
        disk.read_document(path)


def test_equal_long_lines_are_kept_once(file: Path, chunk: int) -> None:
    file.write_text(f"{'x' * 2000}\nshort\n{'x' * 2000}\n")
    first, _, second, _ = disk.read_document(file).lines
    assert first is second


def test_large_file_is_read_in_steps(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "_BYTES_PER_CHECKPOINT", 10)
    monkeypatch.setattr(disk, "_MAX_SMALL_BYTES", 0)
    file.write_text("123456789\n" * 6)
    # A step ends with the line of its last byte.
    assert count_checkpoints(lambda: disk.read_document(file)) == 3
    assert disk.read_document(file).lines == ["123456789"] * 6 + [""]


def test_binary_file_is_refused(file: Path) -> None:
    file.write_bytes(b"\x7fELF\x00\x01\n" * 10)
    with pytest.raises(disk.UnreadableError, match=r"dump\.txt: .*binary"):
        disk.read_document(file)


_SIGNATURE = b"\x83\xafp\xd1\r\x88J?" + b"\0" * 9


@pytest.mark.parametrize(
    ("ending", "content"), [("txt", _SIGNATURE), ("riegeli", _SIGNATURE), ("riegeli", b"")]
)
def test_riegeli_file_is_refused(tmp_path: Path, ending: str, content: bytes) -> None:
    path = tmp_path / f"module_0001.jit_f.hlo.{ending}"
    path.write_bytes(content)
    for read in (disk.read_document, disk.read_first_lines):
        with pytest.raises(disk.BinaryFileError, match=r"to get text, .*--xla_dump_hlo_as_text"):
            read(path)


def test_missing_file_is_refused(file: Path) -> None:
    with pytest.raises(disk.UnreadableError, match=r"dump\.txt: No such file"):
        disk.read_document(file)


def test_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(disk.UnreadableError, match=r"[Dd]irectory|Permission|not a regular file"):
        disk.read_document(tmp_path)


READERS = (
    disk.read_document, disk.read_first_lines, disk.open_regular_file,
    lambda path: disk.read_document_until(path, bool),
)  # fmt: skip


@pytest.mark.parametrize("read", READERS)
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_pipes_and_devices_are_not_opened(tmp_path: Path, read: Callable[[Path], object]) -> None:
    os.mkfifo(tmp_path / "pipe.txt")  # reading it would wait for a writer
    for path in (tmp_path / "pipe.txt", Path("/dev/zero")):
        with pytest.raises(disk.UnreadableError, match="not a regular file"):
            read(path)
