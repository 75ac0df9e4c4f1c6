"""The symbols of all dumps in some folders."""

import os
from pathlib import Path

import pytest

from hlo_lsp.model import symbol_reading as symbol_folders
from hlo_lsp.model.symbol_reading import SearchFolder, SymbolFolders

MODULE = "HloModule m\n\nENTRY main {\n  ROOT one = f32[] constant(1)\n}\n"


def update(symbols: SymbolFolders, *folders: Path, is_recursive: bool = True) -> list[str]:
    """Scan and read, and return the files that were read."""
    unread = symbols.scan([SearchFolder(folder, is_recursive) for folder in folders])
    for file in unread:
        symbols.read(file)
    return [file.title for file in unread]


def held(symbols: SymbolFolders) -> list[str]:
    return sorted(path.name for path in symbols.files)


def write(path: Path, text: str | bytes = MODULE) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_dumps_are_read_and_nothing_else(tmp_path: Path) -> None:
    write(tmp_path / "a.txt")
    write(tmp_path / "deep/b.hlo")
    write(tmp_path / "deep/notes.txt", "nothing of ours\n")
    write(tmp_path / "deep/binary.txt", b"HloModule m\0\1\2")
    write(tmp_path / "code.py")
    write(tmp_path / ".hidden/c.txt")
    (tmp_path / "folder.txt").mkdir()
    symbols = SymbolFolders()
    assert update(symbols, tmp_path) == ["a.txt", "deep/b.hlo", "deep/binary.txt", "deep/notes.txt"]
    assert held(symbols) == ["a.txt", "b.hlo"]


def test_the_output_of_a_compiler_is_read(tmp_path: Path) -> None:
    write(tmp_path / "log.txt", f"*** Begin a.txt ***\n{MODULE}\n*** End a.txt ***\n")
    symbols = SymbolFolders()
    update(symbols, tmp_path)
    assert [read.title for read in symbols.files[tmp_path / "log.txt"]] == ["log.txt", "a.txt"]


def test_a_folder_without_those_in_it(tmp_path: Path) -> None:
    write(tmp_path / "a.txt")
    write(tmp_path / "deep/b.txt")
    symbols = SymbolFolders()
    update(symbols, tmp_path, is_recursive=False)
    assert held(symbols) == ["a.txt"]


def test_only_what_has_changed_is_read_again(tmp_path: Path) -> None:
    write(tmp_path / "a.txt")
    changing = write(tmp_path / "b.txt")
    symbols = SymbolFolders()
    assert update(symbols, tmp_path) == ["a.txt", "b.txt"]
    assert update(symbols, tmp_path) == []
    write(changing, MODULE.replace("one", "other"))
    assert update(symbols, tmp_path) == ["b.txt"]
    (read,) = symbols.files[changing]
    names = read.names
    assert "other" in [names[number] for number in range(len(names))]
    os.utime(changing, ns=(1, 1))
    assert update(symbols, tmp_path) == ["b.txt"]


def test_removed_files_are_forgotten(tmp_path: Path) -> None:
    gone = write(tmp_path / "a.txt")
    kept = write(tmp_path / "b.txt")
    symbols = SymbolFolders()
    update(symbols, tmp_path)
    gone.unlink()
    assert update(symbols, tmp_path) == []
    assert held(symbols) == ["b.txt"]
    write(kept, "no dump any more\n")
    update(symbols, tmp_path)
    assert held(symbols) == []
    write(kept)
    update(symbols, tmp_path)
    assert held(symbols) == ["b.txt"]


def test_folders_come_and_go(tmp_path: Path) -> None:
    write(tmp_path / "one/a.txt")
    write(tmp_path / "two/b.txt")
    symbols = SymbolFolders()
    update(symbols, tmp_path / "one")
    assert update(symbols, tmp_path / "one", tmp_path / "two") == ["b.txt"]
    assert update(symbols, tmp_path / "one", tmp_path / "one") == []
    assert held(symbols) == ["a.txt"]
    assert update(symbols, tmp_path / "nowhere") == []
    assert held(symbols) == []


def test_values_file_is_read_without_an_assignment(tmp_path: Path) -> None:
    values = "Used values:\n<1 a @0>\n positions:\n  a\n uses:\n"
    write(tmp_path / "m-buffer-assignment-values.txt", values)
    write(tmp_path / "n-buffer-assignment-values.txt", values)
    write(tmp_path / "n-buffer-assignment.txt", "BufferAssignment:\n")
    symbols = SymbolFolders()
    update(symbols, tmp_path)
    assert held(symbols) == ["m-buffer-assignment-values.txt", "n-buffer-assignment.txt"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_pipes_and_dangling_links_are_skipped(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    (tmp_path / "link.txt").symlink_to(tmp_path / "nowhere")
    (tmp_path / "circle").symlink_to(tmp_path)
    assert update(SymbolFolders(), tmp_path) == []


def test_file_removed_between_scan_and_read(tmp_path: Path) -> None:
    going = write(tmp_path / "a.txt")
    symbols = SymbolFolders()
    unread = symbols.scan([SearchFolder(tmp_path, is_recursive=True)])
    going.unlink()
    for file in unread:
        symbols.read(file)
    assert held(symbols) == []


def test_scan_and_read_have_checkpoints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(symbol_folders, "_FILES_PER_CHECKPOINT", 2)
    for number in range(10):
        write(tmp_path / f"{number}.txt")
    assert len(list(SymbolFolders().scan([SearchFolder(tmp_path, is_recursive=True)]))) >= 5


@pytest.mark.corpus
def test_assignment_contains_all_used_values(corpus_small: Path) -> None:
    def ids(path: Path, begin: str) -> set[str]:
        lines = path.read_text("utf-8").split("\n")
        heads = (line.removeprefix(begin) for line in lines if line.startswith(f"{begin}<"))
        return {head.partition(" ")[0] for head in heads}

    compared = 0
    for values in corpus_small.rglob("*-buffer-assignment-values.txt"):
        assignment = values.with_name(values.name.replace("-values", ""))
        if assignment.exists():
            assert ids(values, "") <= ids(assignment, " value: "), values.name
            compared += 1
    assert compared > 200
