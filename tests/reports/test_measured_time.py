"""Tests for hlo_lsp.reports.measured_time."""

from hlo_lsp.memory.instruction_facts import InstructionKey
from hlo_lsp.model.display import format_time
from hlo_lsp.profiles.events import InstructionEvent, Profile, Program
from hlo_lsp.profiles.joined import join
from hlo_lsp.reports.measured_time import profile_blocks


def test_time_has_three_digits() -> None:
    times = (0, 1_530_000_000, 63_900_000, 875_000, 999_999_999, 2 * 10**15)
    assert [format_time(one) for one in times] == [
        "0.00 ns",
        "1.53 ms",
        "63.9 µs",
        "875 ns",
        "1.00 ms",
        "2,000 s",
    ]


def test_small_modules_are_one_line() -> None:
    profile = Profile()
    for name, duration in (("jit_large", 1_000_000), ("jit_small", 100)):
        event = InstructionEvent("a", 0, 0, duration, 1, "a")
        profile.of(Program(name, None), "GPU 0").events.append(event)
    profile.add_unnamed("Memcpy", 2_000)
    large, rest = profile_blocks(join(profile, {}), InstructionKey.LINE, 5)
    assert large[0] == "jit_large · 1 run on GPU 0 · median 1.00 µs"
    assert rest == [
        "1 module below 1% of the time: 0.10 ns",
        "without an instruction: 1 event, 2.00 ns: Memcpy",
    ]
