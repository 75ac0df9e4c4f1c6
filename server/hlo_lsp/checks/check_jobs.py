"""The jobs of a check run: the files below given paths or workspace folders, by compile."""

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.checks.catalogue import selected_rules
from hlo_lsp.checks.config_file import ConfigError, ConfigFile, find_config_file, read_config_file
from hlo_lsp.checks.framework.finding import Finding, Severity
from hlo_lsp.checks.framework.options import Budget, CheckOptions, Selection
from hlo_lsp.checks.run import check
from hlo_lsp.memory.savings import largest_peak_bytes
from hlo_lsp.model.compile_files import FolderListing, FolderSnapshot
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.folder_scan import ScannedFolder, Stamp
from hlo_lsp.model.place import Place
from hlo_lsp.model.stdout_dump import SectionFile
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.protos.names import is_converted, is_skipped
from hlo_lsp.protos.reading import damage_in
from hlo_lsp.syntax.embedded_hlo import language_of_path
from hlo_lsp.syntax.file_kinds import FileKind, detect_file_kind
from hlo_lsp.text.disk import BinaryFileError, UnreadableError, file_stamp
from hlo_lsp.text.remote import shown

_ENDINGS = frozenset({".txt", ".hlo"})
_NO_PATHS = frozenset[Path]()  # one object for thousands of jobs
_NamedStamp = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class CheckJob:
    """Files of one compile that are checked together.

    Equal jobs have equal results: ``stamps`` are the names, modification times (ns), and sizes
    (bytes) of all files of the compile. ``named`` are the ``files`` that the user named.
    """

    files: tuple[Path, ...]
    named: frozenset[Path]
    stamps: tuple[_NamedStamp, ...]
    selection: Selection

    @property
    def path(self) -> Path:
        """The first file."""
        return self.files[0]

    @property
    def size(self) -> int:
        """The total size of the files of the compile, in bytes."""
        return sum(size for _, _, size in self.stamps)

    def folders(self) -> FolderSnapshot:
        """Return the listing of the folder of the compile with nothing but its files."""
        return FolderSnapshot.of_compile(self.path.parent, [name for name, _, _ in self.stamps])


@dataclass(frozen=True, slots=True)
class Plan:
    """The jobs of a check run.

    ``files`` are in the order of the paths and of names below them. ``errors`` are those of the
    config files that apply. ``closed`` are unreadable folders, each with the reason:
    ``dumps/private: Permission denied``. ``budgets`` are those of each config file, with the jobs
    to which it applies.
    """

    jobs: list[CheckJob]
    files: list[Path]
    errors: list[ConfigError]
    closed: dict[Path, str] = field(default_factory=dict)
    budgets: dict[Path, tuple[tuple[Budget, ...], list[CheckJob]]] = field(default_factory=dict)


def plan(paths: Sequence[Path], overrides: CheckOptions) -> Plan:
    """Return the jobs for files and for everything below folders.

    The ``hlo-lsp.toml`` of a folder applies to its files, and ``overrides`` take precedence over
    it. A file that several paths lead to is checked once.
    """
    seen: dict[str, Path] = {}
    named: set[Path] = set()
    folders: dict[Path, list[Path]] = {}
    closed: dict[Path, str] = {}
    for path in paths:
        for file in sorted(_below(path, closed)) if os.path.isdir(path) else [path]:
            absolute = os.path.abspath(file)
            if absolute not in seen:
                seen[absolute] = file
                folders.setdefault(Path(absolute).parent, []).append(file)
                if file is path:
                    named.add(file)
    configs: dict[Path, ConfigFile] = {}
    jobs: list[CheckJob] = []
    budgets: dict[Path, tuple[tuple[Budget, ...], list[CheckJob]]] = {}
    for folder, files in folders.items():
        options, config = [overrides], find_config_file(folder)
        if config is not None:
            if config not in configs:
                configs[config] = read_config_file(config)
            options.insert(0, configs[config].options)
        try:
            names = sorted(os.listdir(folder))
        except OSError:
            names = []
        listing = FolderListing(files[0].parent, names)
        own = list(_jobs_in(files, listing, Selection.of(options), named))
        jobs += own
        if config is not None:
            budgets.setdefault(config, (configs[config].options.budget, []))[1].extend(own)
    errors = [error for config in configs.values() for error in config.errors]
    return Plan(jobs, list(seen.values()), errors, closed, budgets)


def jobs_in(folder: ScannedFolder, selection: Selection) -> Iterator[CheckJob]:
    """Yield a job for each compile in a folder."""
    wanted = [name for name in sorted(folder.names) if os.path.splitext(name)[1] in _ENDINGS]
    if wanted:
        files = _listed(wanted, folder.listing)
        yield from _jobs_in(files, folder.listing, selection, set(), folder.stamp)


def _listed(names: Iterable[str], listing: FolderListing) -> Iterator[Path]:
    """Yield the paths of the listed names. These objects keep their hashes for later calls."""
    for name in names:
        checkpoint()
        if name in listing:
            yield listing.compile_files(name).path


