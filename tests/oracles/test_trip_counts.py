"""Tests for trip counts, compared with those that XLA prints."""

from pathlib import Path

import pytest

from dumps import module_files
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.program.trip_counts import printed_trip_count, trip_count

_KNOWN = '"known_trip_count"'
# The loops of the programs in `corpus/programs.py`; that of `while_fn` depends on its data.
_LOOPS: dict[str, set[int | None]] = {
    "scan_fn": {33},
    "scan_g": {33},
    "fn": {7, 11},
    "callf": {5},
    "f": {4, 6, 8},
    "rngf": {5},
    "while_fn": {None},
}


@pytest.mark.corpus
def test_computed_trip_counts_are_those_of_xla(folder: Path) -> None:
    for path in module_files(folder):
        text = path.read_bytes().decode()
        if _KNOWN not in text:
            continue
        printed = DumpFile.of_text(text).module
        hidden = DumpFile.of_text(text.replace(_KNOWN, '"n"')).module
        loops = [one for one in printed.instructions.records() if one.opcode == "while"]
        for loop in loops:
            same = hidden.instructions.first(loop.name)
            assert same is not None
            expected = printed_trip_count(loop.parsed)
            if expected is not None:
                assert trip_count(hidden, same) == expected, (path, loop.name)


@pytest.mark.corpus
def test_trip_counts_of_tpu_loops_are_those_of_the_program(corpus_small: Path) -> None:
    count = 0
    for folder in corpus_small.glob("tpu_*"):
        for path in module_files(folder):
            text = path.read_bytes().decode()
            module = DumpFile.of_text(text).module if " while(" in text else None
            if module is None or module.header is None:
                continue
            expected = _LOOPS[module.header.name.removeprefix("jit_")]
            for loop in module.instructions.records():
                if loop.opcode == "while":
                    count += 1
                    assert trip_count(module, loop) in expected, (path, loop.name)
    assert count
