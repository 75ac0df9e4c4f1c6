"""Kinds of facts about the compiles on disk: what each is about, and how it is read."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from hlo_lsp.lsp.scheduling import Priority
from hlo_lsp.model.folder_scan import ModuleFiles, ScannedFolder
from hlo_lsp.model.module_reader import ModuleReader

S = TypeVar("S")
F = TypeVar("F")
Reading = Callable[[ModuleReader], F]


@dataclass(frozen=True, slots=True)
class Unit(Generic[S]):
    """The subject of one fact, such as a compile.

    Attributes:
        key: One of its files, which differs from that of other units.
        stamp: The fact is read again if it changes.
        module: The module whose files it is read from.
        size: The bytes of these files.
        subject: What the kind of facts needs to read the fact.
    """

    key: Path
    stamp: Hashable
    module: ModuleFiles
    size: int
    subject: S


@dataclass(frozen=True, slots=True)
class _Fact(Generic[F]):
    stamp: Hashable
    value: F | None  # None if it could not be read


class FactKind(ABC, Generic[S, F]):
    """A kind of facts about compiles on disk.

    Attributes:
        title: The title of the progress of reading them.
        priority: That of reading them.
        reads_compile: Whether a fact follows from a whole compile; a process reads large ones.
        max_scan_age_seconds: How old a scan may be in which no change was noticed.
        is_stopped: True after the user cancelled the reading.
    """

    title: str
    priority = Priority.INDEX
    reads_compile = True
    max_scan_age_seconds = 0.0

    def __init__(self) -> None:
        self.is_stopped = False
        self._facts: dict[Path, _Fact[F] | None] = {}  # all units in their order

    @abstractmethod
    def units(self, folder: ScannedFolder) -> Iterable[Unit[S]]:
        """Yield what there is a fact about in a folder."""

    @abstractmethod
    def reading(self, unit: Unit[S]) -> Reading[F]:
        """Return the function that reads a fact; a process can run it."""

    def is_needed(self, _: Unit[S]) -> bool:
        """Return whether a fact is read at all."""
        return True

    def stamp(self, unit: Unit[S]) -> Hashable:
        """Return the current stamp of a unit, which may depend on more than its files."""
        return unit.stamp

    async def prepare(self, _: Unit[S]) -> None:
        """Wait for what reading a fact needs."""

    def fact(self, path: Path) -> F | None:
        """Return the last fact with a key."""
        fact = self._facts.get(path)
        return None if fact is None else fact.value

    def values(self) -> dict[Path, F]:
        """Return the last facts by key, in the order of the walk."""
        values = ((path, fact.value) for path, fact in self._facts.items() if fact is not None)
        return {path: value for path, value in values if value is not None}

    def is_outdated(self, unit: Unit[S]) -> bool:
        """Return whether a fact must be read, possibly again."""
        if self.is_stopped or not self.is_needed(unit):
            return False
        fact = self._facts.get(unit.key)
        return fact is None or fact.stamp != self.stamp(unit)

    def store(self, unit: Unit[S], stamp: Hashable, value: F | None) -> None:
        """Keep a fact."""
        self._facts[unit.key] = _Fact(stamp, value)

    def retain(self, paths: Iterable[Path]) -> None:
        """Forget the facts about all other files."""
        self._facts = {path: self._facts.get(path) for path in paths}


AnyKind = FactKind[Any, Any]
