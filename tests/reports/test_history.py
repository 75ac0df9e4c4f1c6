"""What the passes of a compile changed."""

from pathlib import Path

import pytest

from hlo_lsp.model.compile_files import compiles_below
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.reports.history import (
    Stage,
    event_lines,
    history_lines,
    stage_label,
    stages_of,
)

_HEAD = "HloModule jit_f\n\n"
_BEFORE = """\
ENTRY %main (x: f32[8]) -> f32[8] {
  %x = f32[8] parameter(0)
  %c = f32[8] copy(%x)
  ROOT %r = f32[8] add(%c, %c)
}
"""
_WITHOUT_COPY = _BEFORE.replace("  %c = f32[8] copy(%x)\n", "").replace("%c", "%x")
_FUSED = """\
%fused (p: f32[8]) -> f32[8] {
  %p = f32[8] parameter(0)
  ROOT %r = f32[8] add(%p, %p)
}

ENTRY %main (x: f32[8]) -> f32[8] {
  %x = f32[8] parameter(0)
  ROOT %fusion = f32[8] fusion(%x), kind=kLoop, calls=%fused
}
"""
_NAMES = (
    "module_0001.jit_f.before_optimizations.txt",
    "module_0001.jit_f.0001.simplify.after_algsimp.before_dce.txt",
    "module_0001.jit_f.0002.fusing.after_fusion.before_pipeline-end.txt",
    "module_0001.jit_f.cpu_after_optimizations.txt",
)


def _stages() -> list[Stage]:
    texts = (_BEFORE, _WITHOUT_COPY, _FUSED, _FUSED)
    files = [DumpFile.of_text(_HEAD + text, name) for name, text in zip(_NAMES, texts, strict=True)]
    return stages_of(files)


def test_each_changing_pass_has_a_line() -> None:
    assert list(history_lines(_stages())) == [
        "before optimizations: 3 instructions",
        "simplify > algsimp: 2 instructions, 1 removed, 1 changed, -32 B of results",
        "fusing > fusion: 4 instructions, 2 created, 1 changed",
    ]


@pytest.mark.parametrize(
    ("name", "events"),
    [
        (
            "c",
            ["before optimizations: in the program: f32[8] copy(x)", "simplify > algsimp: removed"],
        ),
        ("fusion", ["fusing > fusion: created: f32[8] fusion(x)"]),
        (
            "r",
            [
                "before optimizations: in the program: f32[8] add(c, c)",
                "simplify > algsimp: changed: f32[8] add(c, c) -> f32[8] add(x, x)",
                "fusing > fusion: changed: f32[8] add(x, x) -> f32[8] add(p, p)",
            ],
        ),
        ("absent", []),
    ],
)
def test_events_of_an_instruction(name: str, events: list[str]) -> None:
    assert list(event_lines(_stages(), name)) == events


@pytest.mark.parametrize(
    ("name", "label"),
    [
        (_NAMES[0], "before optimizations"),
        (_NAMES[1], "simplify > algsimp"),
        ("module_0001.jit_f.0000.spmd.after_pipeline-start.before_x.txt", "spmd"),
        (
            "module_0001.jit_f.0021.copy-insertion.after_adding_copies.txt",
            "copy-insertion > adding_copies",
        ),
        (
            "module_0001.jit_f.0055.tiling-rewriter.before_tiling.txt",
            "tiling-rewriter > before_tiling",
        ),
        ("module_0001.jit_f.cl_7.after_optimizations.txt", "after optimizations"),
    ],
)
def test_label_names_pipeline_and_pass(name: str, label: str) -> None:
    assert stage_label(Path(name)) == label


@pytest.mark.corpus
def test_last_stage_is_the_optimized_module(corpus_small: Path) -> None:
    compared = 0
    for compile_ in compiles_below(corpus_small / "cpu"):
        workspace = DumpWorkspace()
        texts = [workspace.file(text) for text in compile_.texts]
        stages = stages_of(texts)
        if len(stages) > 1:
            assert stages[-1].label == "after optimizations"
            created = sum(len(stage.created) - len(stage.removed) for stage in stages)
            assert len(stages[0].definitions) + created == len(stages[-1].definitions)
            compared += 1
    assert compared


def _changes(first: str, second: str) -> list[str]:
    texts = zip(_NAMES, (first, second), strict=False)
    stages = stages_of(DumpFile.of_text(_HEAD + text, name) for name, text in texts)
    return list(history_lines(stages))


def test_unbounded_results_have_unknown_size() -> None:
    before = _BEFORE.replace("f32[8]", "f32[?,8]")
    _, line = _changes(before, _WITHOUT_COPY.replace("f32[8]", "f32[?,8]"))
    assert line.endswith("1 removed, 1 changed, unknown change of the size of results")


def test_cut_off_text_is_named() -> None:
    _, line = _changes(_BEFORE, _WITHOUT_COPY[: _WITHOUT_COPY.index("  ROOT")])
    assert "in a part of the program: " in line
    assert line.endswith("2 removed, unknown change of the size of results")
