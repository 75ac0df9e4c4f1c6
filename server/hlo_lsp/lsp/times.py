"""The times of programs for answers: the chip, profiles, and the costs of large compiles.

Profiles are read in processes of their own, and the costs of large compiles are computed in the
background. Answers contain no times until then; clients refresh their views afterwards.
"""

import asyncio
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Protocol
from weakref import WeakKeyDictionary

from hlo_lsp.cost.chips import configured_chip
from hlo_lsp.ide.hover.origin_text import needs_preparation
from hlo_lsp.lsp.loading import SessionListener
from hlo_lsp.lsp.processes import run_in_process
from hlo_lsp.lsp.progress import RequestFailedError
from hlo_lsp.lsp.scheduling import ForegroundRequests, Priority, start_task
from hlo_lsp.lsp.settings import Selections, Settings
from hlo_lsp.model.compile import Compile
from hlo_lsp.stats.instruction_table import InstructionTable
from hlo_lsp.stats.measured_programs import (
    ProfileTimes,
    TimeSources,
    profile_beside,
    program_table,
    read_profile_times,
)
from hlo_lsp.text.disk import UnreadableError, file_stamp

_TYPING_PAUSE_SECONDS = 1.0  # before all costs are computed again, which takes as long

Stamp = tuple[tuple[str, tuple[int, int] | None], ...]


class ProfileReader:
    """Reads profiles, each once until it changes.

    Attributes:
        loaded: The profile that the user loaded by a command, which precedes others.
    """

    def __init__(self, listener: Callable[[], SessionListener]) -> None:
        self.loaded: Path | None = None
        self._listener = listener
        self._read: dict[Path, tuple[Stamp, ProfileTimes | None]] = {}
        self._tasks: dict[Path, asyncio.Task[None]] = {}
        self._beside: dict[Path, Path | None] = {}  # by the folder of a dump

    def look_again(self) -> None:
        """Look for new profiles beside dumps, and read changed ones again."""
        self._beside.clear()
        changed = [path for path, (stamp, _) in self._read.items() if stamp != _stamp(path)]
        for path in changed:
            del self._read[path]

    def candidates(self, path: Path | None, chosen: Path | None) -> list[Path]:
        """Return the profiles for a dump file: loaded, in the settings, and beside it."""
        found = [self.loaded, chosen]
        if path is not None and path.is_absolute():
            folder = path.parent
            if folder not in self._beside:
                self._beside[folder] = profile_beside(folder)
            found.append(self._beside[folder])
        return list(dict.fromkeys(one for one in found if one is not None))

    def known(self, paths: list[Path]) -> tuple[ProfileTimes, ...]:
        """Return what was read of these profiles."""
        found = (self._read.get(path, (None, None))[1] for path in paths)
        return tuple(one for one in found if one is not None)

    def start(self, path: Path) -> None:
        """Start to read a profile, unless it was read or is being read."""
        if path not in self._read and path not in self._tasks:
            self._tasks[path] = start_task(self._read_in_background(path))

    async def wait(self, paths: list[Path]) -> None:
        """Wait until profiles are read."""
        for path in paths:
            self.start(path)
        tasks = [self._tasks[path] for path in paths if path in self._tasks]
        if tasks:
            await asyncio.wait(tasks)

    async def load(self, path: Path) -> ProfileTimes:
        """Read a profile that the user chose, which then precedes others.

        Raises:
            RequestFailedError: It cannot be read, or is not a profile.
        """
        stamp = _stamp(path)
        try:
            times = await self._times(path)
        except UnreadableError as error:
            raise RequestFailedError(str(error)) from None
        self.loaded = path
        self._read[path] = stamp, times
        self._listener().profiles_changed()
        return times

    async def _read_in_background(self, path: Path) -> None:
        stamp, times = _stamp(path), None
        try:
            times = await self._times(path)
            if times.damages:
                self._listener().problem_found("\n".join(times.damages))
        except (UnreadableError, RequestFailedError) as error:
            self._listener().problem_found(str(error))
        finally:  # a profile that cannot be read is not read again until it changes
            self._tasks.pop(path, None)
            self._read[path] = stamp, times
        self._listener().profiles_changed()

    async def _times(self, path: Path) -> ProfileTimes:
        with self._listener().progress(f"Reading {path.name}", is_indefinite=True):
            # Reading and joining a profile of 100 MB takes seconds without a checkpoint.
            return await run_in_process(partial(read_profile_times, path))


def path_of(dump: Compile) -> Path | None:
    """Return a file of a compile."""
    return next((file.path for file in dump.files if file.path is not None), None)


def _stamp(path: Path) -> Stamp:
    """Return the files of a profile with their times and sizes."""
    try:
        files = sorted(path.iterdir()) if path.is_dir() else [path]
    except OSError:
        files = [path]
    return tuple((file.name, file_stamp(file)) for file in files)


class TimesSession(Protocol):
    """The parts of a session that times depend on; it replaces its settings and listener."""

    settings: Settings
    selections: Selections
    foreground: ForegroundRequests

    listener: SessionListener


class ProgramTimes:
    """The times of the compiles of a session."""

    def __init__(self, session: TimesSession) -> None:
        self.profiles = ProfileReader(lambda: session.listener)
        self._session = session
        self._tasks: WeakKeyDictionary[Compile, asyncio.Task[None]] = WeakKeyDictionary()

    def sources(self, dump: Compile) -> TimeSources:
        """Return the chip of a compile, and the profiles that were read until now."""
        path = path_of(dump)
        selection = self._session.selections.of(path, self._session.settings.check)
        chip = configured_chip(dump, selection.thresholds.chip)
        return TimeSources(chip, self.profiles_of(path))

    def profiles_of(self, path: Path | None) -> tuple[ProfileTimes, ...]:
        """Return the profiles for a dump file that were read until now."""
        return self.profiles.known(self._candidates(path))

    def _candidates(self, path: Path | None) -> list[Path]:
        return self.profiles.candidates(path, self._session.settings.profile)

    def of(self, dump: Compile) -> InstructionTable | None:
        """Return the times of a compile; None for a large one if they are not computed yet.

        After an edit of a large one, these are the times before it until the new ones are computed.
        """
        if needs_preparation(dump):
            return self._current(dump) or program_table.last(dump)
        return self.compute(dump)

    def compute(self, dump: Compile) -> InstructionTable:
        """Return the times of a compile, computed if necessary."""
        return program_table(dump, self.sources(dump))

    async def wait(self, paths: Iterable[Path | None]) -> None:
        """Wait until the profiles for dump files are read."""
        for path in paths:
            await self.profiles.wait(self._candidates(path))

    def _current(self, dump: Compile) -> InstructionTable | None:
        return program_table.current(dump, self.sources(dump))

    def prepare(self, dump: Compile) -> None:
        """Start to read the profiles for a compile, and to compute the times of a large one."""
        for path in self._candidates(path_of(dump)):
            self.profiles.start(path)
        task = self._tasks.get(dump)
        is_idle = task is None or task.done()
        if is_idle and needs_preparation(dump) and self._current(dump) is None:
            self._tasks[dump] = start_task(self._compute(dump))

    async def _compute(self, dump: Compile) -> None:
        def work() -> None:
            dump.refresh()
            self.compute(dump)

        foreground, pause = self._session.foreground, _TYPING_PAUSE_SECONDS
        await foreground.typing_paused(pause)
        await foreground.run(work, Priority.PREPARATION, typing_pause_seconds=pause)
        self._session.listener.times_computed()
