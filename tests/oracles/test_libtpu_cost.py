"""Tests for the cost of TPU programs, compared with ``compiled.cost_analysis()`` of libtpu.

``libtpu_costs.json`` has the FLOPs, the transcendentals, and the bytes accessed of the programs in
the corpus, as jax 0.10.2 with libtpu 0.0.51 reported them.
"""

import json
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import pytest

from hlo_lsp.cost.operation import Cost, OperandIndex
from hlo_lsp.cost.physical_costs import LibtpuCosts, PhysicalCosts, libtpu_costs
from hlo_lsp.model.backend import Backend
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.model.padded_sizes import Target, sizes_of_text
from hlo_lsp.syntax.module_records import InstructionLine

_RECORDED = json.loads(Path(__file__).with_name("libtpu_costs.json").read_text("utf-8"))
_TUPLE_GRANULES = {"tpu_v5e": 512, "tpu_v5p": 32}
_TOLERANCE = 0.01
# Programs that move fewer bytes than libtpu counts, because of their gathers and scatters: libtpu
# counts all tiles for each index, those of the padding, and tiles larger than the array.
_FEWER_BYTES = {
    "tpu_v5e": {"module_0115", "module_0255", "module_0282"},
    "tpu_v5p": {"module_0116", "module_0262", "module_0293"},
}


class _MovedBytes(LibtpuCosts):
    """The costs of libtpu, but with what each index of a gather or a scatter moves."""

    def _indexed_cost(self, moving: InstructionLine, fusion: InstructionLine) -> Cost:
        return PhysicalCosts._indexed_cost(self, moving, fusion)


def _costs_of(module: ModuleIndex, chip: str) -> LibtpuCosts:
    target = Target(Backend.TPU, _TUPLE_GRANULES[chip])
    return libtpu_costs(
        OperandIndex(module), lambda shape, _=None, /: sizes_of_text(shape, target).bytes or 0
    )


@lru_cache
def _module(path: Path) -> ModuleIndex:
    return DumpFile.of_text(path.read_text("utf-8")).module


def _programs(corpus: Path, chip: str) -> Iterator[tuple[str, ModuleIndex, Cost]]:
    for name, numbers in _RECORDED[chip].items():
        yield name.partition(".")[0], _module(corpus / chip / name), Cost(*numbers)


@pytest.mark.corpus
@pytest.mark.parametrize("chip", _RECORDED)
def test_flops_are_those_of_libtpu(corpus_small: Path, chip: str) -> None:
    for name, module, expected in _programs(corpus_small, chip):
        cost = _costs_of(module, chip).total
        assert cost.flops == pytest.approx(expected.flops, rel=1e-5, abs=4), name
        assert cost.transcendentals == pytest.approx(expected.transcendentals, rel=1e-5), name


@pytest.mark.corpus
@pytest.mark.parametrize("chip", _RECORDED)
def test_bytes_are_those_of_libtpu(corpus_small: Path, chip: str) -> None:
    for name, module, expected in _programs(corpus_small, chip):
        cost = _costs_of(module, chip).total
        assert cost.bytes_accessed == pytest.approx(expected.bytes_accessed, rel=_TOLERANCE), name


@pytest.mark.corpus
@pytest.mark.parametrize("chip", _RECORDED)
def test_moved_bytes_are_at_most_those_of_libtpu(corpus_small: Path, chip: str) -> None:
    fewer = set()
    for name, module, expected in _programs(corpus_small, chip):
        costs = _costs_of(module, chip)
        found = _MovedBytes(costs.operands, costs.size_of).total.bytes_accessed
        assert found <= (1 + _TOLERANCE) * expected.bytes_accessed, name
        if found < (1 - _TOLERANCE) * expected.bytes_accessed:
            fewer.add(name)
    assert fewer == _FEWER_BYTES[chip]
