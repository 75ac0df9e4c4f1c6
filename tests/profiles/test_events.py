"""Tests for hlo_lsp.profiles.events."""

from hlo_lsp.profiles.events import (
    UNKNOWN_PROGRAM,
    InstructionEvent,
    ModuleSpan,
    Profile,
    Program,
)


def test_events_without_program_belong_to_what_ran() -> None:
    profile = Profile()
    for number, start in ((1, 100), (2, 200)):
        span = ModuleSpan(None, start, 50)
        profile.of(Program("jit_f", number), "TPU 0").spans.append(span)
    for start in (90, 110, 160, 249):
        event = InstructionEvent(f"at.{start}", 0, start, 5, None, "")
        profile.of(UNKNOWN_PROGRAM, "TPU 0").events.append(event)
    profile.assign_by_time()
    assert {
        program: [event.instruction for event in devices["TPU 0"].events]
        for program, devices in profile.programs.items()
    } == {
        UNKNOWN_PROGRAM: ["at.90", "at.160"],
        Program("jit_f", 1): ["at.110"],
        Program("jit_f", 2): ["at.249"],
    }
