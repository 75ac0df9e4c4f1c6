"""Tests that a section of a newer compiler is one unknown form, wherever it is printed."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from checks.checked import check_paths
from faults.dump import Damage, Dump
from faults.judge import failures_of_rules, findings
from hlo_lsp.checks.framework.finding import Finding
from hlo_lsp.cost.chips import chip_of
from hlo_lsp.model.compile import Compile
from hlo_lsp.program.instruction_owners import InstructionKey
from hlo_lsp.reports.cost import cost_json
from hlo_lsp.reports.summary import SummaryOptions, summarize
from hlo_lsp.reports.summary_text import summary_json
from hlo_lsp.stats.instruction_table import cost_table
from oracles import invented_sections as invented
from oracles.invented_sections import inserted

pytestmark = pytest.mark.corpus

_OPERAND = re.compile(r"(?<=[a-z]\()(?<! constant\()%?[A-Za-z_][\w.\-]*")

_COMPILES = {
    "cpu": "module_0002.jit_while_fn.cpu_after_optimizations",
    "tpu_v5e_jax_0.9.2": "module_0063.jit_scan_fn.cl_878335365.after_optimizations",
    "gpu_h100_jax_0.4.38": "module_0001.jit_f.sm_9.0_gpu_after_optimizations",
}


@pytest.fixture(scope="module")
def dumps(corpus_small: Path) -> list[Dump]:
    paths = [
        corpus_small / name / f"{stem}-buffer-assignment.txt" for name, stem in _COMPILES.items()
    ]
    return [Dump(path, [one.name for one in path.parent.iterdir()]) for path in paths]


def _module(dump: Dump) -> Path:
    return next(path for path in dump.lines if path.name.endswith("optimizations.txt"))


def _with_sections(
    path: Path,
    dump: Dump,
    places: Mapping[str, int],
    sections: Mapping[str, Sequence[str]],
    stride: int = 1,
) -> Iterator[tuple[str, Compile]]:
    """Yield the compile with each section at a place; the places take turns."""
    for first, (place, at) in enumerate(places.items()):
        for number, (name, section) in enumerate(sections.items(), first):
            if number % stride:
                continue
            lines = inserted(dump.lines[path], at, section, apart=first % 2 == 0)
            damage = Damage({path: lines}, frozenset(), name)
            yield f"{name} {place} in {path.name}", dump.damaged_compile(damage)


def _problems(dump: Compile) -> list[str]:
    """Return the codes and messages of a compile, with what rules raise."""
    with failures_of_rules() as failures:
        found: list[Finding] = findings(dump)
    return [*(f"{one.code}: {one.message[:80]}" for one in found), *failures]


def _answers(dump: Compile) -> object:
    module = dump.module_file
    assert module is not None
    heads = module.module.all_computations()
    table = cost_table(dump, chip_of(dump))
    return (
        [(head.name, head.is_entry, len(module.module.members(head))) for head in heads],
        module.module.instruction_count,
        summary_json(summarize(dump, SummaryOptions(count=20)), 20),
        None if table is None else cost_json(table, InstructionKey.OPCODE, 20),
    )


def test_section_in_a_module_is_one_unknown_form(dumps: list[Dump]) -> None:
    for dump in dumps:
        path = _module(dump)
        places = invented.module_places(dump.lines[path])
        wrong = [
            (name, problems)
            for name, changed in _with_sections(path, dump, places, invented.IN_MODULES, 2)
            if not _is_one_form(problems := _problems(changed))
        ]
        assert wrong == []


def test_section_changes_no_answer_about_the_module(dumps: list[Dump]) -> None:
    dump = dumps[0]
    path = _module(dump)
    expected = _answers(dump.intact_compile())
    places = invented.module_places(dump.lines[path])
    few = {name: invented.IN_MODULES[name] for name in ("nested", "assigned", "json", "one line")}
    for name, changed in _with_sections(path, dump, places, few):
        assert _answers(changed) == expected, name


@pytest.mark.parametrize("section", ["nested", "json", "one line", "assigned title"])
def test_section_hides_no_error_of_its_module(dumps: list[Dump], section: str) -> None:
    for dump in dumps:
        path = _module(dump)
        lines = dump.lines[path]
        at = next(at for at, line in enumerate(lines) if _OPERAND.search(line))
        broken = (*lines[:at], _OPERAND.sub("gone", lines[at], count=1), *lines[at + 1 :])
        for place, start in invented.module_places(lines).items():
            text = inserted(broken, start, invented.IN_MODULES[section], apart=True)
            damage = Damage({path: text}, frozenset(), section)
            problems = _problems(dump.damaged_compile(damage))
            assert any(one.startswith("undefined") for one in problems), (place, problems)


def test_section_in_a_memory_file_is_one_unknown_form(dumps: list[Dump]) -> None:
    for dump in dumps:
        for path, lines in dump.lines.items():
            if not dump.kind(path).is_memory:
                continue
            places = invented.memory_places(lines), invented.live_range_places(lines)
            sections = invented.IN_MEMORY, invented.IN_LIVE_RANGES
            wrong = [
                (name, problems)
                for where, which in zip(places, sections, strict=True)
                for name, changed in _with_sections(path, dump, where, which, 3)
                if not _is_one_form(problems := _problems(changed))
            ]
            assert wrong == []


def _is_one_form(problems: Sequence[str]) -> bool:
    return len(problems) == 1 and problems[0].startswith("unknown-form: ")


def test_section_in_a_stdout_dump_is_one_unknown_form(dumps: list[Dump], tmp_path: Path) -> None:
    dump = dumps[0]
    path = _module(dump)
    lines = dump.lines[path]
    for name, section in invented.IN_MODULES.items():
        text = inserted(lines, invented.module_places(lines)["at the end"], section, apart=False)
        whole = [f"*** Begin {path.name} ***", *text[:-1], f"*** End {path.name} ***", ""]
        file = tmp_path / "stdout.txt"
        file.write_text("\n".join(whole), encoding="utf-8")
        (checked,) = check_paths([file])
        codes = [one.code for one in checked.findings if one.code != "sibling-missing"]
        assert codes == ["unknown-form"], name
