"""The granules of tuple tables in real dumps."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from dumps import files_of
from hlo_lsp.model.backend import Backend
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.padded_sizes import target_of
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.syntax.file_kinds import FileKind

pytestmark = pytest.mark.corpus

_GRANULES = {"samples": 32, "tpu_v5p": 32, "tpu_v5e": 512, "tpu_v5e_jax_0.6.2": 512,
             "tpu_v5e_jax_0.9.2": 512}  # fmt: skip


def _dumps(root: Path) -> Iterator[tuple[Path, Compile]]:
    for path in files_of(root, FileKind.ASSIGNMENT):
        yield path, Compile([DumpWorkspace().file(path)])


@pytest.mark.parametrize("folder", sorted(_GRANULES))
def test_tuple_granule_matches_the_chip(folder: str, corpus_small: Path) -> None:
    targets = {target_of(dump) for _, dump in _dumps(corpus_small / folder)}
    assert {target.backend for target in targets} == {Backend.TPU}
    assert {target.granule for target in targets} - {None} == {_GRANULES[folder]}


@pytest.mark.parametrize(("folder", "backend"), [("cpu", Backend.CPU), ("gpu_h100", Backend.GPU)])
def test_other_backends_have_no_granule(folder: str, backend: Backend, corpus_small: Path) -> None:
    targets = {target_of(dump) for _, dump in _dumps(corpus_small / folder)}
    assert {(target.backend, target.granule) for target in targets} == {(backend, None)}
