"""Folders with many compiles, and the work on the names in them."""

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hlo_lsp.model.file_names import DumpName
from reports.example import ASSIGNMENT, MODULE, RANGES

_FILES = {
    "before_optimizations": MODULE,
    "tpu_after_optimizations": MODULE,
    "tpu_after_optimizations-buffer-assignment": ASSIGNMENT,
    "tpu_after_optimizations-live-range": RANGES,
}


def write_compiles(folder: Path, count: int) -> list[Path]:
    """Write the files of some compiles of modules with different names."""
    folder.mkdir(parents=True)
    written = []
    for number in range(count):
        for suffix, text in _FILES.items():
            path = folder / f"module_{number:04}.jit_f{number}.{suffix}.txt"
            path.write_text(text.replace("jit_f", f"jit_f{number}"), "utf-8")
            written.append(path)
    return written


@contextmanager
def count_names() -> Iterator[Counter[str]]:
    """Count the names that are parsed, and the names that are listed."""
    counts: Counter[str] = Counter()
    parse, listdir = DumpName.of, os.listdir

    def of(filename: str) -> DumpName | None:
        counts["parsed"] += 1
        return parse(filename)

    def listed(folder: Path) -> list[str]:
        found = listdir(folder)
        counts["listed"] += len(found)
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DumpName, "of", of)
        patch.setattr(os, "listdir", listed)
        yield counts
