"""The compiles in and below a folder: files grouped by the module that XLA wrote them for."""

import os
import time
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.model.file_names import DumpName, FileRole, NameSuffix, group_key, suffix_of
from hlo_lsp.protos.names import is_converted, is_skipped, text_name
from hlo_lsp.text.disk import names_in

ModuleGroups = dict[str, list[str]]


def group_by_module(names: Iterable[str]) -> ModuleGroups:
    """Group file names by module; the keys are opaque.

    Beyond ``group_key``:

    - Names with different timestamps belong to different runs of XLA, which uses one timestamp for
      a module. A name without a timestamp belongs to the only run with one, if there is one.
    - A name without the module name belongs to the module with its number, if that is unique and
      the module name would exceed the maximum length of a file name.
    - An unknown suffix begins after the prefix of a known module.
    """
    groups: dict[str, list[DumpName]] = {}
    others: ModuleGroups = {}
    unknown: list[DumpName] = []
    for filename in names:
        checkpoint()
        name = DumpName.of(filename)
        if name is None:
            others.setdefault(group_key(filename), []).append(filename)
        elif name.suffix.is_known:
            groups.setdefault(name.head, []).append(name)
        else:
            unknown.append(name)
    _split_runs(groups)
    homes = _join_unnamed(groups)
    for name in unknown:
        key = _group_of_unknown(name, groups, homes)
        groups.setdefault(name.head if key is None else key, []).append(name)
    for key, members in groups.items():
        others[key] = [name.filename for name in members]
    return others


def _split_runs(groups: dict[str, list[DumpName]]) -> None:
    for head, members in list(groups.items()):
        stamps = {name.timestamp for name in members} - {None}
        if len(stamps) < 2:
            continue
        del groups[head]
        for name in members:
            groups.setdefault(_with_timestamp(name.timestamp, head), []).append(name)


def _join_unnamed(groups: dict[str, list[DumpName]]) -> dict[str, str]:
    """Move names without a module name to their module; return the new key by old key."""
    nameless = [key for key, members in groups.items() if members[0].module_name is None]
    named: dict[tuple[str, int | None], list[str]] = {}
    if nameless:
        for key, members in groups.items():
            if members[0].module_name is not None:
                named.setdefault((members[0].module, members[0].cl), []).append(key)
    homes: dict[str, str] = {}
    for key in nameless:
        members = groups.pop(key)
        candidates = named.get((members[0].module, members[0].cl), [])
        for name in members:
            fitting = [other for other in candidates if _may_join(name, groups[other])]
            home = fitting[0] if len(fitting) == 1 else key
            groups.setdefault(home, []).append(name)
            homes[key] = home
    return homes


def _may_join(nameless: DumpName, group: list[DumpName]) -> bool:
    first = group[0]
    assert first.module_name is not None
    stamps = {name.timestamp for name in group} | {nameless.timestamp}
    return len(stamps - {None}) < 2 and nameless.may_be_of(first.module_name)


def _group_of_unknown(
    name: DumpName, groups: dict[str, list[DumpName]], homes: dict[str, str]
) -> str | None:
    """Return the group with the longest head that the name begins with."""
    text = name.filename if name.timestamp is None else name.filename.partition(".")[2]
    end = text.rfind(".")
    while end > 0:
        head = text[:end]
        for known in (_with_timestamp(name.timestamp, head), head):
            key = homes.get(known, known)
            if key in groups:
                return key
        end = text.rfind(".", 0, end)
    return None


def _with_timestamp(timestamp: int | None, head: str) -> str:
    return head if timestamp is None else f"{timestamp}.{head}"


# Texts in which instructions of a name equal those of S.txt: in the corpus 24,324 are equal and 4
# differ (HLO sanitization inserts converts). Memory space assignment adds copies and removes
# bitcasts, so the text before buffer assignment has other names.
_SAME_INSTRUCTION_ROLES = frozenset(
    {
        FileRole.AFTER_OPTIMIZATIONS_BEFORE_BUFFER_ASSIGNMENT,
        FileRole.AFTER_OPTIMIZATIONS_AFTER_BUFFER_ASSIGNMENT,
        FileRole.AFTER_CODEGEN,
    }
)
_THUNK_ROLES = frozenset({FileRole.THUNKS, FileRole.THUNK_METADATA})
_TARGET = "target_arguments.txt"
_EQUAL_TEXT = FileRole.AFTER_OPTIMIZATIONS_AFTER_BUFFER_ASSIGNMENT
# Pipelines that run before after_spmd_partitioner.txt is written (jaxlib 0.10.2).
_PARTITIONING_PIPELINES = ("spmd", "sharding", "host-compute")
_ROLE_ORDER = {role: place for place, role in enumerate(FileRole)}


