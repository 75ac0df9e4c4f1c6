"""Compile the corpus programs with releases of jax, and check the dumps.

For every release and backend the script makes a virtual environment, compiles the programs into
``OUTPUT/BACKEND_jax_VERSION``, and removes the environment. It then runs ``hlo-lsp check`` and the
oracles of ``tests/oracles`` over the folder, and prints a table of what it found and of the forms
that it detected (``generations.py``). Folders of earlier runs are not compiled again, and the table
has a row for each of them::

    python tests/corpus/make_dumps.py 0.10.2 --backends cpu,tpu,cuda -o DIR
    python tests/corpus/make_dumps.py --all -o DIR --markdown docs/dump_formats.md
    python tests/corpus/make_dumps.py 0.10.2 --backends tpu --libtpu 0.0.52 -o DIR
    python tests/corpus/make_dumps.py --all -o DIR --archive tests/corpus/generations.tar.xz

No accelerator is necessary. The script needs an environment with the dependency group ``test``, and
uses ``uv`` where it is installed. It runs one process at a time.
"""

import argparse
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from generations import NOT_PRINTED, PARTS, DumpTexts, detect

_HERE = Path(__file__).resolve().parent
_REPOSITORY = _HERE.parent.parent
_FIRST_RELEASE = (0, 4, 30)
_PROCESS_SECONDS = 900
_MAX_RESTARTS = 6
_PUBLIC_HOME = "/home/user"
_MACHINE_PATH = re.compile(
    r'"/[^"\n]*?/(models/[^"\n]+\.py|site-packages/[^"\n]+\.py|[^"/\n]+\.py)"'
)
_ARCHIVED = re.compile(
    r"(module_\d+)\..*(optimizations[\w\-]*|after_spmd_partitioner|after_codegen|thunk_\w+)\.txt$"
)
_COMPILER_LOG = re.compile(r"^(== (?P<begun>\w+)|!! FAIL (?P<failed>\w+) (?P<reason>.*))$")
# Generated code: by far the largest part of a dump, and nothing that hlo-lsp reads.
_GENERATED_CODE = {".ll", ".o", ".ptx", ".cubin"}
_KEPT_OF_EACH = 2
_TITLES = {"cpu": "CPU", "tpu": "TPU v5e", "cuda": "CUDA (H100)"}
_RESULTS = ("programs", "dumps", "errors", "oracles")
_TABLE_MARKS = ("<!-- table: begin -->", "<!-- table: end -->")
# These compile slowly, and no form of the text depends on them.
_SLOW = {"remat", "condpred", "sortprog", "conv", "transformer", "bigattn", "linalg"}


@dataclass(frozen=True)
class Backend:
    """A compiler to run: the prefix of its dump folders, its programs and their arguments."""

    folder_prefix: str
    programs: str
    topology: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)


_BACKENDS: Mapping[str, Backend] = {
    "cpu": Backend("cpu", "programs.py"),
    "tpu": Backend(
        "tpu_v5e",
        "programs.py",
        "v5e:2x2",
        # Without it one process at a time can load libtpu, even to compile for an absent device.
        {"ALLOW_MULTIPLE_LIBTPU_LOAD": "1"},
    ),
    "cuda": Backend(
        "gpu_h100",
        "programs_gpu.py",
        f"{_HERE / 'h100.txtpb'}:1x1x4",
        {
            "JAX_SKIP_CUDA_CONSTRAINTS_CHECK": "1",
            # Autotuning needs a device, and early releases demand its results for some fusions.
            "EXTRA_XLA_FLAGS": "--xla_gpu_autotune_level=0",
        },
    ),
}