def _below(top: Path, closed: dict[Path, str]) -> Iterator[Path]:
    """Yield the files below a folder. Links to folders are not followed: they may form cycles."""

    def record_error(error: OSError) -> None:
        folder = Path(error.filename)
        closed[folder] = f"{shown(folder)}: {error.strerror}"

    for folder, _, names in os.walk(top, onerror=record_error):
        known = frozenset(names)
        paths = (Path(folder, name) for name in names if not is_skipped(name, known))
        yield from (path for path in paths if os.path.isfile(path))


def _jobs_in(
    files: Iterable[Path],
    listing: FolderListing,
    selection: Selection,
    named: set[Path],
    stamp_of: Callable[[Path], Stamp | None] = file_stamp,
) -> Iterator[CheckJob]:
    groups: dict[str, tuple[tuple[Path, ...], list[Path]]] = {}
    for file in files:
        stem: str = file.name
        compile_files: tuple[Path, ...] = (file,)
        if file.name in listing:  # else it does not exist, which reading it reports
            compile_ = listing.compile_files(file.name)
            stem, compile_files = compile_.stem, compile_.files
        groups.setdefault(stem, (compile_files, []))[1].append(file)
    for compile_files, group in groups.values():
        checkpoint()
        known = {path: stamp_of(path) for path in (*compile_files, *group)}
        stamps = tuple((path.name, *stamp) for path, stamp in known.items() if stamp is not None)
        named_here = frozenset(named.intersection(group)) if named else _NO_PATHS
        yield CheckJob(tuple(group), named_here, stamps, selection)


logger = logging.getLogger(__name__)

# A file with one of these endings may be a dump that lost its first line. A file with another one,
# such as the source of a test, may merely contain a dump and counts only if it begins with it.
_USUAL_ENDINGS = frozenset({".txt", ".hlo", ".log", ""})


@dataclass(frozen=True, slots=True)
class Spot:
    """A part of one line: line and columns from 1, in code points, the end exclusive."""

    path: str
    line: int
    column: int
    end_column: int

    @classmethod
    def of(cls, place: Place) -> "Spot":
        """Return the spot of a place in the text of the file on disk."""
        return cls(place.file.label, place.number, place.start + 1, place.end + 1)


@dataclass(frozen=True, slots=True)
class RelatedSpot:
    """A second spot that a finding refers to."""

    spot: Spot
    message: str


@dataclass(frozen=True, slots=True)
class FindingSummary:
    """A finding with spots instead of places, so that it can outlive its file."""

    code: str
    severity: Severity
    spot: Spot
    message: str
    related: tuple[RelatedSpot, ...] = ()

    @classmethod
    def of(cls, finding: Finding) -> "FindingSummary":
        """Return the report of a finding."""
        related = (RelatedSpot(Spot.of(other.place), other.message) for other in finding.related)
        spot = Spot.of(finding.place)
        return cls(finding.code, finding.severity, spot, finding.message, tuple(related))


@dataclass(slots=True)
class FileResult:
    """The result of checking one file.

    ``counting`` is the number of findings that cause a failure. ``note`` is the reason why the file
    could not be checked, or None. ``is_host`` is True for a file in another language. ``size`` is
    the number of bytes at the peak of a file with advice alone. ``modules`` are the names of the
    modules in it.
    """

    path: Path
    kind: FileKind = FileKind.OTHER
    findings: list[FindingSummary] = field(default_factory=list)
    counting: int = 0
    note: str | None = None
    is_host: bool = False
    size: int = 0
    modules: frozenset[str] = frozenset()

    @property
    def worst(self) -> int:
        """The rank of the most severe finding; without findings, the number of severities."""
        return min((finding.severity.rank for finding in self.findings), default=len(Severity))


def check_job(job: CheckJob, workspace: DumpWorkspace | None = None) -> list[FileResult]:
    """Check the files of a job, as they are in a workspace if one is given.

    A file that the user named is reported if it is unreadable or not a dump. In a folder, files
    that are not dumps are skipped, because dump folders contain other files too.
    """
    library = workspace or DumpWorkspace(folders=job.folders())
    return [_check_path(library, path, job) for path in job.files]


def lost_job(job: CheckJob, message: str) -> list[FileResult]:
    """Return the results of a job that was not run."""
    return [FileResult(path, note=message) for path in job.files]


def _check_path(library: DumpWorkspace, path: Path, job: CheckJob) -> FileResult:
    is_named = path in job.named
    try:
        file = library.file(path)
        if _is_checked(library, file, path, is_named=is_named):
            return check_file(library, file, path, job.selection)
    except UnreadableError as error:
        is_skipped = isinstance(error, BinaryFileError) and not is_named
        return FileResult(path, note=None if is_skipped else str(error))
    except Exception as error:  # an internal error must not hide the results of other files
        logger.info("%s", path, exc_info=True)
        failure = f"the checker failed on this file ({type(error).__name__}: {error})"
        return FileResult(path, note=f"{shown(path)}: {failure}; please report it")
    what = "not an HLO module or XLA memory dump" if any(file.lines) else "the file is empty"
    if file.host is not None:
        what = f"no complete HLO module in this {file.host.value} file"
    note = f"{shown(path)}: {what}" if is_named else None
    return FileResult(path, note=note, is_host=language_of_path(path) is not None)


