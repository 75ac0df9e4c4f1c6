"""The comparison of what the hosts of one program compiled."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from hlo_lsp.model.compile import Compile
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.reports.hosts import (
    ComparedModule,
    compare_hosts,
    host_files,
    hosts_json,
    hosts_lines,
)

_STEP = """\
HloModule jit_step, is_scheduled=true

ENTRY %main.1 (x: f32[8]) -> f32[8] {
  %x = f32[8]{0} parameter(0), metadata={op_name="x"}
  ROOT %add.2 = f32[8]{0} add(%x, %x), metadata={op_name="jit(step)/add"}
}
"""
_RENUMBERED = _STEP.replace("add.2", "add.7").replace("main.1", "main.5")
_OTHER_OPCODE = _STEP.replace(" add(", " subtract(")
_OTHER_SHAPE = _STEP.replace("f32[8]", "f32[4]")
_CHANGE = "also has add.2 = f32[8]{0} subtract jit(step)/add"
_EVAL = _STEP.replace("jit_step", "jit_eval")


def _write(folder: Path, modules: Mapping[str, list[str]]) -> None:
    for host, texts in modules.items():
        (folder / host).mkdir()
        for number, text in enumerate(texts):
            name = text.split()[1].strip(",")
            path = folder / host / f"module_{number:04}.{name}.cpu_after_optimizations.txt"
            path.write_text(text)


def _compared(folder: Path) -> list[ComparedModule]:
    def read(path: Path) -> Compile:
        workspace = DumpWorkspace()
        return workspace.compile_of(workspace.file(path))

    paths = sorted(folder.glob("*/*.txt"))
    files = host_files(paths, lambda path: path.name.split(".")[1], lambda path: [path])
    return list(compare_hosts(files, read))


def test_hosts_with_other_names_and_numbers_compiled_the_same(tmp_path: Path) -> None:
    _write(tmp_path, {"host_0": [_STEP, _EVAL], "host_1": [_RENUMBERED, _EVAL]})
    step, evaluation = _compared(tmp_path)
    assert (step.name, step.hosts, step.is_same) == ("jit_step", ("host_0", "host_1"), True)
    assert evaluation.is_same


@pytest.mark.parametrize(
    ("other", "difference"),
    [
        (_OTHER_OPCODE, _CHANGE),
        (_OTHER_SHAPE, "x: f32[8] -> f32[4]"),
        (None, "did not compile this module"),
    ],
)
def test_hosts_that_differ_are_named_with_the_first_difference(
    tmp_path: Path, other: str | None, difference: str
) -> None:
    texts = [_STEP, *([] if other is None else [other])]
    folders = {f"host_{number}": [_EVAL, _STEP] for number in range(3)}
    _write(tmp_path, {**folders, "host_10": [_EVAL, *texts[1:]]})
    modules = {one.name: one for one in _compared(tmp_path)}
    assert modules["jit_eval"].is_same
    same, differing = modules["jit_step"].groups
    assert (same.hosts, same.difference) == (("host_0", "host_1", "host_2"), None)
    assert (differing.hosts, differing.difference) == (("host_10",), difference)
    lines = list(hosts_lines(["host_10", *same.hosts], list(modules.values())))
    assert lines[0] == "4 hosts · 2 modules · 1 the same on all hosts · hosts that differ: host_10"
    assert f"    host_10: {difference}" in lines


def test_compiles_of_one_name_are_compared_in_order(tmp_path: Path) -> None:
    _write(tmp_path, {name: [_STEP, _OTHER_SHAPE] for name in ("host_0", "host_1")})
    assert [(one.name, one.is_same) for one in _compared(tmp_path)] == [
        ("jit_step (compile 1)", True),
        ("jit_step (compile 2)", True),
    ]


def test_json_has_the_groups_of_each_module(tmp_path: Path) -> None:
    _write(tmp_path, {"host_0": [_STEP], "host_1": [_STEP], "host_2": [_OTHER_OPCODE]})
    found = hosts_json(["host_1", "host_0", "host_2"], _compared(tmp_path))
    (module,) = found["modules"]
    assert found["hosts"] == module["hosts"] == ["host_0", "host_1", "host_2"]
    assert [(one["hosts"], one["difference"]) for one in module["groups"]] == [
        (["host_0", "host_1"], None),
        (["host_2"], _CHANGE),
    ]
