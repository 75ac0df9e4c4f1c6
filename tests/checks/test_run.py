"""Rules run over a file: in order, in steps, each damage by itself."""

from collections.abc import Iterator

import pytest

from checks.damage import dump_of, quoted, replaced, tell
from hlo_lsp.analysis.cards.about import card_about
from hlo_lsp.analysis.navigation import definition
from hlo_lsp.analysis.subject import subject_at
from hlo_lsp.checks import run
from hlo_lsp.checks.catalogue import CATALOGUE
from hlo_lsp.checks.finding import Finding, Severity
from hlo_lsp.checks.rule import Case, Rule
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.syntax.memory_records import TotalLine
from hlo_lsp.text.steps import finish

# One damage for each code, none of which touches another's records.
DAMAGES = (
    ("<69 Arg_1.2 @0> (size=32768", "<69 Arg_1.2 @0> (size=32767"),
    ("(size=512,offset=49152)", "(size=512,offset=69632)"),
    ("used: 172580 ", "used: 172579 "),
    ("    fusion.5{}:10-13", "    fusion.5{}:10-15"),
    ("    fusion.2{}: 64", "    fusion.9{}: 64"),
    ("    fusion{}:13-14", "    fusion{}:13=14"),
)


def _broken(sample: str) -> str:
    for old, new in DAMAGES:
        sample = replaced(sample, old, new)
    return sample


def test_findings_come_in_the_order_of_lines(sample: str) -> None:
    told = [(code, int(place.split(":")[0])) for code, place, _ in tell(_broken(sample))]
    assert told == [
        ("size-mismatch", 5),
        ("out-of-bounds", 42),
        ("total-mismatch", 44),
        ("live-range-bounds", 241),
        ("syntax", 243),
        ("undefined-value", 252),
    ]


def test_every_damage_costs_only_itself(sample: str) -> None:
    together = tell(_broken(sample))
    alone = [found for old, new in DAMAGES for found in tell(replaced(sample, old, new))]
    assert sorted(together) == sorted(alone)


def test_the_rest_of_a_damaged_dump_is_as_before(sample: str) -> None:
    """Cards and definitions of every line that has no damage, at its first word."""
    whole, broken = dump_of(sample), dump_of(_broken(sample))
    damaged = {new.strip() for _, new in DAMAGES}
    looked_at = 0
    for line, text in enumerate(sample.split("\n")):
        if any(word in broken.files[0].lines[line] for word in damaged):
            continue
        answers = []
        for dump in (whole, broken):
            found = subject_at(dump.files[0], line, len(text) - len(text.lstrip()))
            card = None if found is None else card_about(dump, found)
            place = None if found is None else definition(dump, found)
            title = None if card is None else card.title
            answers.append((title, None if place is None else quoted(place)[:20]))
        assert answers[0] == answers[1], text
        looked_at += answers[0][0] is not None
    assert looked_at > 200


def test_a_broken_line_does_not_change_how_the_next_file_is_read(sample: str) -> None:
    """All files are read by one scanner, which remembers which rule fits which beginning."""
    lines = sample.split("\n")
    for number in range(0, len(lines), 3):
        text = "\n".join([*lines[:number], lines[number][:-1] + "~<{[(", *lines[number + 1 :]])
        dump_of(text)
        file = DumpFile.of_text(sample)
        assert finish(run.check(DumpSet([file]), file)) == [], lines[number]


def test_work_is_done_in_steps(sample: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "_STEP", 10)
    dump = dump_of(sample)
    steps = list(run.check(dump, dump.files[0]))
    assert len(steps) == sum(1 for _ in dump.files[0].records) // 10


def test_a_rule_that_fails_does_not_silence_the_others(
    sample: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def faulty(case: Case[TotalLine]) -> Iterator[Finding]:
        raise KeyError(case.record.total)

    rule = Rule("faulty", Severity.ERROR, TotalLine, faulty)
    monkeypatch.setattr(run, "CATALOGUE", (rule, *CATALOGUE))
    told = tell(_broken(sample))
    assert len(told) == len(DAMAGES)
    assert "faulty" in caplog.text
