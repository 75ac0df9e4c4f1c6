"""Tests for computed sizes, compared with the sizes that XLA printed."""

import re
from math import prod
from pathlib import Path

import pytest

from hlo_lsp.ide.inspection import instruction_json, value_json
from hlo_lsp.memory.logical_sizes import live_bytes
from hlo_lsp.model.compile import Compile
from hlo_lsp.syntax.file_kinds import FileKind
from oracles.compiles import compiles_of

pytestmark = pytest.mark.corpus

_ARRAY = re.compile(r"([a-z]\w*)\[([\d,<=]*)\](?:\{[\d,]*(?::(.*))?\})?")
_ELEMENT_BITS = re.compile(r"E\((\d+)\)")
_WIDTH = re.compile(r"\d+")


def test_sizes_match_printed_sizes_and_shapes(folder: Path) -> None:
    for compile_ in compiles_of(folder):
        for assigned in compile_.printed.assigned.values():
            value = compile_.dump.value(assigned.id)
            assert value is not None
            facts = value_json(compile_.dump, value)
            assert facts["padded_bytes"] == assigned.size, assigned.shape
            assert facts["logical_bytes"] == raw_bytes(assigned.shape), assigned.shape


def test_logical_sizes_match_printed_peak_rows(folder: Path) -> None:
    for compile_ in compiles_of(folder):
        for row in compile_.printed.peak:
            if row.index is not None:
                assert live_bytes(compile_.dump, [row.name + row.index]) == [row.bytes]
            else:  # In jax 0.4, the row has the size of the whole instruction.
                instruction = instruction_json(compile_.dump, row.name)
                assert instruction is not None
                assert instruction["logical_bytes"] == row.bytes


def test_values_file_alone_gives_allocation_shapes(folder: Path) -> None:
    for compile_ in compiles_of(folder):
        for file in compile_.dump.files:
            if file.kind is FileKind.VALUES:
                alone = Compile([file])
                shapes = {
                    value.id: value_json(alone, value)["shape"]
                    for value in map(alone.value, alone.value_ids())
                    if value is not None
                }
                printed = compile_.printed.assigned.values()
                assert shapes == {value.id: value.shape for value in printed}


def raw_bytes(shape: str) -> int:
    """Return ``ShapeUtil::ByteSizeOf``: a pointer per tuple element, or the size without tiles."""
    if shape.startswith("("):
        return 8 * _arity(shape[1:-1])
    match = _ARRAY.fullmatch(shape)
    assert match is not None, shape
    name, dims, letters = match.groups()
    bits = _ELEMENT_BITS.search(letters or "")
    width = _WIDTH.search(name)
    if bits is not None:
        size = int(bits[1])
    elif name == "token":
        size = 0
    else:
        size = 8 if name == "pred" or width is None else max(8, int(width[0]))
    elements = prod(int(dim.removeprefix("<=")) for dim in dims.split(",") if dim)
    return -(-elements * size // 8)


def _arity(elements: str) -> int:
    depth = commas = 0
    for character in elements:
        depth += (character in "([{") - (character in ")]}")
        commas += character == "," and depth == 0
    return commas + 1 if elements else 0