@dataclass
class Record:
    """The facts about one dump folder, stored beside it as ``FOLDER.json``."""

    version: str
    backend: str
    compiler: str = ""
    programs: dict[str, str] = field(default_factory=dict)
    problem: str = ""
    check_errors: int | None = None
    oracles: str = ""

    @property
    def compiled(self) -> int:
        """Return the number of programs that compile."""
        return sum(not problem for problem in self.programs.values())

    @property
    def order(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the sort key of a release and a compiler."""
        return _numbers(self.version), _numbers(self.compiler)

    @property
    def is_final(self) -> bool:
        """Return whether another attempt would have the same result."""
        return self.compiled > 0 or self.problem != ""


class InstallError(Exception):
    """A release cannot be installed, with a message for the table."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Make, check, and tabulate the dumps that the command line selects."""
    options = _options(arguments)
    output: Path = options.output.resolve()
    output.mkdir(parents=True, exist_ok=True)
    for version in _released_versions() if options.all else options.versions:
        for name in options.backends.split(","):
            folder = output / _folder_name(name, version, options.libtpu)
            _make(folder, name, version, options)
            if not options.no_checks:
                _check(folder)
            print(_summary(folder), flush=True)
    folders = _recorded_folders(output)
    print(f"\n{markdown_tables(folders, with_results=True)}")
    if options.markdown is not None:
        _replace_table(options.markdown, markdown_tables(folders, with_results=False))
    if options.archive is not None:
        write_archive(folders, options.archive)
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Compile the corpus programs with releases of jax, and check the dumps."
    )
    parser.add_argument("versions", nargs="*", metavar="VERSION", help="a release of jax")
    parser.add_argument("--all", action="store_true", help="all releases from 0.4.30 on")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="DIR")
    parser.add_argument("--backends", default="cpu,tpu,cuda", metavar="LIST")
    parser.add_argument("--libtpu", metavar="VERSION", help="another libtpu than jax requires")
    parser.add_argument("--programs", metavar="LIST", help="compile only these programs")
    parser.add_argument("--fast", action="store_true", help="leave out the slowest programs")
    parser.add_argument("--python", default="3.11", help="the Python to install jax for")
    parser.add_argument("--work", type=Path, metavar="DIR", help="folder for environments")
    parser.add_argument("--no-checks", action="store_true", help="only compile and detect")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="replace the table in FILE")
    parser.add_argument("--archive", type=Path, metavar="FILE", help="archive new generations")
    options = parser.parse_args(arguments)
    if bool(options.versions) == options.all:
        parser.error("give either releases or --all")
    unknown = set(options.backends.split(",")) - _BACKENDS.keys()
    if unknown:
        parser.error(f"unknown backend: {', '.join(sorted(unknown))}")
    if options.work is None:
        options.work = options.output / ".work"
    return options


def _released_versions() -> list[str]:
    """Return the releases that the package index has, newest first."""
    command = [sys.executable, "-m", "pip", "index", "versions", "jax"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    match = re.search(r"^Available versions: (.*)$", listed, re.MULTILINE)
    if match is None:
        raise SystemExit(f"cannot read the releases from: {listed}")
    return [each for each in match[1].split(", ") if _numbers(each) >= _FIRST_RELEASE]


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(digits) for digits in re.findall(r"\d+", version))


def _folder_name(backend: str, version: str, libtpu: str | None) -> str:
    name = f"{_BACKENDS[backend].folder_prefix}_jax_{version}"
    return f"{name}_libtpu_{libtpu}" if backend == "tpu" and libtpu else name


# Compiling


