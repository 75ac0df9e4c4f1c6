"""Files are read as text, whatever they contain."""

import bz2
import gzip
import io
import lzma
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from hlo_lsp.protos import converted_files
from hlo_lsp.protos.reading import damage_in, read_document
from hlo_lsp.text.disk import BinaryFileError, UnreadableError
from protos.messages import HLO_PROTO, MODULE_TEXT, serialized

_PROTO = serialized("HloProto", HLO_PROTO)


def _archive(files: dict[str, bytes], mode: str = "w:gz") -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode=mode) as archive:  # type: ignore[call-overload]
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return data.getvalue()


def _read(folder: Path, name: str, data: bytes) -> list[str]:
    path = folder / name
    path.write_bytes(data)
    return read_document(path).lines


def _section_names(lines: list[str]) -> list[str]:
    return [line.split()[2] for line in lines if line.startswith("*** Begin")]


def test_texts(tmp_path: Path) -> None:
    assert _read(tmp_path, "m.txt", b"a\nb\n") == ["a", "b", ""]


@pytest.mark.parametrize(
    ("ending", "compress"), [("gz", gzip.compress), ("xz", lzma.compress), ("bz2", bz2.compress)]
)
def test_compressed_texts(tmp_path: Path, ending: str, compress: Callable[[bytes], bytes]) -> None:
    assert _read(tmp_path, f"m.txt.{ending}", compress(b"a\nb\n")) == ["a", "b", ""]


def test_protos_become_sections(tmp_path: Path) -> None:
    lines = _read(tmp_path, "m.hlo.pb", _PROTO)
    begin = lines.index("*** Begin m.txt ***")
    end = lines.index("*** End m.txt ***")
    assert lines[begin + 1 : end] == MODULE_TEXT.split("\n")[:-1]
    assert _section_names(lines) == ["m.txt", "m-buffer-assignment.txt", "m-live-range.txt"]


def test_compressed_protos(tmp_path: Path) -> None:
    lines = _read(tmp_path, "m.hlo.pb.gz", gzip.compress(_PROTO))
    assert lines == _read(tmp_path, "m.hlo.pb", _PROTO)


@pytest.mark.parametrize(
    ("name", "mode"),
    [("d.tar", "w"), ("d.tar.gz", "w:gz"), ("d.tgz", "w:gz"), ("d.tar.xz", "w:xz")],
)
def test_archives(tmp_path: Path, name: str, mode: str) -> None:
    data = _archive({"dump/m.txt": MODULE_TEXT.encode(), "dump/m.o": b"\0"}, mode)
    assert _section_names(_read(tmp_path, name, data)) == ["m.txt"]


def test_protos_of_texts_in_an_archive_are_left_out(tmp_path: Path) -> None:
    files = {"a/m.txt": b"HloModule m\n", "a/m.hlo.pb": _PROTO, "b/n.hlo.pb": _PROTO}
    lines = _read(tmp_path, "d.tar.gz", _archive(files))
    assert _section_names(lines) == [
        "m.txt", "n.txt", "n-buffer-assignment.txt", "n-live-range.txt",
    ]  # fmt: skip


def test_compressed_files_in_an_archive(tmp_path: Path) -> None:
    data = _archive({"m.txt.gz": gzip.compress(b"HloModule m\n")})
    lines = _read(tmp_path, "d.tgz", data)
    assert lines[1:] == ["", "*** Begin m.txt ***", "HloModule m", "*** End m.txt ***"]


def test_files_that_are_no_archives(tmp_path: Path) -> None:
    with pytest.raises(BinaryFileError, match=r"d.tar: the archive ends after 0 files"):
        _read(tmp_path, "d.tar", b"text" * 1_000)


def test_archives_without_dumps(tmp_path: Path) -> None:
    with pytest.raises(BinaryFileError, match=r"d.tar.gz: no dump in this archive"):
        _read(tmp_path, "d.tar.gz", _archive({"a.o": b"\0"}))


@pytest.mark.parametrize("data", [b"", b"not a proto", b"\x08\x01"])
def test_other_protos(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(BinaryFileError, match="not the proto of an HLO module"):
        _read(tmp_path, "options.pb", data)


def test_missing_files(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match=r"m.hlo.pb: No such file"):
        read_document(tmp_path / "m.hlo.pb")


def test_bombs_are_not_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(converted_files, "_MAX_BYTES", 1 << 20)
    with pytest.raises(UnreadableError, match="unpack what you need"):
        _read(tmp_path, "m.txt.gz", gzip.compress(b"a" * (3 << 20)))
    bomb = _archive({f"{number}.txt": b"a" * (1 << 19) for number in range(4)})
    with pytest.raises(UnreadableError, match="unpack what you need"):
        _read(tmp_path, "d.tar.gz", bomb)


def test_sparse_members_are_not_expanded(tmp_path: Path) -> None:
    size = 1 << 40
    member = tarfile.TarInfo("s.txt")
    member.type = tarfile.GNUTYPE_SPARSE
    header = bytearray(member.tobuf(tarfile.GNU_FORMAT))
    header[386:410] = f"{size - 512:011o}\0{0:011o}\0".encode()
    header[483:495] = f"{size:011o}\0".encode()
    header[148:156] = b" " * 8
    header[148:156] = f"{sum(header):06o}\0 ".encode()
    with pytest.raises(BinaryFileError, match="no dump in this archive"):
        _read(tmp_path, "d.tar", bytes(header) + bytes(1024))


def test_truncated_protos_say_where(tmp_path: Path) -> None:
    lines = _read(tmp_path, "m.hlo.pb", _PROTO[:-3])
    damage = damage_in(tmp_path / "m.hlo.pb", lines)
    assert damage is not None
    assert damage.startswith(f"{tmp_path / 'm.hlo.pb'}: damaged: byte ")
    assert damage.endswith("; the rest was read")
    assert "*** Begin m.txt ***" in lines
    assert "*** End m.txt ***" not in lines


def test_truncated_compression_keeps_the_beginning(tmp_path: Path) -> None:
    text = "".join(f"line {number * number}\n" for number in range(20_000)).encode()
    lines = _read(tmp_path, "m.txt.gz", gzip.compress(text)[:-5_000])
    assert damage_in(tmp_path / "m.txt.gz", lines) is not None
    assert "line 1" in lines


def test_truncated_archives_keep_whole_files(tmp_path: Path) -> None:
    files = {f"{number}.txt": b"HloModule m\n" * 2_000 for number in range(3)}
    data = _archive(files, "w")[:-40_000]
    lines = _read(tmp_path, "d.tar", data)
    assert _section_names(lines)[:1] == ["0.txt"]
    assert damage_in(tmp_path / "d.tar", lines) is not None


def test_texts_have_no_damage(tmp_path: Path) -> None:
    assert damage_in(tmp_path / "m.txt", ["HloModule m"]) is None
    assert damage_in(None, ["Damaged: x"]) is None
