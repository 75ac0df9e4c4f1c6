"""The compiles of the corpus as the package reads them, and the facts that XLA printed."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

import pytest

from dumps import FOLDERS as SMALL_FOLDERS
from dumps import files_of
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.syntax.file_kinds import FileKind
from oracles.printed import PrintedFacts, Spot, read

Item = TypeVar("Item")

_MAX_SAMPLE = 400  # The values of a train step repeat from layer to layer.
L24 = "tpu_v5e_train_L24"
FSDP = "tpu7x_fsdp"
WHOLE = ("whole/cpu", "whole/tpu7x", "whole/v5e")
GENERATIONS = (  # the folders in generations.tar.xz
    "cpu_jax_0.10.1",
    "cpu_jax_0.4.34",
    "cpu_jax_0.4.35",
    "cpu_jax_0.5.0",
    "cpu_jax_0.5.2",
    "cpu_jax_0.5.3",
    "cpu_jax_0.6.0",
    "cpu_jax_0.8.1",
    "cpu_jax_0.9.1",
    "cpu_jax_0.9.2",
    "gpu_h100_jax_0.10.1",
    "gpu_h100_jax_0.4.34",
    "gpu_h100_jax_0.4.35",
    "gpu_h100_jax_0.5.2",
    "gpu_h100_jax_0.5.3",
    "gpu_h100_jax_0.6.0",
    "gpu_h100_jax_0.7.0",
    "gpu_h100_jax_0.7.1",
    "gpu_h100_jax_0.7.2",
    "gpu_h100_jax_0.8.1",
    "gpu_h100_jax_0.9.2",
    "tpu_v5e_jax_0.10.1",
    "tpu_v5e_jax_0.10.2_libtpu_0.0.45",
    "tpu_v5e_jax_0.4.35",
    "tpu_v5e_jax_0.5.0",
    "tpu_v5e_jax_0.5.2",
    "tpu_v5e_jax_0.6.0",
    "tpu_v5e_jax_0.6.2_libtpu_0.0.14",
    "tpu_v5e_jax_0.8.1",
)
FOLDERS = (L24, *SMALL_FOLDERS, *GENERATIONS)
REPETITIVE_FOLDERS = frozenset(
    {
        *(L24, "cpu_jax_0.6.2", "gpu_h100_jax_0.4.38", "gpu_h100_jax_0.8.3"),
        "tpu_v5e_jax_0.6.2",
    }
)
"""Large folders of forms that others have too: neighboring releases are in generations.tar.xz."""
on_every_folder = pytest.mark.usefixtures("every_folder")
"""Run a test of `folder` on these too, as ``--whole-corpus`` does with all tests."""
# The oracles that read names cannot compare these texts, which omit `get-tuple-element`.
ALL_FOLDERS = (*FOLDERS, FSDP, *WHOLE)
TYPICAL_FOLDERS = frozenset(
    {
        *("cpu", "gpu_h100", "tpu_v5e", "samples", "flags_pass_dumps", "whole/tpu7x"),
        *("cpu_jax_0.4.35", "gpu_h100_jax_0.5.3", "tpu_v5e_jax_0.4.35", "tpu_v5e_jax_0.9.2"),
    }
)
"""A folder of each backend, of new and old forms, and with each way to dump."""
on_typical_folders = pytest.mark.usefixtures("typical_folder")
"""Run a test of `folder` or `any_folder` on these only: it compares our answers with each other."""


@dataclass(frozen=True)
class CorpusCompile:
    """A compile as the package reads it, and the facts that XLA printed into the same files."""

    dump: Compile
    printed: PrintedFacts

    def file(self, path: Path) -> DumpFile:
        """Return the file of the compile with this path."""
        return next(file for file in self.dump.files if file.path == path)

    def text(self, spot: Spot) -> str:
        """Return a printed line with its position, for messages."""
        return f"{spot.path.name}:{spot.line + 1}: {self.file(spot.path).lines[spot.line][:100]}"


def sample(items: Iterable[Item]) -> Sequence[Item]:
    """Return all items, or every n-th of many."""
    found = list(items)
    return found[:: 1 + len(found) // _MAX_SAMPLE]


@lru_cache(maxsize=1)  # The tests of one folder run one after the other; see conftest.py.
def compiles_of(folder: Path) -> Sequence[CorpusCompile]:
    """Return all compiles of a folder."""
    return list(_read_compiles(folder))


def _read_compiles(folder: Path) -> Iterator[CorpusCompile]:
    for path in files_of(folder, FileKind.ASSIGNMENT):
        stem = path.name.removesuffix(".txt").removesuffix("-buffer-assignment")
        names = [path.name, f"{stem}-buffer-assignment-values.txt", f"{stem}-live-range.txt"]
        if path.name != f"{stem}.txt":
            names.append(f"{stem}.txt")
        paths = [path.with_name(name) for name in names]
        workspace = DumpWorkspace()
        dump = workspace.compile_of(workspace.file(path))
        yield CorpusCompile(dump, read([path for path in paths if path.is_file()]))
