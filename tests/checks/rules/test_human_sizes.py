"""``human-size``: the bytes in brackets."""

from pathlib import Path

from checks.damage import replaced
from checks.values_rules import edited, put, tell_in, tell_of


def test_the_total(sample: str) -> None:
    assert tell_of(replaced(sample, "(168.5KiB)", "(168.6KiB)")) == [
        (
            "human-size",
            "44: Total bytes used: 172580 (»168.6KiB«)",
            "172,580 B are `168.5KiB`, not `168.6KiB`",
        )
    ]


def test_where_the_number_is_wrong_the_text_is_not_accused(sample: str) -> None:
    assert tell_of(replaced(sample, "used: 172580 ", "used: 272580 ")) == []


def test_a_memory_space_in_the_report(compiled: Path) -> None:
    edited(compiled, "-report.txt", put("bytes: 512 (512B)", "bytes: 512 (512KiB)"))
    ((name, code, place, message),) = tell_in(compiled)
    assert (name, code) == ("-memory-usage-report.txt", "human-size")
    assert place.endswith("Total bytes: 512 (»512KiB«)")
    assert message == "512 B are `512B`, not `512KiB`"


def test_a_number_in_the_report_that_is_wrong(compiled: Path) -> None:
    edited(compiled, "-report.txt", put("bytes: 512 (512B)", "bytes: 513 (512B)"))
    assert tell_in(compiled) == []


def test_the_last_step_alone_is_rounded(sample: str) -> None:
    """33832484 / 1024 / 1024 is 32.265; XLA drops the first remainder and prints 32.26."""
    text = replaced(sample, "172580 (168.5KiB)", "33832484 (32.26MiB)")
    assert tell_of(text) == []
    ((code, _, _),) = tell_of(text.replace("32.26MiB", "32.27MiB"))
    assert code == "human-size"
