"""The comparison of what the hosts of one program compiled."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path

import pytest

from hlo_lsp.display.table import text_lines
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.reports.hosts import (
    ComparedModule,
    HostCompile,
    compare_hosts,
    hosts_content,
    hosts_json,
)
from hlo_lsp.syntax.texts_without_names import fingerprint

_STEP = """\
HloModule jit_step, is_scheduled=true

ENTRY %main.1 (x: f32[8]) -> f32[8] {
  %x = f32[8]{0} parameter(0), metadata={op_name="x"}
  ROOT %add.2 = f32[8]{0} add(%x, %x), metadata={op_name="jit(step)/add"}
}
"""
_SEND = "  %a.1 = f32[8]{0} all-reduce(%x), channel_id=1, to_apply=%sum\n"
_TWO = f"""\
HloModule jit_step, is_scheduled=true

ENTRY %main.1 (x: f32[8]) -> f32[8] {{
  %x = f32[8]{{0}} parameter(0)
{_SEND}  %b.2 = f32[8]{{0}} all-reduce(%x), channel_id=2, to_apply=%sum
  ROOT %add.2 = f32[8]{{0}} add(%a.1, %b.2)
}}
"""
_FUSED = """\
HloModule jit_step, is_scheduled=true

%fused (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  ROOT %negate.3 = f32[8]{0} negate(%p), metadata={op_name="jit(step)/neg"}
}