@dataclass(frozen=True, slots=True)
class CompileFiles:
    """The files that belong to a file.

    ``stem`` is the common prefix of the memory files of the file's instructions; files that share
    memory files have the same stem. ``module`` is the module text of that stem, ``memory`` its
    memory files, and ``thunk_metadata`` the file that names the instruction of each thunk.
    ``texts`` are all module texts of the module in pipeline order; ``files`` are all files of the
    module by name. ``unknown`` are files that are named like memory files, but of a kind that this
    version does not know. ``target`` is the file that describes the TPU.

    Texts from before the last pass have no memory files, as an instruction of the same name may
    be a different one there.
    """

    path: Path
    stem: str
    module: Path | None
    memory: tuple[Path, ...]
    thunk_metadata: Path | None
    texts: tuple[Path, ...]
    files: tuple[Path, ...]
    unknown: tuple[Path, ...] = ()
    target: Path | None = None

    @property
    def leader(self) -> Path:
        """The file that a compile is about: memory files are about the module text of their stem.

        Each other text of the same instructions leads a compile of its own, with the same memory
        files.
        """
        is_led = self.path in self.memory or self.path == self.module
        return (self.module or self.path.with_name(self.stem)) if is_led else self.path

    def files_read_together(self) -> list[Path]:
        """Return the files that are read together, the file itself first.

        If the file is a text with the instructions of ``module``, it takes the place of ``module``.
        """
        found = [self.path, *self.memory]
        if self.module is not None and self.path not in self.texts:
            found.append(self.module)
        return list(dict.fromkeys(found))

    def comparison_texts(self) -> list[Path]:
        """Return the module texts for comparison: those before and after all passes.

        A text between two passes is also compared with the previous and next text. A memory
        file has the same comparison texts as its module, as its names mean the same instructions.
        """
        found = [path for path in self.texts if _role(path) is FileRole.BEFORE_OPTIMIZATIONS]
        if _role(self.path) is FileRole.PASS:
            index = self.texts.index(self.path)
            found += self.texts[max(index - 1, 0) : index + 2]
        found += [path for path in self.texts if _role(path) is FileRole.AFTER_OPTIMIZATIONS]
        own_files = self.files_read_together()
        return [path for path in dict.fromkeys(found) if path not in own_files]

    def names(self) -> tuple[str, ...]:
        """Return the names of all files of the module, of which a listing has the same compile."""
        return tuple(path.name for path in self.files)


class FolderListing:
    """The file names of one folder, grouped by module.

    Grouping reads all names, so a folder has one listing, in which each file is looked up.
    """

    def __init__(self, folder: Path, names: Iterable[str]) -> None:
        self.folder = folder
        self._groups = group_by_module(names)
        self._key_of = {name: key for key, group in self._groups.items() for name in group}
        self._compile_files: dict[str, CompileFiles] = {}
        self._extended: tuple[frozenset[str], FolderListing] | None = None

    def __contains__(self, name: str) -> bool:
        return name in self._key_of

    def modules(self) -> list[list[Path]]:
        """Return the files of every module, sorted by name."""
        return [[self.folder / name for name in sorted(group)] for group in self._groups.values()]

    def compile_files(self, name: str) -> CompileFiles:
        """Return the compile of the file with this name.

        Raises:
            KeyError: The name is not listed.
        """
        if name not in self._compile_files:
            group = self._groups[self._key_of[name]]
            self._compile_files.update(_files_of_compiles(self.folder, group))
        return self._compile_files[name]

    def with_names(self, names: Iterable[str]) -> "FolderListing":
        """Return the listing with more names, such as those of files that are not saved yet.

        Of several calls in a row with the same names, only the first one groups all names again.
        """
        more = frozenset(names).difference(self._key_of)
        if not more:
            return self
        if self._extended is None or self._extended[0] != more:
            listed = sorted((*self._key_of, *more))
            self._extended = more, FolderListing(self.folder, listed)
        return self._extended[1]


