"""Tests for the detection of dump formats."""

import re
from pathlib import Path

import pytest

from compilers.archive import smallest_compile, without_machine_paths
from compilers.generations import NOT_PRINTED, DumpTexts, detect
from dumps import files_of
from oracles.compiles import GENERATIONS

_CPU_TODAY = {
    "stem": "`cpu_after_optimizations`",
    "memory files": "split",
    "page": NOT_PRINTED,
    "records": "own line",
    "operand shapes": NOT_PRINTED,
    "no uses": "`(none)`",
    "live ranges": "own file",
    "peak list": "L1",
    "breakdown": "yes",
    "report": "G3",
    "metadata": "StackFrames",
    "module text": "%, signatures",
    "thunks": NOT_PRINTED,
}
_DIFFERENCES = {
    "cpu": {},
    "cpu_jax_0.6.2": {
        "memory files": "one file",
        "no uses": "empty",
        "live ranges": "yes",
        "breakdown": NOT_PRINTED,
        "report": "G1",
        "metadata": "source_file",
    },
    "tpu_v5e": {"stem": "`after_optimizations`", "page": "yes"},
    "gpu_h100": {
        "stem": "`sm_9.0a_gpu_after_optimizations`",
        "metadata": "StackFrames + scheduling_name",
        "thunks": "T4",
    },
    "gpu_h100_jax_0.8.3": {
        "stem": "`sm_9.0a_gpu_after_optimizations`",
        "memory files": "one file",
        "no uses": "empty",
        "live ranges": "yes",
        "report": "G1",
        "metadata": "StackFrames + scheduling_name",
        "thunks": "T2",
    },
    "gpu_h100_jax_0.4.38": {
        "stem": "`sm_9.0_gpu_after_optimizations`",
        "memory files": "one file",
        "operand shapes": "yes",
        "no uses": "empty",
        "live ranges": "yes",
        "peak list": "L0",
        "breakdown": NOT_PRINTED,
        "report": "G1",
        "metadata": "source_file",
        "module text": "no %, no signatures, end comments",
        "thunks": "T0",
    },
}


@pytest.mark.parametrize("folder", _DIFFERENCES)
def test_forms_of_corpus_folders(folder: str, corpus_small: Path) -> None:
    forms = detect(DumpTexts.read(files_of(corpus_small / folder)))
    assert forms == _CPU_TODAY | _DIFFERENCES[folder]


def test_archived_generations_differ(corpus_small: Path, corpus_generations: Path) -> None:
    folders = [corpus_generations / name for name in GENERATIONS]
    forms = [tuple(detect(DumpTexts.read(files_of(folder))).values()) for folder in folders]
    assert len(set(forms)) == len(forms)
    known = {
        tuple(detect(DumpTexts.read(files_of(folder))).values())
        for folder in corpus_small.iterdir()
    }
    assert not known & set(forms)


def test_archived_generations_have_no_private_paths(corpus_generations: Path) -> None:
    for path in files_of(corpus_generations):
        text = path.read_text("utf-8")
        assert not re.search(r'"/(?!home/user/)[^"]*\.py"', text), path.name


def test_private_paths_are_replaced() -> None:
    text = '1 "/var/x/.work/models/programs.py"\n2 "/var/venv/lib/site-packages/jax/a.py"\n'
    assert without_machine_paths(text) == (
        '1 "/home/user/models/programs.py"\n2 "/home/user/site-packages/jax/a.py"\n'
    )


def test_smallest_compile_has_all_forms(corpus_small: Path) -> None:
    folder = corpus_small / "gpu_h100_jax_0.4.38"
    forms = detect(DumpTexts.read(files_of(folder)))
    chosen = smallest_compile(folder, forms)
    assert detect(DumpTexts.read(chosen)) == forms
    assert len({path.name.split(".")[0] for path in chosen}) == 1
