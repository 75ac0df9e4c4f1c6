"""Many damages at random places of many compiles, on all cores."""

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

_LONGEST = 900  # lines of a compile: one damage is reported in a few ten ms
_TRIES = 60  # compiles that are tried until one has a place for a damage


def compiles(root: Path, longest: int = _LONGEST) -> list[Dump]:
    """Return the compiles below a folder with at most this number of lines."""
    found = []
    for path in files_of(root, FileKind.ASSIGNMENT):
        names = os.listdir(path.parent)
        stem = path.name.removesuffix("-buffer-assignment.txt")
        size = sum((path.parent / name).stat().st_size for name in names if name.startswith(stem))
        if size <= longest * 60:
            found.append(Dump(path, names))
    for dump in found:
        dump.others = [one for one in found if one.folder == dump.folder and one is not dump]
    return found


def injections(fault: Fault, dumps: Sequence[Dump], count: int, seed: int) -> Iterator[Outcome]:
    """Damages of a kind, ``count`` at most, each at another place."""
    seen: set[tuple[str, object]] = set()
    random = Random(f"{seed} {fault.code} {fault.name}")
    for _ in range(count):
        for _ in range(_TRIES):
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


def _all_of(number: int, count: int, seed: int) -> list[Outcome]:
    return list(injections(FAULTS[number], _DUMPS, count, seed))


def campaign(
    root: Path, faults: Sequence[Fault], count: int, seed: int, workers: int = 2
) -> Iterator[list[Outcome]]:
    """Return the outcomes of each kind, ``count`` of each, in the order of the kinds."""
    numbers = [FAULTS.index(fault) for fault in faults]
    with ProcessPoolExecutor(workers, initializer=_prepare, initargs=(root,)) as pool:
        jobs = [pool.submit(_all_of, number, count, seed) for number in numbers]
        for job in jobs:
            yield job.result()
