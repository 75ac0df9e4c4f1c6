"""Print the mutants of a module that no test detects.

python tests/mutation/run.py server/hlo_lsp/model/sizes.py tests/model/test_sizes.py ...
"""

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:1] = [str(ROOT / "tests"), str(ROOT / "server")]  # not this folder itself

from mutation.mutants import Mutant, mutants_of  # noqa: E402  (found by the line above)

_MAX_CPU_SECONDS = 60  # of a trial: a mutant with an endless loop counts as detected


def main() -> None:
    """Run the tests on each mutant, and print the mutants on which they pass."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("module", type=Path)
    parser.add_argument("tests", nargs="+")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--sample", type=int, help="number of mutants, always the same ones")
    options = parser.parse_args()
    source = options.module.read_text("utf-8")
    trial = partial(_trial, options.module.resolve(), options.tests)
    if os.waitpid(_fork(trial, source), 0)[1]:
        sys.exit("the tests fail without any mutant")
    mutants = list(islice(mutants_of(source), options.sample))
    survivors = _survivors(mutants, options.jobs, trial)
    for mutant in survivors:
        print(mutant.describe(source), end="\n\n")
    print(f"{len(mutants) - len(survivors)} of {len(mutants)} mutants detected")


def _survivors(mutants: Sequence[Mutant], jobs: int, trial: "partial[int]") -> list[Mutant]:
    """Return the mutants on which the tests pass, in the order of lines."""
    waiting, running, survivors = list(mutants), dict[int, Mutant](), list[Mutant]()
    while waiting or running:
        while waiting and len(running) < jobs:
            mutant = waiting.pop()
            running[_fork(trial, mutant.source)] = mutant
        child, status = os.wait()
        mutant = running.pop(child)
        if not status:
            survivors.append(mutant)
    return sorted(survivors, key=lambda mutant: mutant.line)


def _fork(trial: "partial[int]", source: str) -> int:
    """Start a trial in a silent process, and return its id."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        signal.setitimer(signal.ITIMER_PROF, _MAX_CPU_SECONDS)
        null = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(null, stream)
        status = trial(source)
    finally:
        os._exit(status)


def _trial(path: Path, tests: Sequence[str], source: str) -> int:
    """Run the tests with another source of a module, and return the status of pytest."""
    name = ".".join(path.relative_to(ROOT / "server").with_suffix("").parts)
    sys.dont_write_bytecode = True
    module = sys.modules[name] = ModuleType(name)
    module.__file__ = str(path)
    exec(compile(source, str(path), "exec"), module.__dict__)
    options = ("-x", "-q", "-m", "not corpus", "-p", "no:cacheprovider", "--hypothesis-seed=0")
    return int(pytest.main([*options, *tests]))


if __name__ == "__main__":
    main()