def _files_of_compiles(folder: Path, names: list[str]) -> dict[str, CompileFiles]:
    """Return the compile of each file of a module by name."""
    suffixes = {name: suffix_of(name) for name in sorted(names)}
    files = tuple(folder / name for name in suffixes)
    texts = tuple(folder / name for name in _texts_in_order(suffixes))
    targets = (folder / name for name, suffix in suffixes.items() if suffix.text == _TARGET)
    target = next(targets, None)
    families: dict[str, dict[str, FileRole]] = {}
    for name, stem in _stems(suffixes).items():
        families.setdefault(stem, {})[name] = suffixes[name].role
    found = {}
    for stem, roles in families.items():
        memory = tuple(folder / name for name, role in roles.items() if role.is_memory)
        metadata = (name for name, role in roles.items() if role is FileRole.THUNK_METADATA)
        # This text is identical, byte by byte.
        equal = [name for name, role in roles.items() if role is _EQUAL_TEXT]
        modules = [f"{stem}.txt"] if f"{stem}.txt" in roles else equal
        module = folder / modules[0] if modules else None
        thunk_metadata = next((folder / name for name in metadata), None)
        unknown = tuple(
            folder / name
            for name, suffix in suffixes.items()
            if name.startswith(f"{stem}-") and not suffix.role.is_memory and not is_converted(name)
        )
        for name in roles:
            found[name] = CompileFiles(
                *(folder / name, stem, module, memory, thunk_metadata, texts, files),
                *(unknown, target),
            )
    return found


def _stems(suffixes: dict[str, NameSuffix]) -> dict[str, str]:
    """Return the common prefix of the memory files of each file's instructions."""
    stems = {name: name[: -suffix.tail or None] for name, suffix in suffixes.items()}
    compiled = {
        stems[name]: suffix.architecture
        for name, suffix in suffixes.items()
        if suffix.role.is_compiled
    }
    tpu = [stem for stem, architecture in compiled.items() if not architecture]
    gpu = [stem for stem, architecture in compiled.items() if "gpu_" in architecture]
    for name, suffix in suffixes.items():
        if suffix.role in _SAME_INSTRUCTION_ROLES and len(tpu) == 1:
            stems[name] = tpu[0]
        elif suffix.role in _THUNK_ROLES and len(gpu) == 1:
            stems[name] = gpu[0]
    return stems


def _texts_in_order(suffixes: dict[str, NameSuffix]) -> list[str]:
    partitioned = max(
        (
            suffix.number
            for suffix in suffixes.values()
            if any(word in suffix.pipeline for word in _PARTITIONING_PIPELINES)
        ),
        default=-1,
    )

    def place(name: str) -> tuple[int, int, int, str]:
        suffix = suffixes[name]
        order = _ROLE_ORDER[suffix.role]
        if suffix.role is FileRole.AFTER_SPMD_PARTITIONER:
            return _ROLE_ORDER[FileRole.PASS], partitioned, order, name
        return order, suffix.number, 0, name

    return sorted((name for name in suffixes if suffixes[name].role.is_module_text), key=place)


def _role(path: Path) -> FileRole:
    return suffix_of(path.name).role


# Two changes within this time may have the same modification time.
_MTIME_RESOLUTION_NS = 2_000_000_000  # the coarsest file systems count two seconds


class Folders(Protocol):
    """The listings of folders."""

    def listing(self, folder: Path) -> FolderListing:
        """Return the listing of a folder, an empty one if the folder cannot be read."""
        ...


class FolderSnapshot:
    """The listing of one folder, as it was when it was listed, until another folder is.

    A command handles the compiles of a folder in a row. It lists the folder once, also if files are
    written meanwhile. A job in a worker is given the names of its compile.
    """

    def __init__(self, listing: FolderListing | None = None) -> None:
        self._last = listing

    @classmethod
    def of_compile(cls, folder: Path, names: Iterable[str]) -> "FolderSnapshot":
        """Return a snapshot with the ``CompileFiles.names`` of one compile in a folder."""
        return cls(FolderListing(folder, names))

    def listing(self, folder: Path) -> FolderListing:
        """Return the listing of a folder, an empty one if the folder cannot be read."""
        if self._last is None or self._last.folder != folder:
            self._last = FolderListing(folder, sorted(names_in(folder)))
        return self._last


