"""Answers for compiles whose module text XLA's printer wrote, as ``compiled.as_text()`` does."""

from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from cli.command import run
from dumps import files_of
from hlo_lsp.checks.run import check
from hlo_lsp.cost.chips import chip_of
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.program.instruction_owners import InstructionKey
from hlo_lsp.program.stages import module_at_buffer_assignment
from hlo_lsp.reports.cost import cost_json
from hlo_lsp.reports.donation import donation_json, donation_report
from hlo_lsp.reports.kernels import kernel_table
from hlo_lsp.reports.overlap import overlap_json, overlap_of
from hlo_lsp.reports.padding import padding_json, padding_of
from hlo_lsp.reports.summary import SummaryOptions, summarize
from hlo_lsp.reports.summary_text import summary_json
from hlo_lsp.stats.instruction_table import cost_table
from hlo_lsp.syntax.file_kinds import FileKind
from oracles.compiles import on_typical_folders
from oracles.instruction_forms import print_options
from oracles.xla_parser import ends_the_process, is_readable, xla_hlo

pytestmark = pytest.mark.corpus

_MAX_FILE_BYTES = 100_000
_COMPILES = 2  # of a folder of the corpus, spread over it; with `--dumps` all
_COUNT = 10**6  # of rows: all
_PLACES = frozenset({"path", "line", "range", "column"})
_KEYS = (InstructionKey.LINE, InstructionKey.SCOPE, InstructionKey.OPCODE, InstructionKey.PHASE)
# The parser of XLA drops the layout of the context in the shape of these.
_WITH_OTHER_SHAPES = (" send(", " recv(")
# Those of instructions that memory files name, but not the text of `slice-start`.
_WITH_NAMES = frozenset({"donation", "kernels", "summary"})
_OPTIONS = ("default", "operands with shapes", "without percent signs")


@on_typical_folders
def test_all_answers_are_those_of_the_dump(folder: Path, request: pytest.FixtureRequest) -> None:
    hlo = xla_hlo()
    is_sample = not request.config.getoption("--dumps")
    options = print_options(hlo)
    for number, (dump, module) in enumerate(_compiles(folder, is_sample=is_sample)):
        text = hlo.hlo_module_from_text("\n".join(module.lines))
        printed = text.to_string(options[_OPTIONS[number % len(_OPTIONS)]])
        found, expected = _answers(_with_text(dump, module, printed)), _answers(dump)
        omits_names = "async-start(" in "\n".join(module.lines)
        for name, answer in expected.items():
            if omits_names and name in _WITH_NAMES:
                continue
            assert found[name] == answer, (module.label, name)


@pytest.mark.parametrize("option", _OPTIONS)
def test_measured_times_are_those_of_the_dump(
    corpus_profiles: Path, tmp_path: Path, option: str
) -> None:
    folder = corpus_profiles / "jax_0_12" / "train"
    profile, printed = folder / "profile.xplane.pb", copytree(folder / "dump", tmp_path / "dump")
    (module,) = printed.glob("*after_optimizations.txt")
    hlo = xla_hlo()
    text = hlo.hlo_module_from_text(module.read_text("utf-8"))
    module.write_text(text.to_string(print_options(hlo)[option]), "utf-8")
    for key in ("instruction", "line"):
        expected, found = (
            run("profile", profile, dumps, "--format", "json", "--by", key).out
            for dumps in (folder / "dump", printed)
        )
        assert '"own_ps"' in expected
        assert found.replace(str(printed), str(folder / "dump")) == expected


def _compiles(folder: Path, *, is_sample: bool) -> list[tuple[Compile, DumpFile]]:
    paths = [
        path
        for path in files_of(folder, FileKind.ASSIGNMENT)
        if path.stat().st_size < _MAX_FILE_BYTES
    ]
    found = []
    for path in paths[:: len(paths) // _COMPILES + 1 if is_sample else 1]:
        workspace = DumpWorkspace()
        dump = workspace.compile_of(workspace.file(path))
        module = module_at_buffer_assignment(dump)
        text = "" if module is None else "\n".join(module.lines)
        if module is not None and module.path is not None and _is_comparable(text):
            found.append((dump, module))
    return found


def _is_comparable(text: str) -> bool:
    has_other_shapes = any(one in text for one in _WITH_OTHER_SHAPES)
    return not has_other_shapes and is_readable(text) and not ends_the_process(text)


def _with_text(dump: Compile, module: DumpFile, text: str) -> Compile:
    printed = DumpFile.of_text(text, str(module.path))
    files = [printed if file is module else file for file in dump.files]
    return Compile(files, dump.thunk_names, dump.others, dump.frames, target=dump.target)


def _answers(dump: Compile) -> dict[str, Any]:
    chip = chip_of(dump)
    found: dict[str, Any] = {
        "overlap": overlap_json(overlap_of(dump, chip), _COUNT),
        "kernels": kernel_table([dump]),
        "summary": summary_json(summarize(dump, SummaryOptions()), _COUNT),
        "donation": donation_json(donation_report(dump, _COUNT)),
        "padding": padding_json(padding_of(dump), _COUNT),
        "check": sorted(
            (one.code, one.message) for file in dump.files for one in check(dump, file)
        ),
    }
    table = cost_table(dump, chip)
    if table is not None:
        for key in _KEYS:
            found[f"cost by {key.value}"] = cost_json(table, key, _COUNT)
    return {name: _without_places(answer) for name, answer in found.items()}


def _without_places(answer: Any) -> Any:
    if isinstance(answer, dict):
        items = answer.items()
        return {key: _without_places(one) for key, one in items if key not in _PLACES}
    if isinstance(answer, (list, tuple)):
        return [_without_places(one) for one in answer]
    return answer
