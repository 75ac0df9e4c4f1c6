"""Real dumps of ``tests/corpus``, unpacked once and listed by kind."""

import hashlib
import os
import re
import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path

from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.text import disk

CORPUS = Path(__file__).parent / "corpus"
CORPUS_PROGRAMS = Path(__file__).parents[1] / "tools" / "corpus"
"""The programs whose lines the dumps name."""
FOLDERS = (  # of small.tar.xz
    *("cpu", "cpu_jax_0.6.2", "flags_async_sugar", "flags_inline_stack_frames"),
    *("flags_no_analysis", "flags_pass_dumps", "gpu_h100", "gpu_h100_jax_0.4.38"),
    *("gpu_h100_jax_0.8.3", "gpu_h100_multiheap", "gpu_h100_nccl_buffers"),
    *("gpu_h100_separate_color", "samples", "tpu_v5e", "tpu_v5e_jax_0.6.2"),
    *("tpu_v5e_jax_0.9.2", "tpu_v5p"),
)
SMALL_DUMPS = Path(__file__).parent / "small_dumps"  # one file for each rare format

_KINDS = (
    (re.compile(r"-buffer-assignment\.txt$|sample_\d+\.txt$"), FileKind.ASSIGNMENT),
    (re.compile(r"-buffer-assignment-values\.txt$"), FileKind.VALUES),
    (re.compile(r"-live-range\.txt$"), FileKind.LIVE_RANGE),
    (re.compile(r"-memory-usage-report\.txt$"), FileKind.REPORT),
    (re.compile(r"\.thunk_sequence(_after_thunk_passes)?\.txt$"), FileKind.THUNKS),
    (re.compile(r"(before|after)_optimizations\w*\.txt$|after_(spmd_partitioner|codegen\w*)\.txt$"),
     FileKind.MODULE),
)  # fmt: skip


def unpacked(archive: Path, cache: Path) -> Path:
    """Return the folder with the files of an archive, and unpack it into ``cache`` if needed.

    Concurrent processes each unpack under a name of their own; the first to rename wins.
    """
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()[:16]
    name = archive.name.removesuffix(".tar.xz")
    folder = cache / f"{name}-{digest}"
    if not folder.is_dir():
        own = cache / f"{folder.name}.{os.getpid()}"
        with tarfile.open(archive) as files:
            if hasattr(tarfile, "data_filter"):
                files.extractall(own, filter="data")
            else:  # Python 3.10.0 to 3.11.3; the archives are our own
                files.extractall(own)
        try:
            own.rename(folder)
        except OSError:
            if not folder.is_dir():
                raise
            shutil.rmtree(own)
    return folder / name if (folder / name).is_dir() else folder


def kind_by_name(path: Path) -> FileKind:
    """Return the kind of a file by its name, or OTHER if the name is none of XLA's."""
    for expression, kind in _KINDS:
        if expression.search(path.name):
            return kind
    return FileKind.OTHER


def files_of(root: Path, *kinds: FileKind) -> list[Path]:
    """Return the files below a folder whose names are of one of the kinds, or all files."""
    files = sorted(path for path in root.rglob("*") if path.is_file())
    return [path for path in files if not kinds or kind_by_name(path) in kinds]


def module_files(root: Path) -> list[Path]:
    """Return the module texts below a folder, the first of those with the same content."""
    texts = {path.read_bytes(): path for path in reversed(files_of(root, FileKind.MODULE))}
    return sorted(texts.values())


def memory_files(root: Path) -> list[Path]:
    """Return the memory files of every compile below a folder."""
    return files_of(root, *(kind for kind in FileKind if kind.is_memory))


def lines_of(paths: list[Path]) -> Iterator[str]:
    """Yield all lines of some files."""
    for path in paths:
        yield from disk.read_document(path).lines
