"""Computed sizes equal the sizes that XLA printed."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from dumps import files_of
from hlo_lsp.model.backend import Backend
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.sizes import padded_size_of_text, target_of
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.syntax.file_kinds import FileKind

pytestmark = pytest.mark.corpus

_GRANULES = {"samples": 32, "tpu_v5p": 32, "tpu_v5e": 512, "tpu_v5e_jax_0.6.2": 512,
             "tpu_v5e_jax_0.9.2": 512}  # fmt: skip


def _dumps(root: Path) -> Iterator[tuple[Path, DumpSet]]:
    for path in files_of(root, FileKind.ASSIGNMENT):
        yield path, DumpSet([DumpWorkspace().file(path)])


def _wrong(root: Path, counts: list[int]) -> Iterator[str]:
    for path, dump in _dumps(root):
        target = target_of(dump)
        for file in dump.files:
            for value in file.memory.assigned.records():
                size = padded_size_of_text(value.shape, target, value.color or 0)
                known = size is not None and size.exact
                counts[known] += 1
                if size is not None and known and size.bytes != value.size:
                    yield f"{path.name}: {value.key} {value.shape}: {value.size}, not {size.bytes}"


def test_exact_sizes_equal_printed_sizes(corpus_small: Path) -> None:
    counts = [0, 0]
    assert list(islice(_wrong(corpus_small, counts), 5)) == []
    unknown, exact = counts
    assert exact > 15_000
    assert unknown < exact / 100


def test_every_exact_size_of_a_train_step(train_l24: Path) -> None:
    counts = [0, 0]
    assert list(islice(_wrong(train_l24, counts), 5)) == []
    assert counts[0] == 0


@pytest.mark.parametrize("folder", sorted(_GRANULES))
def test_tuple_granule_matches_the_chip(folder: str, corpus_small: Path) -> None:
    targets = {target_of(dump) for _, dump in _dumps(corpus_small / folder)}
    assert {target.backend for target in targets} == {Backend.TPU}
    assert {target.granule for target in targets} - {None} == {_GRANULES[folder]}


@pytest.mark.parametrize(("folder", "backend"), [("cpu", Backend.CPU), ("gpu_h100", Backend.GPU)])
def test_other_backends_have_no_granule(folder: str, backend: Backend, corpus_small: Path) -> None:
    targets = {target_of(dump) for _, dump in _dumps(corpus_small / folder)}
    assert {(target.backend, target.granule) for target in targets} == {(backend, None)}