def _make(folder: Path, backend: str, version: str, options: argparse.Namespace) -> None:
    """Compile the programs into a folder, unless an earlier run did."""
    if _record_path(folder).exists() and _read_record(folder).is_final:
        return
    record = Record(version, backend)
    work: Path = options.work.resolve()
    shutil.rmtree(work, ignore_errors=True)
    unfinished = folder.with_name(f"{folder.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    try:
        python = _environment(work / "venv", options.python)
        record.compiler = _install(python, backend, version, options.libtpu)
        programs = _programs(backend, options)
        record.programs = _compile(work, python, _BACKENDS[backend], programs, unfinished)
        _drop_generated_code(unfinished)
        shutil.rmtree(folder, ignore_errors=True)
        unfinished.rename(folder)
    except InstallError as error:
        record.problem = str(error)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    _write_record(folder, record)


def _environment(folder: Path, version: str) -> Path:
    """Make a virtual environment and return its Python."""
    uv = shutil.which("uv")
    if uv is not None:
        command = [uv, "venv", "-q", "--python", version, str(folder)]
    else:
        interpreter = shutil.which(f"python{version}") or sys.executable
        command = [interpreter, "-m", "venv", str(folder)]
    subprocess.run(command, check=True)
    return folder / "bin" / "python"


def _install(python: Path, backend: str, version: str, libtpu: str | None) -> str:
    """Install a release of jax with a compiler, and return what the compiler is.

    libtpu and the CUDA plugins are installed by themselves: the extras of jax also ask for
    packages that compiling does not need, or that the package index no longer has.
    """
    _install_packages(python, f"jax=={version}", "absl-py")  # Pallas before 0.6 imports absl
    if backend == "tpu":
        _install_packages(python, f"libtpu=={libtpu or _required_libtpu(python)}")
        return f"libtpu {_installed(python, 'libtpu')}"
    if backend == "cuda":
        jaxlib = _installed(python, "jaxlib")  # some releases of jax have no jaxlib of their own
        names = ("jax-cuda12-plugin", "jax-cuda12-pjrt")
        _install_packages(python, "--no-deps", *(f"{name}=={jaxlib}" for name in names))
        return f"jax-cuda12-plugin {jaxlib}"
    return f"jaxlib {_installed(python, 'jaxlib')}"


def _install_packages(python: Path, *packages: str) -> None:
    uv = shutil.which("uv")
    if uv is not None:
        command = [uv, "pip", "install", "-q", "--python", str(python), *packages]
    else:
        command = [str(python), "-m", "pip", "install", "-q", *packages]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise InstallError(f"{' '.join(packages)} cannot be installed")


def _required_libtpu(python: Path) -> str:
    """Return the libtpu that the installed jax requires, such as ``0.0.17.*``."""
    code = "import importlib.metadata as m; print(*m.requires('jax'), sep='\\n')"
    match = re.search(r"^libtpu\s*\(?==([\d.*]+)", _output(python, code), re.MULTILINE)
    if match is None:
        raise InstallError("requires a nightly libtpu that the package index does not have")
    return match[1]


def _installed(python: Path, package: str) -> str:
    """Return the version of an installed package."""
    return _output(python, f"import importlib.metadata as m; print(m.version({package!r}))")


def _output(python: Path, code: str) -> str:
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _programs(backend: str, options: argparse.Namespace) -> list[str]:
    """Return the names of the programs to compile, in the order of their file."""
    text = (_HERE / _BACKENDS[backend].programs).read_text("utf-8")
    names: list[str] = re.findall(r"^@prog\ndef (\w+)", text, re.MULTILINE)
    if options.programs:
        chosen = options.programs.split(",")
        return [name for name in names if name in chosen]
    return [name for name in names if not (options.fast and name in _SLOW)]


def _compile(
    work: Path, python: Path, backend: Backend, programs: Sequence[str], folder: Path
) -> dict[str, str]:
    """Compile programs, and return an error message (or nothing) for each.

    A program that ends its process costs only itself: another process continues with the next
    program. Its modules are numbered from 0 again, so it dumps into a subfolder.
    """
    # The same path as that of the environment below: both become `/home/user` in the corpus.
    script = work / "models" / backend.programs
    script.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(_HERE / backend.programs, script)
    environment = {
        **os.environ,
        "JAX_PLATFORMS": "cpu",
        "PYTHONPATH": str(_HERE / "old_jax"),
        **backend.environment,
    }
    results: dict[str, str] = {}
    for attempt in range(_MAX_RESTARTS):
        remaining = [name for name in programs if name not in results]
        if not remaining:
            break
        dump = folder / f"restart_{attempt}" if attempt else folder
        dump.mkdir(parents=True)
        command = [str(python), str(script), str(dump), _platform(backend), backend.topology]
        log, ending = _run_compiler([*command, ",".join(remaining)], environment)
        begun = _read_log(log, results)
        if ending == "":
            break
        if not begun:
            results |= dict.fromkeys(remaining, _last_line(log))
        else:
            results[begun[-1]] = ending
    return results


def _platform(backend: Backend) -> str:
    return next(name for name, each in _BACKENDS.items() if each is backend)


def _run_compiler(command: Sequence[str], environment: Mapping[str, str]) -> tuple[str, str]:
    """Return the output of a process, and why it ended early."""
    try:
        done = subprocess.run(
            command,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_PROCESS_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        return (error.stdout or b"").decode("utf-8", "replace"), "timeout"
    ending = f"process ended with status {done.returncode}" if done.returncode else ""
    return done.stdout.decode("utf-8", "replace"), ending


def _read_log(log: str, results: dict[str, str]) -> list[str]:
    """Add the result of each program that a log mentions, and return their names."""
    begun = []
    for line in log.splitlines():
        match = _COMPILER_LOG.match(line)
        if match is None:
            continue
        if match["begun"]:
            begun.append(match["begun"])
            results[match["begun"]] = ""
        else:
            results[match["failed"]] = match["reason"]
    return begun


def _last_line(log: str) -> str:
    return next((line for line in reversed(log.splitlines()) if line.strip()), "no output")


def _drop_generated_code(folder: Path) -> None:
    """Keep a few files with generated code, as in a real dump folder."""
    for suffix in sorted(_GENERATED_CODE):
        for path in sorted(folder.rglob(f"*{suffix}"))[_KEPT_OF_EACH:]:
            path.unlink()


# Checking


def _check(folder: Path) -> None:
    """Run ``hlo-lsp check`` and the oracles over a folder, unless an earlier run did."""
    record = _read_record(folder)
    if not record.compiled or record.oracles:
        return
    command = [sys.executable, "-m", "hlo_lsp", "check", "--format", "json", "--exit-zero"]
    found = _run_here([*command, "--severity", "error", str(folder)])
    record.check_errors = len(json.loads(found))
    command = [sys.executable, "-m", "pytest", "-q", "tests/oracles", "-k", folder.name]
    log = _run_here([*command, "--dumps", str(folder), "-p", "no:cacheprovider"])
    folder.with_name(f"{folder.name}.oracles.log").write_text(log, "utf-8")
    counts = dict.fromkeys(("passed", "failed", "error"), 0)
    for number, kind in re.findall(r"(\d+) (passed|failed|error)", _last_line(log)):
        counts[kind] = int(number)
    failed = counts["failed"] + counts["error"]
    record.oracles = f"{failed} of {failed + counts['passed']} fail" if failed else "pass"
    _write_record(folder, record)


def _run_here(command: Sequence[str]) -> str:
    """Return the output of a command that runs this tree."""
    environment = {**os.environ, "PYTHONPATH": str(_REPOSITORY / "server")}
    done = subprocess.run(
        command, cwd=_REPOSITORY, env=environment, capture_output=True, text=True, check=False
    )
    return done.stdout


# Reporting


def _record_path(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.json")


def _recorded_folders(output: Path) -> list[Path]:
    """Return the folders of this and of earlier runs, also those in which nothing compiles."""
    return [path.with_name(path.name.removesuffix(".json")) for path in output.glob("*.json")]


def _read_record(folder: Path) -> Record:
    return Record(**json.loads(_record_path(folder).read_text("utf-8")))


def _write_record(folder: Path, record: Record) -> None:
    _record_path(folder).write_text(json.dumps(asdict(record), indent=1) + "\n", "utf-8")


def _summary(folder: Path) -> str:
    record = _read_record(folder)
    if record.problem:
        return f"{folder.name}: {record.problem}"
    lines = [f"{folder.name}: {record.compiler}, errors {record.check_errors}, {record.oracles}"]
    failures = ((name, reason) for name, reason in record.programs.items() if reason)
    return "\n".join([*lines, *(f"  {name}: {reason[:160]}" for name, reason in failures)])


def markdown_tables(folders: Sequence[Path], *, with_results: bool) -> str:
    """Return one Markdown table per backend, with a row per dump folder, newest first.

    Args:
        folders: the dump folders; each has a record beside it.
        with_results: whether to add what ``hlo-lsp check`` and the oracles of this tree found.
    """
    records = [(folder, _read_record(folder)) for folder in folders]
    records.sort(key=lambda each: each[1].order, reverse=True)
    tables = []
    for backend, title in _TITLES.items():
        rows = [
            _row(folder, record, with_results)
            for folder, record in records
            if record.backend == backend
        ]
        if rows:
            results = _RESULTS if with_results else ()
            header = ["jax", "compiler", *results, *PARTS]
            lines = [header, ["---"] * len(header), *rows]
            table = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
            tables.append(f"### {title}\n\n{table}\n")
    return "\n".join(tables)


def _row(folder: Path, record: Record, with_results: bool) -> list[str]:
    if not record.compiled:
        cells = [record.version, record.problem or "no program compiles"]
        return [*cells, *[NOT_PRINTED] * (len(PARTS) + (len(_RESULTS) if with_results else 0))]
    texts = DumpTexts.read(_dump_files(folder))
    results = [
        f"{record.compiled} of {len(record.programs)}",
        str(len(texts.assignments)),
        NOT_PRINTED if record.check_errors is None else str(record.check_errors),
        record.oracles or NOT_PRINTED,
    ]
    forms = detect(texts).values()
    return [record.version, record.compiler, *(results if with_results else ()), *forms]


def _dump_files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def _replace_table(document: Path, table: str) -> None:
    """Write the table between the marks of a Markdown document."""
    begin, end = _TABLE_MARKS
    text = document.read_text("utf-8")
    if begin not in text or end not in text:
        raise SystemExit(f"{document} has no {begin} and {end}")
    before, _, rest = text.partition(begin)
    after = rest.partition(end)[2]
    document.write_text(f"{before}{begin}\n\n{table}\n{end}{after}", "utf-8")


# Archiving


def write_archive(folders: Sequence[Path], archive: Path) -> None:
    """Add the smallest compile of every generation that the corpus does not have to an archive.

    Paths of this machine are replaced by those below ``/home/user``.
    """
    with tempfile.TemporaryDirectory() as temporary:
        old = Path(temporary) / "old"
        small = Path(temporary) / "small"
        _unpack(archive.with_name("small.tar.xz"), small)
        _unpack(archive, old)
        known = [detect(DumpTexts.read(_dump_files(each))) for each in _folders(small, old)]
        with tarfile.open(archive, "w:xz") as files:
            for path in sorted(_dump_files(old)):
                _add(files, str(path.relative_to(old)), path.read_text("utf-8"))
            for folder in sorted(folders, key=lambda each: _numbers(each.name), reverse=True):
                forms = detect(DumpTexts.read(_dump_files(folder)))
                if forms["memory files"] != NOT_PRINTED and forms not in known:
                    known.append(forms)
                    for path in smallest_compile(folder, forms):
                        text = without_machine_paths(path.read_text("utf-8"))
                        _add(files, f"{folder.name}/{path.name}", text)
                    print(f"{archive.name}: {folder.name}")


def _unpack(archive: Path, folder: Path) -> None:
    folder.mkdir()
    if archive.exists():
        with tarfile.open(archive) as files:
            files.extractall(folder, filter="data")


def _folders(*parents: Path) -> list[Path]:
    return [folder for parent in parents for folder in parent.iterdir()]


def smallest_compile(folder: Path, forms: Mapping[str, str]) -> list[Path]:
    """Return the text files of the smallest compile that shows the most of some forms.

    A compile with merged values (of loops and conditionals) is preferred to a trivial one.
    """
    compiles: dict[tuple[Path, str], list[Path]] = {}
    for path in _dump_files(folder):
        match = _ARCHIVED.match(path.name)
        if match is not None:
            compiles.setdefault((path.parent, match[1]), []).append(path)

    def order(compile_: tuple[Path, str]) -> tuple[int, bool, int]:
        texts = DumpTexts.read(compiles[compile_])
        own = detect(texts)
        missing = sum(own[part] != form for part, form in forms.items())
        size = sum(path.stat().st_size for path in compiles[compile_])
        return missing, not any("(phi)" in text for text in texts.memory), size

    return sorted(compiles[min(compiles, key=order)])


def without_machine_paths(text: str) -> str:
    return _MACHINE_PATH.sub(rf'"{_PUBLIC_HOME}/\1"', text)


def _add(archive: tarfile.TarFile, name: str, text: str) -> None:
    """Add a file without a date or an owner, so that the same dumps give the same archive."""
    data = text.encode()
    entry = tarfile.TarInfo(name)
    entry.size = len(data)
    archive.addfile(entry, io.BytesIO(data))


if __name__ == "__main__":
    sys.exit(main())