def _is_checked(library: DumpWorkspace, file: DumpFile, path: Path, *, is_named: bool) -> bool:
    """Return whether a file is a dump, or a file with HLO in another language that is named."""
    if file.kind is FileKind.EMBEDDED:
        parts = library.parts(file) if is_named else ()
        return any(isinstance(part, SectionFile) and not part.is_fragment for part in parts)
    return file.kind.is_dump and (is_named or _is_dump_by_itself(file, path))


def _is_dump_by_itself(file: DumpFile, path: Path) -> bool:
    """Return True if a file is a dump from its first line, or has a usual dump name."""
    first = next(filter(str.strip, file.lines), "")
    is_usual = path.suffix in _USUAL_ENDINGS or is_converted(path.name)
    return is_usual or detect_file_kind([first]).is_dump


def check_file(library: DumpWorkspace, file: DumpFile, path: Path, chosen: Selection) -> FileResult:
    """Check a file that has been read, and all sections in it."""
    findings = [
        FindingSummary.of(finding)
        for part in library.parts(file)
        for finding in check(
            library.compile_of(part), part, selected_rules(chosen), chosen.thresholds
        )
    ]
    counting = sum(chosen.counts(one.severity) for one in findings)
    damage = damage_in(file.path, file.lines)
    result = FileResult(path, file.kind, findings, counting, damage)
    headers = (library.compile_of(part).module_header for part in library.parts(file))
    result.modules = frozenset("" if header is None else header.name for header in headers)
    if result.worst in {Severity.INFORMATION.rank, Severity.HINT.rank}:
        result.size = max(
            largest_peak_bytes(library.compile_of(one)) for one in library.parts(file)
        )
    return result


@dataclass(frozen=True, slots=True)
class Outcome:
    """The checked files, those with the most severe findings first.

    ``notes`` list files and folders that could not be checked or have no dump.
    """

    results: list[FileResult]
    notes: list[str]


def outcome(
    plan: Plan, paths: Sequence[Path], known: Mapping[CheckJob, list[FileResult]]
) -> Outcome:
    """Return the outcome of a plan for ``paths``, from the ``known`` results of all its jobs."""
    place = {file: number for number, file in enumerate(plan.files)}
    results = [checked for job in plan.jobs for checked in known[job]]
    # The most severe come first: among hundreds of dumps, a reader looks for the broken one. Then
    # comes the advice on the largest module.
    results.sort(
        key=lambda checked: (
            min(checked.worst, Severity.INFORMATION.rank),
            -checked.size,
            place[checked.path],
        )
    )
    notes = [*plan.closed.values()]
    # A pattern such as `*_test.cc` also matches files without HLO.
    has_embedded = any(checked.kind is FileKind.EMBEDDED for checked in results)
    noted = (checked for checked in results if not (checked.is_host and has_embedded))
    notes += [checked.note for checked in noted if checked.note is not None]
    folders = (path for path in paths if os.path.isdir(path) and path not in plan.closed)
    with_dump = _folders_with_dumps(results)
    empty = (folder for folder in folders if os.path.abspath(folder) not in with_dump)
    notes += [f"{shown(one)}: no HLO module or XLA memory dump in this folder" for one in empty]
    if any(os.path.isdir(path) for path in paths):
        notes += _unmatched_budgets(plan, known)
    return Outcome(results, [*dict.fromkeys(notes)])


def _unmatched_budgets(plan: Plan, known: Mapping[CheckJob, list[FileResult]]) -> Iterator[str]:
    """Yield a message about each budget whose pattern matches no module of the run.

    A module that got another name would escape its budget. Named files are a part of the modules,
    so this is for runs on folders.
    """
    for config, (budgets, jobs) in plan.budgets.items():
        modules = {name for job in jobs for checked in known[job] for name in checked.modules}
        for budget in budgets if modules else ():
            if not any(map(budget.applies_to, modules)):
                what = f"the budget for the module `{budget.module}` matches none of the checked"
                near = get_close_matches(budget.module, modules, 1)
                hint = f"; did you mean `{near[0]}`?" if near else ""
                yield f"{shown(config)}: {what} modules{hint}"


def _folders_with_dumps(results: Iterable[FileResult]) -> set[str]:
    """Return the absolute folders with a dump, or a file that cannot be read, in or below them."""
    found: set[str] = set()
    for checked in results:
        if checked.kind.is_dump or checked.note is not None:
            folder = os.path.dirname(os.path.abspath(checked.path))
            while folder not in found:
                found.add(folder)
                folder = os.path.dirname(folder)
    return found
