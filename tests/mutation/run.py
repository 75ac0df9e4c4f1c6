"""Prints the mutants that no test notices: ``python tests/mutation/run.py [MODULE ...]``."""

import argparse
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
SERVER = TESTS.parent / "server"
sys.path[:1] = [str(TESTS), str(SERVER)]  # not this folder itself

from mutation.mutants import Mutant, mutants_of  # noqa: E402  (found by the line above)
from mutation.subjects import SUBJECTS, Subject  # noqa: E402
from mutation.trial import Warm, forked, from_the_start, prepare  # noqa: E402


@dataclass(slots=True)
class Score:
    """How many mutants of a module there were, and which of them passed all tests."""

    tried: int = 0
    survivors: list[Mutant] = field(default_factory=list)


def score(subject: Subject, jobs: int, sample: int | None, cache: Path) -> Score:
    """Tries the mutants of a module, or a sample of them that is the same each time."""
    path = SERVER / subject.path
    source = path.read_text("utf-8")
    tests = [str(TESTS / test) for test in subject.tests]
    name = f"hlo_lsp.{subject.module}"
    mutants = list(islice(mutants_of(source), sample))
    inside = [one for one in mutants if one.is_inside]
    outside = [one for one in mutants if not one.is_inside]

    def all_inside(warm: Warm) -> None:
        if os.waitpid(forked(lambda: warm.again(name, path, source)), 0)[1]:
            sys.exit(f"{name}: its tests fail when they run again")
        survivors = _survivors(inside, jobs, lambda one: warm.again(name, path, one.source))
        numbers = [str(inside.index(one)) for one in survivors]
        (cache / "survivors").write_text(" ".join(numbers))

    # In a process of its own, since the next module needs one that has imported nothing.
    if os.waitpid(forked(lambda: Warm(all_inside).run(tests, cache), seconds=0), 0)[1]:
        sys.exit(f"{name}: its tests fail without any mutant")
    numbers = map(int, (cache / "survivors").read_text().split())
    again = sorted([*outside, *(inside[number] for number in numbers)], key=lambda one: one.line)
    survivors = _survivors(
        again, jobs, lambda one: from_the_start(name, path, one.source, tests, cache)
    )
    for one in survivors:
        print(f"  {one.told(source)}", flush=True)
    return Score(len(mutants), survivors)


def _survivors(mutants: list[Mutant], jobs: int, trial: Callable[[Mutant], int]) -> list[Mutant]:
    """Those whose trial ends with 0, in their order."""
    waiting, running, found = list(mutants), dict[int, Mutant](), set[int]()
    while waiting or running:
        while waiting and len(running) < jobs:
            mutant = waiting.pop()
            running[forked(partial(trial, mutant))] = mutant
        child, status = os.wait()
        mutant = running.pop(child)
        if not status:
            found.add(id(mutant))
    return [one for one in mutants if id(one) in found]


def main() -> None:
    """Mutate, test, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("module", nargs="*", help="a part of the names of the modules to mutate")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--sample", type=int, help="at most so many mutants of each module")
    wanted = parser.parse_args()
    chosen = [
        one for one in SUBJECTS if not wanted.module or any(m in one.module for m in wanted.module)
    ]
    prepare()
    scores: dict[str, Score] = {}
    for subject in chosen:
        print(subject.module, flush=True)
        with tempfile.TemporaryDirectory() as cache:
            scores[subject.module] = score(subject, wanted.jobs, wanted.sample, Path(cache))
    print(f"\n{'module':40} {'mutants':>8} {'killed':>8} {'survived':>8}")
    for module, one in scores.items():
        survived = len(one.survivors)
        print(f"{module:40} {one.tried:8} {one.tried - survived:8} {survived:8}")


if __name__ == "__main__":
    main()
