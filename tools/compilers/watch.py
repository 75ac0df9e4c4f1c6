#!/usr/bin/env python3
"""Compile programs with releases of jax, and compare hlo-lsp with the numbers of XLA.

For every release, the program makes a virtual environment, compiles 20 small programs and a
training step for each backend into ``OUTPUT/BACKEND_jax_VERSION``, and removes the environment. It
runs ``hlo-lsp check`` over each folder, compares sizes, uses, totals, peaks, and modules with those
of XLA, and prints one line per release. Folders of earlier runs are not compiled again::

    python tools/compilers/watch.py 0.12.0.1 -o DIR
    python tools/compilers/watch.py --newest -o DIR --report FILE
    python tools/compilers/watch.py 0.10.2 --backends tpu --libtpu 0.0.52 -o DIR
    python tools/compilers/watch.py --all --programs all -o DIR --markdown docs/dump_formats.md
    python tools/compilers/watch.py --all -o DIR --archive tests/corpus/generations.tar.xz

No accelerator is necessary. The program needs an environment with the dependency group ``test`` and
a Python that the release supports; it searches the path and the versions of pyenv. It ends with
status 1 if anything differs, is reported, or cannot be made. It runs one process at a time.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
sys.path[:1] = [str(_ROOT / name) for name in ("tools", "tests", "server")]

from compilers.archive import write_archive  # noqa: E402
from compilers.comparisons import (  # noqa: E402
    compare_folder,
    module_parser,
    parse_in_release,
    print_in_release,
)
from compilers.compilation import (  # noqa: E402
    BACKENDS,
    compile_programs,
    folder_name,
    program_names,
)
from compilers.environments import (  # noqa: E402
    Environment,
    InstallError,
    environment_with_jax,
)
from compilers.recompile import recompile_folder  # noqa: E402
from compilers.records import (  # noqa: E402
    Record,
    by_release,
    dump_files,
    read_record,
    record_path,
    recorded_folders,
    write_record,
)
from compilers.releases import (  # noqa: E402
    first_python,
    installed_pythons,
    is_watched,
    released_versions,
    suitable_pythons,
)
from compilers.tables import (  # noqa: E402
    FORMS_MARKS,
    WATCH_MARKS,
    forms_tables,
    markdown,
    problem_lines,
    release_line,
    update_document,
    watch_table,
)
from dumps import files_of  # noqa: E402
from hlo_lsp.syntax.file_kinds import FileKind  # noqa: E402


def main(arguments: Sequence[str] | None = None) -> int:
    """Make, check, and compare the dumps that the command line selects."""
    options = _options(arguments)
    output: Path = options.output.resolve()
    output.mkdir(parents=True, exist_ok=True)
    report = []
    is_different = False
    for version in _versions(options):
        names = options.backends.split(",")
        folders = {name: output / folder_name(name, version, options.libtpu) for name in names}
        _make(folders, version, options)
        for folder in folders.values():
            if not options.no_checks:
                _check(folder, options)
        records = [read_record(folder) for folder in folders.values()]
        is_different |= any(record.is_different for record in records)
        report += [release_line(records), *(f"* {line}" for line in problem_lines(records)), ""]
        print("\n".join(report[-len(problem_lines(records)) - 2 :]), flush=True)
    if options.report is not None:
        options.report.write_text("\n".join(report), "utf-8")
    _write_tables(recorded_folders(output), options)
    return int(is_different)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Compile programs with releases of jax, and compare hlo-lsp with XLA."
    )
    parser.add_argument("versions", nargs="*", metavar="VERSION", help="a release of jax")
    parser.add_argument("--all", action="store_true", help="all releases from 0.4.30 on")
    parser.add_argument(
        "--newest", action="store_true", help="the newest jax and libtpu of the package index"
    )
    parser.add_argument("--nightly", action="store_true", help="the newest pre-releases")
    parser.add_argument("--index", metavar="URL", help="another package index for --nightly")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="DIR")
    parser.add_argument("--backends", default="cpu,tpu,cuda", metavar="LIST")
    parser.add_argument("--libtpu", metavar="VERSION", help="another libtpu than jax requires")
    parser.add_argument("--programs", metavar="LIST", help="compile these programs, or 'all'")
    parser.add_argument("--python", metavar="VERSION", help="the only Python to use, such as 3.13")
    parser.add_argument("--work", type=Path, metavar="DIR", help="folder for environments")
    parser.add_argument("--no-checks", action="store_true", help="only compile")
    parser.add_argument("--again", action="store_true", help="check and compare all folders again")
    parser.add_argument("--oracles", action="store_true", help="also run tests/oracles")
    parser.add_argument("--report", type=Path, metavar="FILE", help="write what differs")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="update the tables in FILE")
    parser.add_argument("--archive", type=Path, metavar="FILE", help="archive new generations")
    options = parser.parse_args(arguments)
    if sum((bool(options.versions), options.all, options.newest, options.nightly)) != 1:
        parser.error("give either releases, --all, --newest, or --nightly")
    unknown = set(options.backends.split(",")) - BACKENDS.keys()
    if unknown:
        parser.error(f"unknown backend: {', '.join(sorted(unknown))}")
    if options.work is None:
        options.work = options.output / ".work"
    if options.libtpu is None and (options.newest or options.nightly):
        options.libtpu = released_versions("libtpu", _pip_options(options))[0]
    return options


def _pip_options(options: argparse.Namespace) -> list[str]:
    chosen = ["--pre"] if options.nightly else []
    return chosen if options.index is None else [*chosen, "--extra-index-url", options.index]


def _versions(options: argparse.Namespace) -> list[str]:
    if options.versions:
        return list(options.versions)
    released = released_versions("jax", _pip_options(options))
    return [one for one in released if is_watched(one)] if options.all else released[:1]


def _make(folders: dict[str, Path], version: str, options: argparse.Namespace) -> None:
    """Compile the programs for each backend, unless an earlier run did."""
    missing = {
        name: folder
        for name, folder in folders.items()
        if not (record_path(folder).exists() and read_record(folder).is_final)
    }
    if not missing:
        return
    work: Path = options.work.resolve()
    shutil.rmtree(work, ignore_errors=True)
    try:
        environment: Environment | None = _environment(work / "venv", version, options)
        problem = ""
    except InstallError as error:
        environment, problem = None, str(error)
    for name, folder in missing.items():
        record = Record(version, name, problem=problem)
        if environment is not None:
            _compile(folder, record, environment, options)
        write_record(folder, record)
    shutil.rmtree(work, ignore_errors=True)


def _environment(folder: Path, version: str, options: argparse.Namespace) -> Environment:
    """Make an environment with jax.

    Raises:
        InstallError: No Python of this machine can run the release.
    """
    interpreters = suitable_pythons(version, installed_pythons(), options.python)
    if not interpreters:
        oldest = ".".join(map(str, first_python(version)))
        wanted = f"Python {options.python}" if options.python else f"Python {oldest} or newer"
        found = ", ".join(sorted(one.name for one in installed_pythons()))
        raise InstallError(f"needs {wanted}; this machine has {found}")
    return environment_with_jax(folder, version, interpreters, _pip_options(options))


def _compile(
    folder: Path, record: Record, environment: Environment, options: argparse.Namespace
) -> None:
    """Compile the programs for one backend, and parse the modules with the same release."""
    record.python = environment.python_version
    unfinished = folder.with_name(f"{folder.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    try:
        record.compiler = environment.install_compiler(record.backend, options.libtpu)
    except InstallError as error:
        record.problem = str(error)
        return
    programs = program_names(record.backend, options.programs)
    log = compile_programs(environment, record.backend, programs, unfinished)
    record.programs, record.memory = log.programs, log.memory
    shutil.rmtree(folder, ignore_errors=True)
    unfinished.rename(folder)
    record.compiles = len(files_of(folder, FileKind.ASSIGNMENT))
    record.files = len(dump_files(folder))
    record.recompiled = dict(recompile_folder(str(environment.python), folder))
    if environment.has_xla_parser():
        parse_in_release(environment, folder, _parsed(folder))
        print_in_release(environment, _printed(folder))


def _parsed(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.parsed")


def _printed(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.printed")


def _check(folder: Path, options: argparse.Namespace) -> None:
    """Check and compare a folder, unless an earlier run did."""
    record = read_record(folder)
    if not record.compiled or (record.counts and not options.again):
        return
    command = [sys.executable, "-m", "hlo_lsp", "check", "--format", "json", "--exit-zero"]
    checked = [str(one) for one in (folder, _printed(folder)) if one.is_dir()]
    found = json.loads(_run_here([*command, "--severity", "warning", *checked]))
    record.errors = sum(one["severity"] == "error" for one in found)
    record.warnings = len(found) - record.errors
    comparison = compare_folder(folder, record.memory, module_parser(folder, _parsed(folder)))
    record.counts = comparison.counts
    record.differences = [
        *(f"{Path(one['path']).name}:{one['line']}: {one['code']}" for one in found[:20]),
        *comparison.differences,
    ]
    if options.oracles:
        record.oracles = _run_oracles(folder)
    write_record(folder, record)


def _run_oracles(folder: Path) -> str:
    """Run ``tests/oracles`` over a folder, and return how many fail."""
    command = [sys.executable, "-m", "pytest", "-q", "tests/oracles", "-k", folder.name]
    log = _run_here([*command, "--dumps", str(folder), "-p", "no:cacheprovider"])
    folder.with_name(f"{folder.name}.oracles.log").write_text(log, "utf-8")
    counts = dict.fromkeys(("passed", "failed", "error"), 0)
    last = next(iter(log.splitlines()[-1:]), "")
    for number, kind in re.findall(r"(\d+) (passed|failed|error)", last):
        counts[kind] = int(number)
    failed = counts["failed"] + counts["error"]
    return f"{failed} of {failed + counts['passed']} fail" if failed else "pass"


def _run_here(command: Sequence[str]) -> str:
    """Return the output of a command that runs this tree."""
    variables = {**os.environ, "PYTHONPATH": str(_ROOT / "server")}
    done = subprocess.run(
        command, cwd=_ROOT, env=variables, capture_output=True, text=True, check=False
    )
    return done.stdout


def _write_tables(folders: Sequence[Path], options: argparse.Namespace) -> None:
    records = [read_record(folder) for folder in folders]
    if len(list(by_release(records))) > 1:
        print(markdown(watch_table(records)))
    if options.markdown is not None:
        update_document(options.markdown, FORMS_MARKS, forms_tables(folders))
        update_document(options.markdown, WATCH_MARKS, watch_table(records))
    if options.archive is not None:
        write_archive(folders, options.archive)


if __name__ == "__main__":
    sys.exit(main())
