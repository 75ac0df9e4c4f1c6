"""Tests for ``check`` on real dumps, which have no problems."""

from pathlib import Path

import pytest

from checks.checked import check_paths
from dumps import files_of, kind_by_name
from hlo_lsp.checks.advice import advice_rules
from hlo_lsp.checks.check_jobs import FileResult
from hlo_lsp.checks.framework.finding import Severity
from hlo_lsp.checks.run import check
from hlo_lsp.memory.advice import AdviceKind
from hlo_lsp.reports.summary import summarize
from hlo_lsp.syntax.file_kinds import FileKind
from oracles.compiles import compiles_of, on_every_folder

pytestmark = pytest.mark.corpus
# In files; the first test reads all, and a file alone is checked by a part of the same rules.
_SAMPLE_INTERVAL = 9


@on_every_folder
def test_check_finds_nothing_in_a_folder(folder: Path) -> None:
    checked = check_paths([folder])
    found = [(one.path.name, finding) for one in checked for finding in _problems(one)]
    assert found == []
    assert [one.note for one in checked if one.note is not None] == []
    assert {one.path for one in checked} == set(files_of(folder))
    wrong = {one.path.name: one.kind for one in checked if one.kind is not kind_by_name(one.path)}
    assert wrong == {}


def test_check_finds_nothing_in_single_files(folder: Path, tmp_path: Path) -> None:
    alone = tmp_path / "alone"
    alone.mkdir()
    kinds = {kind for kind in FileKind if kind.is_memory}
    for path in files_of(folder, *kinds)[::_SAMPLE_INTERVAL]:
        copy = alone / path.name
        copy.write_bytes(path.read_bytes())
        for one in check_paths([copy]):
            assert _problems(one) == []
            assert one.note is None
        copy.unlink()


def test_check_finds_nothing_in_210_mb_values_file(train_l96: Path) -> None:
    checked = check_paths([train_l96])
    assert max(one.path.stat().st_size for one in checked) > 200e6
    assert [finding for one in checked for finding in _problems(one)] == []


def _problems(checked: FileResult) -> list[object]:
    """Return the problems of a folder, without advice about the program."""
    return [
        finding
        for finding in checked.findings
        if finding.severity in {Severity.ERROR, Severity.WARNING}
    ]


def test_check_reports_the_advice_of_summaries(folder: Path) -> None:
    codes = {AdviceKind.DONATION: "unused-donation", AdviceKind.PADDING: "padding-waste"}
    for compile_ in compiles_of(folder):
        dump = compile_.dump
        summary = summarize(dump)
        advised = {
            codes.get(one.kind, "memory-advice")
            for space in summary.spaces
            for one in summary.advice_on(space)
        }
        if advised:
            found = {
                finding.code
                for file in dump.files
                for finding in check(dump, file, advice_rules.RULES)
            }
            assert advised <= found, dump.files[0].label
