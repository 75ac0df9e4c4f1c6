"""Tests for the cost of TPU programs, compared with ``compiled.cost_analysis()`` of libtpu.

``libtpu_costs.json`` has the FLOPs, the transcendentals, and the bytes accessed of the programs in
the corpus, as jax 0.10.2 with libtpu 0.0.51 reported them.
"""

import json
from pathlib import Path

import pytest

from hlo_lsp.cost.module_costs import ModuleCosts
from hlo_lsp.cost.operands import OperandIndex
from hlo_lsp.cost.operation import Cost
from hlo_lsp.model.backend import Backend
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.padded_sizes import Target, sizes_of_text

_RECORDED = json.loads(Path(__file__).with_name("libtpu_costs.json").read_text("utf-8"))
_TUPLE_GRANULES = {"tpu_v5e": 512, "tpu_v5p": 32}
_FLAG = "[]{:S(2)}"  # the state of an asynchronous copy
_FLAG_BYTES = 4096  # as libtpu counts them: a scalar without a tile takes 1,024 elements
_TOLERANCE = 0.01
# Programs whose bytes differ, and the causes.
_TOPK = "the custom call TopK has a cost in libtpu, not in XLA's analysis"
_KERNELS = "kernels (`tpu_custom_call`) have a cost in libtpu, not in XLA's analysis"
_ROWS = "libtpu counts each row of a gather or scatter with padding of its own"
_OTHER_BYTES = {
    "tpu_v5e": {
        "module_0052": _TOPK,
        "module_0115": _ROWS,
        "module_0204": "collectives that start and end in fusions",
        "module_0243": "transfers to the host",
        "module_0251": _KERNELS,
        "module_0255": _ROWS,
        "module_0282": f"{_ROWS}; {_KERNELS}",
    },
    "tpu_v5p": {
        "module_0052": _TOPK,
        "module_0116": _ROWS,
        "module_0250": "transfers to the host",
        "module_0258": _KERNELS,
        "module_0293": f"{_ROWS}; {_KERNELS}",
    },
}


def _costs(folder: Path, name: str) -> tuple[Cost, int]:
    """Return the cost of a module by XLA's rules, and the bytes with physical sizes."""
    target = Target(Backend.TPU, _TUPLE_GRANULES[folder.name])

    def size_of(shape: str, _: str | None = None, /) -> int:
        if shape.endswith(_FLAG):
            return _FLAG_BYTES
        return sizes_of_text(shape, target).bytes or 0

    operands = OperandIndex(DumpFile.of_text((folder / name).read_text("utf-8")).module)
    cost = ModuleCosts(operands, size_of).total
    return cost, cost.bytes_accessed


@pytest.mark.corpus
@pytest.mark.parametrize("chip", _RECORDED)
def test_flops_are_those_of_libtpu(corpus_small: Path, chip: str) -> None:
    for name, (flops, transcendentals, _) in _RECORDED[chip].items():
        cost, _ = _costs(corpus_small / chip, name)
        if _OTHER_BYTES[chip].get(name.partition(".")[0]) not in {_TOPK, _KERNELS}:
            assert cost.flops == pytest.approx(flops, rel=1e-5, abs=4), name
            assert cost.transcendentals == pytest.approx(transcendentals, rel=1e-5), name


@pytest.mark.corpus
@pytest.mark.parametrize("chip", _RECORDED)
def test_physical_bytes_are_those_of_libtpu(corpus_small: Path, chip: str) -> None:
    different = set()
    for name, (_, _, expected) in _RECORDED[chip].items():
        _, found = _costs(corpus_small / chip, name)
        if abs(found - expected) > _TOLERANCE * expected:
            different.add(name.partition(".")[0])
    assert different == _OTHER_BYTES[chip].keys()
