"""The archive with the smallest compile of every form that the corpus does not have."""

import io
import re
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from compilers.generations import NOT_PRINTED, DumpTexts, detect
from compilers.records import dump_files, version_numbers

_PUBLIC_HOME = "/home/user"
_MACHINE_PATH = re.compile(
    r'"/[^"\n]*?/(models/[^"\n]+\.py|site-packages/[^"\n]+\.py|[^"/\n]+\.py)"'
)
_ARCHIVED = re.compile(
    r"(module_\d+)\..*(optimizations[\w\-]*|after_spmd_partitioner|after_codegen|thunk_\w+)\.txt$"
)
_OTHER_ARCHIVES = ("small", "compact_gte")


def write_archive(folders: Sequence[Path], archive: Path) -> None:
    """Add the smallest compile of every generation that the corpus does not have to an archive.

    Paths of this machine are replaced by those below ``/home/user``.
    """
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary)
        old = root / archive.name
        _unpack(archive, old)
        for name in _OTHER_ARCHIVES:
            _unpack(archive.with_name(f"{name}.tar.xz"), root / name)
        known = [detect(DumpTexts.read(dump_files(each))) for each in _dump_folders(root)]
        with tarfile.open(archive, "w:xz") as files:
            for path in sorted(dump_files(old)):
                _add(files, str(path.relative_to(old)), path.read_text("utf-8"))
            for folder in sorted(
                folders, key=lambda each: version_numbers(each.name), reverse=True
            ):
                forms = detect(DumpTexts.read(dump_files(folder)))
                if forms["memory files"] != NOT_PRINTED and forms not in known:
                    known.append(forms)
                    for path in smallest_compile(folder, forms):
                        text = without_machine_paths(path.read_text("utf-8"))
                        _add(files, f"{folder.name}/{path.name}", text)
                    print(f"{archive.name}: {folder.name}")


def _release(folder: Path) -> tuple[int, ...]:
    return version_numbers(folder.name)


def _unpack(archive: Path, folder: Path) -> None:
    folder.mkdir()
    if archive.exists():
        with tarfile.open(archive) as files:
            files.extractall(folder, filter="data")


def _dump_folders(root: Path) -> set[Path]:
    return {path.parent for path in root.rglob("module_*.txt")}


def smallest_compile(folder: Path, forms: Mapping[str, str]) -> list[Path]:
    """Return the text files of the smallest compile that shows the most of some forms.

    A compile with merged values (of loops and conditionals) is preferred to a trivial one.
    """
    compiles: dict[tuple[Path, str], list[Path]] = {}
    for path in dump_files(folder):
        match = _ARCHIVED.match(path.name)
        if match is not None:
            compiles.setdefault((path.parent, match[1]), []).append(path)

    def order(compile_: tuple[Path, str]) -> tuple[int, bool, int]:
        texts = DumpTexts.read(compiles[compile_])
        own = detect(texts)
        missing = sum(own[part] != form for part, form in forms.items())
        size = sum(path.stat().st_size for path in compiles[compile_])
        return missing, not any("(phi)" in text for text in texts.memory), size

    return sorted(compiles[min(compiles, key=order)])


def without_machine_paths(text: str) -> str:
    """Return a text with the paths of Python files below ``/home/user``."""
    return _MACHINE_PATH.sub(rf'"{_PUBLIC_HOME}/\1"', text)


def _add(archive: tarfile.TarFile, name: str, text: str) -> None:
    """Add a file without a date or an owner, so that the same dumps give the same archive."""
    data = text.encode()
    entry = tarfile.TarInfo(name)
    entry.size = len(data)
    archive.addfile(entry, io.BytesIO(data))