ENTRY %main.1 (x: f32[8]) -> f32[8] {
  %x = f32[8]{0} parameter(0), metadata={op_name="x"}
  ROOT %fusion.2 = f32[8]{0} fusion(%x), kind=kLoop, calls=%fused
}
"""
_RENUMBERED = _STEP.replace("add.2", "add.7").replace("main.1", "main.5")
_OTHER_OPCODE = _STEP.replace(" add(", " subtract(")
_OTHER_SHAPE = _STEP.replace("f32[8]", "f32[4]")
_CHANGE = "add.2: add -> subtract"
_EVAL = _STEP.replace("jit_step", "jit_eval")


def _write(folder: Path, modules: Mapping[str, list[str]]) -> None:
    for host, texts in modules.items():
        (folder / host).mkdir()
        for number, text in enumerate(texts):
            name = text.split()[1].strip(",")
            path = folder / host / f"module_{number:04}.{name}.cpu_after_optimizations.txt"
            path.write_text(text)


def _compiles(folder: Path) -> list[HostCompile]:
    def read(path: Path) -> Compile:
        workspace = DumpWorkspace()
        return workspace.compile_of(workspace.file(path))

    compiles = []
    for path in sorted(folder.glob("*/*.txt")):
        known = fingerprint(path.read_text().split("\n")) if path.stat().st_size else None
        name = path.name.split(".")[1]
        compiles.append(HostCompile(path.parent.name, "", name, known, None, partial(read, path)))
    return compiles


def _compared(folder: Path) -> list[ComparedModule]:
    return list(compare_hosts(_compiles(folder)))


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
    lines = list(text_lines(hosts_content(["host_10", *same.hosts], list(modules.values()))))
    assert lines[0] == "4 hosts · 2 modules · 1 the same on all hosts · hosts that differ: host_10"
    assert f"host_10: {difference}" in map(str.strip, lines)


def test_difference_in_a_fused_computation_is_shown(tmp_path: Path) -> None:
    other = _FUSED.replace(" negate(", " sine(")
    _write(tmp_path, {"host_0": [_FUSED], "host_1": [_FUSED], "host_2": [other]})
    (module,) = _compared(tmp_path)
    assert module.groups[1].difference == "fusion.2: negate.3: negate -> sine"


def test_compiles_of_one_name_are_compared_in_order(tmp_path: Path) -> None:
    _write(tmp_path, {name: [_STEP, _OTHER_SHAPE] for name in ("host_0", "host_1")})
    assert [(one.name, one.is_same) for one in _compared(tmp_path)] == [
        ("jit_step (compile 1)", True),
        ("jit_step (compile 2)", True),
    ]


def test_compile_that_one_host_has_more_is_named_once(tmp_path: Path) -> None:
    folders = {f"host_{number}": [_STEP] for number in range(3)}
    _write(tmp_path, {**folders, "host_2": [_OTHER_SHAPE, _STEP]})
    first, second = _compared(tmp_path)
    assert first.is_same
    missing, only = second.groups
    assert (missing.hosts, missing.module) == (("host_0", "host_1"), None)
    assert (only.hosts, only.difference) == (("host_2",), "compiled only here")
    lines = list(text_lines(hosts_content(folders, [first, second])))
    assert lines[0].endswith("hosts that differ: host_2")


@pytest.mark.parametrize(
    "other",
    [
        _TWO.replace(_SEND, "").replace("  ROOT", f"{_SEND}  ROOT"),
        _TWO.replace("channel_id=1", "channel_id=3").replace("channel_id=2", "channel_id=1")
        .replace("channel_id=3", "channel_id=2"),
        _TWO.replace("is_scheduled=true", "is_scheduled=true, num_partitions=8"),
        _TWO.replace("parameter(0)", "parameter(0), sharding={replicated}"),
    ],
    ids=["order", "channels", "partitions", "sharding"],
)  # fmt: skip
def test_differences_that_can_hang_are_found(tmp_path: Path, other: str) -> None:
    _write(tmp_path, {"host_0": [_TWO], "host_1": [_TWO], "host_2": [other]})
    ((same, differing),) = [one.groups for one in _compared(tmp_path)]
    assert same.hosts == ("host_0", "host_1")
    assert differing.hosts == ("host_2",)
    assert differing.difference


def test_host_without_text_differs(tmp_path: Path) -> None:
    _write(tmp_path, {"host_0": [_STEP], "host_1": [_STEP], "host_2": [_STEP]})
    (tmp_path / "host_2" / "module_0000.jit_step.cpu_after_optimizations.txt").write_text("")
    ((_, other),) = [one.groups for one in _compared(tmp_path)]
    assert (other.hosts, other.difference) == (("host_2",), "no text of the compiled module")


def test_json_has_the_groups_of_each_module(tmp_path: Path) -> None:
    _write(tmp_path, {"host_0": [_STEP], "host_1": [_STEP], "host_2": [_OTHER_OPCODE]})
    found = hosts_json(["host_1", "host_0", "host_2"], _compared(tmp_path))
    (module,) = found["modules"]
    assert found["hosts"] == module["hosts"] == ["host_0", "host_1", "host_2"]
    assert [(one["hosts"], one["difference"]) for one in module["groups"]] == [
        (["host_0", "host_1"], None),
        (["host_2"], _CHANGE),
    ]


def test_module_that_only_an_unread_host_has_differs(tmp_path: Path) -> None:
    _write(tmp_path, {"host_0": [_STEP], "host_1": [_STEP]})
    unread = HostCompile("host_2", "", "jit_eval", None, None, lambda: None)
    step, evaluation = compare_hosts([*_compiles(tmp_path), unread])
    assert (step.differs, step.unread) == (True, ())
    assert (evaluation.differs, evaluation.unread) == (True, ("host_2",))
    lines = list(text_lines(hosts_content(["host_0", "host_1", "host_2"], [evaluation])))
    assert lines[1:] == ["    jit_eval · not on 2 hosts", "    host_2: unreadable files"]


def test_unread_host_is_apart_from_those_that_differ(tmp_path: Path) -> None:
    _write(tmp_path, {"host_0": [_STEP], "host_1": [_STEP], "host_2": [_OTHER_OPCODE]})
    unread = HostCompile("host_3", "", "jit_step", None, None, lambda: None)
    (module,) = compare_hosts([*_compiles(tmp_path), unread])
    assert [one.hosts for one in module.groups] == [("host_0", "host_1"), ("host_2",)]
    assert (module.unread, module.differs, module.is_same) == (("host_3",), True, False)
    lines = list(text_lines(hosts_content(["host_0", "host_1", "host_2", "host_3"], [module])))
    assert lines[0].endswith("hosts that differ: host_2 · hosts with unreadable files: host_3")
    assert lines[-1].strip() == "host_3: unreadable files"
    assert hosts_json([], [module])["modules"][0]["unread"] == ["host_3"]
