"""Tests for findings in named files and in all dumps of a folder."""

from pathlib import Path

import pytest

from checks.checked import check_paths
from checks.damage import replace_once
from hlo_lsp.checks.check_jobs import FileResult, Spot, check_job, outcome, plan
from hlo_lsp.checks.framework.finding import Severity
from hlo_lsp.checks.framework.options import CheckOptions
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.text.disk import UnreadableError

TINY = "BufferAssignment:\nallocation 0: size 512, constant:\n"


def _one(path: Path) -> FileResult:
    (checked,) = check_paths([path])
    return checked


def _codes(paths: list[Path]) -> list[tuple[str, str]]:
    return [
        (one.path.name.rpartition("after_optimizations")[2], finding.code)
        for one in check_paths(paths)
        for finding in one.findings
        if finding.severity is Severity.ERROR
    ]


def test_folder_is_checked_with_its_subfolders(compiled: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "deep.txt").write_text(TINY)
    (tmp_path / "flagfile").write_text("--xla_flag=1\n")
    kinds = [checked.kind for checked in check_paths([tmp_path])]
    assert sorted(kinds, key=list(FileKind).index) == [
        FileKind.ASSIGNMENT,
        FileKind.ASSIGNMENT,
        FileKind.VALUES,
        FileKind.LIVE_RANGE,
        FileKind.REPORT,
        FileKind.MODULE,
        FileKind.MODULE,
        FileKind.OTHER,
    ]
    assert len(list(compiled.iterdir())) == 6


_PYTHON = 'text = """\nHloModule m\n\nENTRY e {\n  ROOT a = f32[] negate(b)\n}\n"""\n'


