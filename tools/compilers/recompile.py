#!/usr/bin/env python3
"""Compile the programs of dumps again, and show which ones a compiler does not reproduce.

Each program is compiled as ``hlo-lsp compile`` does it, and compared with its dump::

    python tools/compilers/recompile.py PYTHON FOLDER...
    python tools/compilers/recompile.py PYTHON FOLDER... --from-text

``PYTHON`` has jax and, for dumps of a TPU, libtpu. ``--from-text`` does without ``module.mlir``.
The status is 1 if less than 95% of the programs of a folder are reproduced.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path[:1] = [str(_ROOT / name) for name in ("tools", "tests", "server")]

from compilers.records import is_reproduced  # noqa: E402
from hlo_lsp.cli.dumps import dumps_at  # noqa: E402
from hlo_lsp.compiling.compiler_process import CompilerProcess  # noqa: E402
from hlo_lsp.compiling.errors import CompileFailedError  # noqa: E402
from hlo_lsp.compiling.program import Changes, program_at  # noqa: E402
from hlo_lsp.compiling.recompile import compile_again  # noqa: E402
from hlo_lsp.model.workspace import ROLES_WITHOUT_SIZES  # noqa: E402
from hlo_lsp.reports.comparison import compare_all, comparison_headline  # noqa: E402
from hlo_lsp.reports.diff import ModuleDiff  # noqa: E402
from hlo_lsp.reports.diff_text import first_change  # noqa: E402

_SECONDS = 900


def recompile_folder(
    python: str, folder: Path, *, from_text: bool = False
) -> Iterator[tuple[str, str]]:
    """Yield each program of a folder, and how its new compile differs, empty if it does not."""
    with CompilerProcess(python, seconds=_SECONDS) as compiler:
        for path in sorted(folder.rglob("*before_optimizations.txt")):
            try:
                yield path.name, _difference(compiler, path, from_text)
            except CompileFailedError as error:
                yield path.name, f"fails: {error}"


def _difference(compiler: CompilerProcess, path: Path, from_text: bool) -> str:
    program = program_at(path)
    if from_text:
        program = replace(program, original=None)
    if program.dump is None:
        return ""  # it stopped before the optimized module
    errors: list[str] = []
    found = compile_again(compiler, program, Changes())
    before, after = (
        list(dumps_at([one], errors, unread=ROLES_WITHOUT_SIZES))
        for one in (program.dump, found.after)
    )
    comparison = compare_all(before, after)
    if comparison.is_equal:
        return ""
    diffs = comparison.diffs
    return _first_difference(diffs[0]) if diffs else comparison_headline(comparison)


def _first_difference(diff: ModuleDiff) -> str:
    if diff.main is not None and (diff.main.peak_change or diff.main.allocated_change):
        return f"{diff.main.title} {diff.main.peak_change:+,} B at the peak"
    if diff.instructions is not None and not diff.instructions.is_equal:
        return first_change(diff)
    names = ", ".join(one.name for one in diff.flags or ())
    return f"flags: {names}" if names else "buffers that change no peak"


def main(arguments: Sequence[str] | None = None) -> int:
    """Compile the programs of folders again."""
    parser = argparse.ArgumentParser(description="Compile the programs of dumps again.")
    parser.add_argument("python", metavar="PYTHON")
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--from-text", action="store_true", help="do not use module.mlir")
    options = parser.parse_args(arguments)
    status = 0
    for folder in options.folders:
        results = {}
        found = recompile_folder(options.python, folder, from_text=options.from_text)
        for name, difference in found:
            results[name] = difference
            if difference:
                print(f"  {name}: {difference[:300]}", flush=True)
        equal = sum(not one for one in results.values())
        print(f"{folder}: {equal} of {len(results)} without differences", flush=True)
        status |= not is_reproduced(results)
    return status


if __name__ == "__main__":
    sys.exit(main())
