"""Fault injection at random places of many compiles, in several processes."""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from random import Random

from dumps import files_of
from faults.catalogue import FAULTS
from faults.dump import Dump
from faults.fault import Fault
from faults.judge import Outcome, judge
from hlo_lsp.syntax.file_kinds import FileKind

_MAX_COMPILE_LINES = 900  # A check of such a compile takes some 10 ms.
_MAX_TRIED_COMPILES = 60  # for one injection


def compiles(root: Path, max_lines: int = _MAX_COMPILE_LINES) -> list[Dump]:
    """Return the compiles below a folder with at most about `max_lines` lines of 60 bytes."""
    found = []
    for path in files_of(root, FileKind.ASSIGNMENT):
        names = os.listdir(path.parent)
        stem = path.name.removesuffix("-buffer-assignment.txt")
        size = sum((path.parent / name).stat().st_size for name in names if name.startswith(stem))
        if size <= max_lines * 60:
            found.append(Dump(path, names))
    for dump in found:
        dump.others = [one for one in found if one.folder == dump.folder and one is not dump]
    return found


def outcomes(fault: Fault, dumps: Sequence[Dump], count: int, seed: int) -> Iterator[Outcome]:
    """Yield the outcomes of at most ``count`` different damages of a kind."""
    seen: set[tuple[str, object]] = set()
    random = Random(f"{seed} {fault.code} {fault.name}")
    for _ in range(count):
        for _ in range(_MAX_TRIED_COMPILES):
            dump = random.choice(dumps)
            damage = fault.inject(random, dump)
            if damage is None:
                continue
            key = dump.name, tuple(damage.files.items())
            if key in seen:
                continue
            seen.add(key)
            yield judge(fault, dump, damage)
            break


_DUMPS: list[Dump] = []


def _prepare(root: Path) -> None:
    _DUMPS.extend(compiles(root))


def _fault_outcomes(number: int, count: int, seed: int) -> list[Outcome]:
    return list(outcomes(FAULTS[number], _DUMPS, count, seed))


def campaign(
    root: Path, faults: Sequence[Fault], count: int, seed: int, workers: int = 2
) -> Iterator[list[Outcome]]:
    """Yield at most ``count`` outcomes of each kind of damage, in the order of `faults`."""
    numbers = [FAULTS.index(fault) for fault in faults]
    with ProcessPoolExecutor(workers, initializer=_prepare, initargs=(root,)) as pool:
        jobs = [pool.submit(_fault_outcomes, number, count, seed) for number in numbers]
        for job in jobs:
            yield job.result()
