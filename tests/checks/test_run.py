"""Tests for runs of rules: order, caching, and incremental checks."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from checks.damage import dump_of, replace_once, reports
from hlo_lsp.checks import run
from hlo_lsp.checks.catalogue import CATALOGUE
from hlo_lsp.checks.framework.finding import Finding, Related, Severity
from hlo_lsp.checks.framework.options import DEFAULTS
from hlo_lsp.checks.framework.rule import CompileContext, Places, RecordContext, Rule, WholeRule
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.compile_files import compiles_below
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import Place, field_place
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.syntax.memory_records import TotalLine

# One damage for each code, in separate records.
DAMAGES = (
    ("<69 Arg_1.2 @0> (size=32768", "<69 Arg_1.2 @0> (size=32767"),
    ("(size=512,offset=49152)", "(size=512,offset=69632)"),
    ("used: 172580 ", "used: 172579 "),
    ("    fusion.5{}:10-13", "    fusion.5{}:10-15"),
    ("    fusion.2{}: 64", "    fusion.9{}: 64"),
    ("    fusion{}:13-14", "    fusion{}:1314"),
)


def _broken(sample: str) -> str:
    for old, new in DAMAGES:
        sample = replace_once(sample, old, new)
    return sample


def test_findings_are_in_line_order(sample: str) -> None:
    reported = [(code, int(place.split(":")[0])) for code, place, _ in reports(_broken(sample))]
    assert reported == [
        ("size-mismatch", 5),
        ("out-of-bounds", 42),
        ("total-mismatch", 44),
        ("live-range-bounds", 241),
        ("syntax", 243),
        ("peak-list", 252),
    ]


def test_each_damage_is_reported_separately(sample: str) -> None:
    together = reports(_broken(sample))
    alone = [found for old, new in DAMAGES for found in reports(replace_once(sample, old, new))]
    assert sorted(together) == sorted(alone)


def test_broken_line_keeps_the_next_file_readable(sample: str) -> None:
    """Check the scanner, which all files share and which caches rules by the start of a line."""
    lines = sample.split("\n")
    for number in range(0, len(lines), 3):
        text = "\n".join([*lines[:number], lines[number][:-1] + "~<{[(", *lines[number + 1 :]])
        dump_of(text)
        file = DumpFile.of_text(sample)
        assert _errors(Compile([file]), file) == [], lines[number]


def test_failing_rule_keeps_findings_of_others(
    sample: str, caplog: pytest.LogCaptureFixture
) -> None:
    def faulty(context: RecordContext[TotalLine]) -> Iterator[Finding]:
        raise KeyError(context.record.total)

    def faulty_as_a_whole(_: CompileContext) -> Iterator[Finding]:
        raise KeyError

    rule = Rule("faulty", Severity.ERROR, TotalLine, faulty)
    whole = WholeRule("whole", Severity.ERROR, faulty_as_a_whole)
    dump = dump_of(_broken(sample))
    assert len(run.check(dump, dump.files[0], (rule, whole, *CATALOGUE))) == len(DAMAGES)
    assert "rule faulty failed on line 44" in caplog.text
    assert "rule whole failed" in caplog.text
    caplog.clear()


def test_findings_are_kept_until_an_input_changes(sample: str) -> None:
    runs: list[str] = []

    def with_total(context: CompileContext) -> Iterator[Finding]:
        runs.append(context.code)
        label = context.dump.label(TotalLine)
        assert label is not None
        yield context.report(field_place(label.file, label.record, "TOTAL"), "found")

    def of_module(context: CompileContext) -> Iterator[Finding]:
        runs.append(context.code)
        assert not any(len(file.module.instructions) for file in context.dump.files)
        return iter(())

    rules = [
        WholeRule("one", Severity.ERROR, with_total),
        WholeRule("two", Severity.ERROR, of_module),
    ]
    dump = dump_of(sample)
    (file,) = dump.files
    for _ in range(2):
        assert [found.code for found in run.check(dump, file, rules)] == ["one"]
        assert runs == ["one", "two"]
    file.changed(file.document.edit((0, 0), (0, 0), "x"))
    file.refresh()
    run.check(dump, file, rules)
    assert runs == ["one", "two", "one"]


def test_findings_follow_the_lines_of_their_file(sample: str) -> None:
    def elsewhere(context: CompileContext) -> Iterator[Finding]:
        (file,) = context.dump.files
        yield context.report(Place(file, len(file.lines) - 1, 0, 0), "the last line")

    rules = [WholeRule("last", Severity.ERROR, elsewhere)]
    dump = dump_of(sample)
    (file,) = dump.files
    for _ in range(3):
        (found,) = run.check(dump, file, rules)
        assert found.place.line == len(file.lines) - 1
        file.changed(file.document.edit((0, 0), (0, 0), "\n"))
        file.refresh()


def test_change_of_a_related_file_updates_findings(sample: str) -> None:
    other = DumpFile.of_text("HloModule m\n\nENTRY %e () -> f32[] {\n}\n", "m.txt")

    def related(context: CompileContext) -> Iterator[Finding]:
        place = Place(context.dump.files[0], 0, 0, 0)
        there = Place(other, len(other.lines) - 1, 0, 0)
        yield context.report(place, "here", Related(there, "the last line"))

    rules = [WholeRule("last", Severity.ERROR, related)]
    dump = Compile([DumpFile.of_text(sample), other])
    for _ in range(3):
        (found,) = run.check(dump, dump.files[0], rules)
        assert found.related[0].place.line == len(other.lines) - 1
        other.changed(other.document.edit((0, 0), (0, 0), "\n"))
        other.refresh()


def test_text_before_optimizations_is_an_input(sample: str) -> None:
    runs: list[str] = []

    def of_allocations(context: CompileContext) -> Iterator[Finding]:
        runs.append(context.code)
        assert list(context.dump.allocations())
        return iter(())

    def of_constants(context: CompileContext) -> Iterator[Finding]:
        assert not any(len(other.module.instructions) for other in context.dump.others)
        return of_allocations(context)

    rules = [
        WholeRule("allocations", Severity.HINT, of_allocations),
        WholeRule("constants", Severity.HINT, of_constants),
    ]
    before = DumpFile.of_text("HloModule m\n", "m.before_optimizations.txt")
    dump = Compile([DumpFile.of_text(sample)], others=[before])
    run.check(dump, dump.files[0], rules)
    before.changed(before.document.edit((0, 0), (0, 0), "\n"))
    before.refresh()
    run.check(dump, dump.files[0], rules)
    assert runs == ["allocations", "constants", "constants"]


def test_file_without_sections_is_checked_after_edits() -> None:
    texts = (
        "BufferAssignment:\nallocation 0: size 5",
        "BufferAssignment:\n",
        "BufferAssignment:\n\n\nallocation 0: si",
    )
    dump = dump_of("BufferAssignment:\n\n\n\n\n")
    (file,) = dump.files
    for text in texts:
        run.check(dump, file)
        file.changed(file.document.replace(text))
        file.refresh()
        found, fresh = run.check(dump, file), dump_of(text)
        assert [one.code for one in found] == ["truncated"]
        assert [(one.code, one.place.line, one.message) for one in found] == [
            (one.code, one.place.line, one.message) for one in run.check(fresh, fresh.files[0])
        ]


def test_removed_records_have_no_effect() -> None:
    lines = "allocation 3: size 8:\n value: <0 a @0> (size=8,offset=0): f32[2]{0}\n"
    assignment = DumpFile.of_text(f"BufferAssignment:\n{lines}", "m-buffer-assignment.txt")
    cut = "HloLiveRange (max 1):\n  InstructionSequence:\n    0:a\n  BufferLiv"
    live_range = DumpFile.of_text(cut, "m-live-range.txt")
    live_range.changed(live_range.document.edit((1, 0), (1, 0), lines))
    live_range.refresh()
    live_range.changed(live_range.document.edit((1, 0), (3, 0), ""))
    live_range.refresh()
    found = run.check(Compile([assignment, live_range]), assignment)
    assert "allocation-numbering" in [one.code for one in found]


def test_changed_record_is_checked_again(sample: str) -> None:
    dump = dump_of(sample)
    (file,) = dump.files
    assert _errors(dump, file) == []
    for line, text in ((4, "size=32767"), (4, "size=32768")):
        at = file.lines[line].index("size=")
        file.changed(file.document.edit((line, at), (line, at + len(text)), text))
        file.refresh()
        assert [found.code for found in _errors(dump, file)] == (
            ["size-mismatch"] if text.endswith("7") else []
        )


def _errors(dump: Compile, file: DumpFile) -> list[Finding]:
    found = run.check(dump, file)
    return [one for one in found if one.severity is Severity.ERROR]


def test_last_edited_records_are_checked_first(
    sample: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "_RECORDS_PER_BATCH", 2)
    dump = dump_of(sample)
    (file,) = dump.files
    rows = [row for row, line in enumerate(file.lines) if line.startswith(" value: <")]
    for row in (rows[0], rows[-1]):
        column = file.lines[row].index("size=") + len("size=")
        file.changed(file.document.edit((row, column), (row, column), "7"))
        file.refresh()
    parts = [one for one in run.check_by_pace(dump, file) if one.findings]
    assert [one.place.line for one in parts[1].findings] == [rows[-1], rows[0]]
    assert "size-mismatch" in parts[1].pending  # it is not done before the last record
    assert run.sort_findings(parts[-1].findings) == run.check(dump, file)


def test_advice_is_in_the_files_of_its_rule(corpus_small: Path) -> None:
    rules = [rule for rule in CATALOGUE if isinstance(rule, WholeRule)]
    found = []
    for compile_ in [*compiles_below(corpus_small / "tpu_v5e")][::4]:
        workspace = DumpWorkspace()
        dump = workspace.compile_of(workspace.file(compile_.path))
        for rule in rules:
            found += [(rule, one.place.file) for one in rule.findings(dump, dump, DEFAULTS)]
    assert {rule.places for rule, _ in found} == {*Places}
    assert all(rule.may_find_in(file) for rule, file in found)