class FolderCache:
    """Folder listings, cached until the modification time of the folder changes."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[int | None, list[str], FolderListing]] = {}

    def listing(self, folder: Path) -> FolderListing:
        """Return the listing of a folder, an empty one if the folder cannot be read."""
        try:
            changed = os.stat(folder).st_mtime_ns
            known = self._known.get(folder)
            if known is not None and known[0] == changed:
                return known[2]
            names = sorted(os.listdir(folder))
        except OSError:
            self._known.pop(folder, None)
            return FolderListing(folder, ())
        # While files are written, each answer reads the names, but groups them only if they differ.
        is_same = known is not None and known[1] == names
        listing = known[2] if known is not None and is_same else FolderListing(folder, names)
        is_certain = changed + _MTIME_RESOLUTION_NS < time.time_ns()
        self._known[folder] = changed if is_certain else None, names, listing
        return listing


def compiles_below(path: Path, folders: Folders | None = None) -> Iterator[CompileFiles]:
    """Yield the files of each compile with memory files or with an optimized module text.

    In a folder without one, the last text of each module is taken, such as that before
    optimizations. A path to a file yields the compile of this file. Hidden folders are left out.
    ``folders`` lists each folder once; it can keep listings for repeated calls.
    """
    folders = folders or FolderSnapshot()
    if not path.is_dir():
        yield folders.listing(path.parent).with_names([path.name]).compile_files(path.name)
        return
    for folder, names in walk_folders(path):
        yield from compiles_in(folders.listing(folder), names)


def walk_folders(top: Path) -> Iterator[tuple[Path, list[str]]]:
    """Yield a folder and those below it, except hidden ones, each with the names of its files.

    Links to folders are not followed: they may form cycles.
    """
    for folder, inner, names in os.walk(top):
        checkpoint()
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        yield Path(folder), names


def compiles_in(listing: FolderListing, names: Iterable[str]) -> Iterator[CompileFiles]:
    """Yield the compiles in a folder as ``compiles_below`` does, given the names of its files."""
    known = frozenset(names)
    is_empty = True
    for files in listing.modules():
        for found in _one_file_each(listing, _read(files, known)):
            is_empty = False
            yield found
    for files in listing.modules() if is_empty else ():
        texts = [file for file in _read(files, known) if _role(file).is_module_text]
        if texts:
            yield listing.compile_files(listing.compile_files(texts[0].name).texts[-1].name)


def _read(files: Iterable[Path], known: Container[str]) -> list[Path]:
    """Return those of the files of a module that are read, given the names of regular files."""
    return [file for file in files if file.name in known and not is_skipped(file.name, known)]


def _one_file_each(listing: FolderListing, files: list[Path]) -> Iterator[CompileFiles]:
    """Yield each compile of a module, as that of one of its files."""
    found: dict[str, Path] = {}
    for file in sorted(files, key=_assignment_first):
        text = text_name(file.name) or file.name
        if suffix_of(text).role.is_compiled or text.endswith(".hlo"):
            stem = listing.compile_files(file.name).stem if text == file.name else text[:-4]
            found.setdefault(stem, file)
    if not found:
        # A text of another name, such as the output of --xla_dump_to=-.
        found = {file.name: file for file in files if suffix_of(file.name).role is FileRole.OTHER}
    yield from (listing.compile_files(file.name) for file in found.values())


def _assignment_first(file: Path) -> tuple[bool, str]:
    """Return a sort key: the buffer assignment first."""
    return suffix_of(file.name).role is not FileRole.ASSIGNMENT, file.name


def assignments_beside(path: Path, module: str | None) -> list[Path]:
    """Return the buffer assignments in the folder of a file, first those of a module by name."""
    folder = path.absolute().parent
    files = (folder / name for name in sorted(names_in(folder)))
    found = [file for file in files if suffix_of(file.name).role is FileRole.ASSIGNMENT]
    return sorted(found, key=lambda file: module is not None and module not in file.name)