def test_named_file_is_searched_for_modules(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(_PYTHON)
    checked = _one(path)
    assert checked.kind is FileKind.EMBEDDED
    assert [(one.code, one.spot.line, one.spot.column) for one in checked.findings] == [
        ("undefined-instruction", 5, 25)
    ]


@pytest.mark.parametrize("name", ["a_test.cc", "page.md", "model.py"])
def test_source_file_is_not_read_as_module(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("first\n  ROOT x = f32[8] add(a, b)\n  # HloModule m\n")
    checked = _one(path)
    assert checked.findings == []
    assert checked.note is not None


def test_modules_in_other_languages_are_skipped_in_folders(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(_PYTHON)
    (tmp_path / "notes.md").write_text("```hlo\nHloModule m\n\nENTRY e {\n  a = b\n}\n```\n")
    for checked in check_paths([tmp_path]):
        assert (checked.kind, checked.findings, checked.note) == (FileKind.OTHER, [], None)


def test_named_files_without_modules_are_noted_alone(tmp_path: Path) -> None:
    model, other = tmp_path / "model.py", tmp_path / "other.cc"
    model.write_text(_PYTHON)
    other.write_text('auto m = R"(\nHloModule m\n\nENTRY e {\n  a = $0\n}\n)";\n')
    found = {len(paths): outcome(plan(paths, CheckOptions()), paths, {
        job: check_job(job) for job in plan(paths, CheckOptions()).jobs}).notes
        for paths in ([other], [model, other])}  # fmt: skip
    assert found == {1: [f"{other}: no complete HLO module in this C++ file"], 2: []}


def test_other_files_of_a_folder_are_skipped(tmp_path: Path) -> None:
    (tmp_path / "a.o").write_bytes(b"\x7fELF\0\0")
    (tmp_path / "empty").touch()
    (tmp_path / "program.ll").write_text("define i32 @f() {\n}\n")
    (tmp_path / "module_0000.f.cpu_after_optimizations.txt").write_bytes(b"\xff\xfe\x00binary")
    for checked in check_paths([tmp_path]):
        assert (checked.kind, checked.findings, checked.note) == (FileKind.OTHER, [], None)


def test_dump_inside_of_source_code_is_skipped(tmp_path: Path) -> None:
    """Check source code and documentation; a name alone excludes no file."""
    wrong = TINY + " value: <1 a @0> (size=513,offset=0): f32[]\n"
    for name in ("test_dumps.py", "README.md"):
        (tmp_path / name).write_text(f'DUMP = """\n{wrong}"""\n')
        assert [reported.code for reported in _one(tmp_path / name).findings] != []
    (tmp_path / "last.dump").write_text(wrong)
    (tmp_path / "head is gone.log").write_text("a line of something else\n" + wrong)
    kinds = {checked.path.name: checked.kind for checked in check_paths([tmp_path])}
    assert kinds == {
        "README.md": FileKind.OTHER,
        "test_dumps.py": FileKind.OTHER,
        "last.dump": FileKind.ASSIGNMENT,
        "head is gone.log": FileKind.ASSIGNMENT,
    }


def test_internal_error_affects_one_file_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = DumpWorkspace.file

    def failing(self: DumpWorkspace, path: Path) -> DumpFile:
        if path.name == "a.txt":
            raise RecursionError("too deep")
        return read(self, path)

    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(TINY)
    monkeypatch.setattr(DumpWorkspace, "file", failing)
    first, second = check_paths([tmp_path])
    assert first.note == (
        f"{tmp_path / 'a.txt'}: the checker failed on this file (RecursionError: too deep);"
        " please report it"
    )
    assert (second.kind, second.note) == (FileKind.ASSIGNMENT, None)


def test_unreadable_file_of_a_folder_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(self: DumpWorkspace, path: Path) -> None:
        raise UnreadableError(f"{path}: Permission denied")

    (tmp_path / "a.txt").write_text(TINY)
    monkeypatch.setattr(DumpWorkspace, "file", forbidden)
    checked = _one(tmp_path)
    assert checked.note == f"{tmp_path / 'a.txt'}: Permission denied"


def test_empty_folder_has_no_results(tmp_path: Path) -> None:
    assert check_paths([tmp_path]) == []


@pytest.mark.parametrize(
    ("content", "note"),
    [
        (None, "No such file or directory"),
        (b"\x7fELF\0\0", "this is a binary file, not a text dump"),
        (b"", "the file is empty"),
        (b"\n\n", "the file is empty"),
        (b"\n\n  \n", "not an HLO module or XLA memory dump"),
        (b"hello\n", "not an HLO module or XLA memory dump"),
        (b"\xff\xfe\xfd", "not an HLO module or XLA memory dump"),
    ],
)
def test_named_file_that_is_no_dump_is_reported(
    tmp_path: Path, content: bytes | None, note: str
) -> None:
    path = tmp_path / "named.txt"
    if content is not None:
        path.write_bytes(content)
    checked = _one(path)
    assert (checked.kind, checked.findings) == (FileKind.OTHER, [])
    assert checked.note == f"{path}: {note}"


def test_dangling_link_is_reported(tmp_path: Path) -> None:
    (tmp_path / "link.txt").symlink_to(tmp_path / "gone.txt")
    assert _one(tmp_path / "link.txt").note is not None


def test_link_to_its_own_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(TINY)
    (tmp_path / "loop").symlink_to(tmp_path)
    assert [checked.path.name for checked in check_paths([tmp_path])].count("a.txt") == 1


def test_relative_path_has_equal_results(compiled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(compiled)
    for path in sorted(Path().glob("*.txt")):
        assert _one(path).note is None
    (values,) = Path().glob("*-values.txt")
    values.write_text(replace_once(values.read_text(), "used: 2135040 ", "used: 1 "))
    assert _codes([values]) == [("-buffer-assignment-values.txt", "total-mismatch")]


def test_named_file_is_compared_with_companion_files(compiled: Path) -> None:
    (ranges,) = compiled.glob("*-live-range.txt")
    ranges.write_text(replace_once(ranges.read_text(), "    a.1{}:0-8", "    a.2{}:0-8"))
    assert _codes([ranges]) == [("-live-range.txt", "live-range-unknown")]


def test_only_named_files_are_reported(compiled: Path) -> None:
    (ranges,) = compiled.glob("*-live-range.txt")
    (values,) = compiled.glob("*-values.txt")
    ranges.write_text(replace_once(ranges.read_text(), "    a.1{}:0-8", "    a.2{}:0-8"))
    assert _codes([values]) == []
    assert _codes([values, ranges]) == [("-live-range.txt", "live-range-unknown")]


def test_file_without_companion_files_is_checked_alone(compiled: Path, tmp_path: Path) -> None:
    (ranges,) = compiled.glob("*-live-range.txt")
    alone = tmp_path / ranges.name
    alone.write_text(replace_once(ranges.read_text(), "    a.1{}:0-8", "    a.2{}:9-8"))
    assert _codes([alone]) == [("-live-range.txt", "live-range-bounds")]


def test_files_of_another_compile_are_not_compared(compiled: Path) -> None:
    (values,) = compiled.glob("*-values.txt")
    renamed = compiled / values.name.replace("module_0092", "module_0093")
    values.rename(renamed)
    assert _codes([compiled]) == []


def test_folder_and_file_can_be_checked_together(compiled: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text(TINY + " value: <1 a @0> (size=513,offset=0): f32[]\n")
    checked = check_paths([compiled, other])
    assert [one.path.parent for one in checked] == [compiled] * 6 + [tmp_path]
    assert _codes([compiled, other]) == [("other.txt", "out-of-bounds")]


def test_ignored_rules_do_not_run(compiled: Path) -> None:
    (values,) = compiled.glob("*-values.txt")
    values.write_text(replace_once(values.read_text(), "used: 2135040 ", "used: 1 "))
    (wanted,) = check_paths([values], CheckOptions(select=frozenset({"total-mismatch"})))
    assert [reported.code for reported in wanted.findings] == ["total-mismatch"]
    (unwanted,) = check_paths([values], CheckOptions(ignore=frozenset({"total-mismatch"})))
    assert "total-mismatch" not in [reported.code for reported in unwanted.findings]


def test_counting_findings_are_counted(compiled: Path) -> None:
    (values,) = compiled.glob("*-values.txt")
    values.write_text(replace_once(values.read_text(), "used: 2135040 ", "used: 1 "))
    for ignore, counting in ((frozenset[str](), 1), (frozenset({"total-mismatch"}), 0)):
        assert check_paths([values], CheckOptions(ignore=ignore))[0].counting == counting


def test_finding_has_its_place_and_related_places(tmp_path: Path) -> None:
    path = tmp_path / "module.txt"
    path.write_text(
        "HloModule m\n\nENTRY %main {\n  %a = f32[] constant(1)\n  ROOT %a = f32[] constant(2)\n}\n"
    )
    (reported,) = _one(path).findings
    assert reported.code == "duplicate-name"
    assert reported.spot == Spot(str(path), 5, 9, 10)
    assert [other.spot for other in reported.related] == [Spot(str(path), 4, 4, 5)]


def test_findings_of_a_section_have_document_lines(
    tmp_path: Path,
) -> None:
    path = tmp_path / "stdout.txt"
    module = "HloModule m\n\nENTRY %main {\n  ROOT %a = f32[] negate(%b)\n}\n"
    path.write_text(f"*** Begin m.txt ***\n{module}*** End m.txt ***\n")
    (reported,) = _one(path).findings
    assert (reported.code, reported.spot.path, reported.spot.line) == (
        "undefined-instruction",
        str(path),
        5,
    )
