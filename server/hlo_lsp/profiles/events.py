"""The events of a profile, in one form for all backends and file formats.

Times are picoseconds since the beginning of the profile.
"""

from bisect import bisect_right
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple


class Program(NamedTuple):
    """A compiled module; ``id`` is None in formats without it."""

    name: str
    id: int | None


UNKNOWN_PROGRAM = Program("", None)


class InstructionEvent(NamedTuple):
    """A part of the execution of an instruction on a device.

    A named tuple, because a profile has millions.

    Attributes:
        instruction: The name of the instruction.
        line: The number of the thread or stream in the profile.
        start_ps: The start.
        duration_ps: The duration.
        run_id: The execution of the module, None if the profile does not have it.
        kernel: The name of the kernel; that of the instruction if it has no kernels.
        occurrences: The number of executions that the event represents.
        is_async: True for a span of a transfer during which the device can compute.
    """

    instruction: str
    line: int
    start_ps: int
    duration_ps: int
    run_id: int | None
    kernel: str
    occurrences: int = 1
    is_async: bool = False

    @property
    def end_ps(self) -> int:
        """The end of the event."""
        return self.start_ps + self.duration_ps


class ModuleSpan(NamedTuple):
    """An execution of a module that the profile states as one event, as TPU profiles do."""

    run_id: int | None
    start_ps: int
    duration_ps: int


@dataclass(slots=True)
class ProgramEvents:
    """The events of a program on one device, in no order."""

    events: list[InstructionEvent] = field(default_factory=list)
    spans: list[ModuleSpan] = field(default_factory=list)


@dataclass(slots=True)
class UnnamedTime:
    """The events of one name that belong to no instruction."""

    events: int = 0
    total_ps: int = 0


@dataclass(frozen=True, slots=True)
class ProfileRun:
    """A run of ``jax.profiler.trace``, which writes a folder with one file for each host.

    Attributes:
        path: The file, or the folder of the run.
        files: The files of all hosts.
        others: The number of other runs below the folder that the user named.
    """

    path: Path
    files: tuple[Path, ...]
    others: int = 0


@dataclass(slots=True)
class Profile:
    """The content of the files of a profile, which readers add to.

    Attributes:
        run: What was read, None if the profile comes from no file.
        programs: The events by program and by device, such as ``GPU 0``.
        unnamed: What ran on devices without the name of an instruction, by the name of its event.
        planes: The undecoded parts of files that contain modules.
        notes: What the profile lacks, for the user.
        damages: What could not be read.
    """

    run: ProfileRun | None = None
    programs: dict[Program, dict[str, ProgramEvents]] = field(default_factory=dict)
    unnamed: dict[str, UnnamedTime] = field(default_factory=dict)
    planes: list[bytes] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    damages: list[str] = field(default_factory=list)

    def of(self, program: Program, device: str) -> ProgramEvents:
        """Return the events of a program on a device, to add some."""
        return self.programs.setdefault(program, {}).setdefault(device, ProgramEvents())

    def add_unnamed(self, name: str, duration_ps: int) -> None:
        """Add an event without an instruction."""
        found = self.unnamed.setdefault(name, UnnamedTime())
        found.events += 1
        found.total_ps += duration_ps

    def assign_by_time(self) -> None:
        """Assign events without a program to the program that ran on their device at that time.

        TPU profiles state the executions of modules, and need not state the module of an event.
        """
        for device, found in self.programs.pop(UNKNOWN_PROGRAM, {}).items():
            spans = [
                (span, program)
                for program, devices in self.programs.items()
                if device in devices
                for span in devices[device].spans
            ]
            spans.sort(key=lambda one: one[0].start_ps)
            starts = [span.start_ps for span, _ in spans]
            for event in found.events:
                place = bisect_right(starts, event.start_ps) - 1
                span, program = spans[place] if place >= 0 else (None, UNKNOWN_PROGRAM)
                if span is None or event.start_ps >= span.start_ps + span.duration_ps:
                    program = UNKNOWN_PROGRAM
                self.of(program, device).events.append(event)
