"""``hlo-lsp hosts``: compare what the hosts of one program compiled."""

import argparse
import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.cli.dumps import compile_at, compiles_at, print_blocks, print_errors
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.compile_files import FolderCache, compiles_below
from hlo_lsp.model.display import count_noun
from hlo_lsp.model.file_names import DumpName, FileRole, suffix_of
from hlo_lsp.model.host_folders import hosts_of
from hlo_lsp.program.fingerprint import fingerprint
from hlo_lsp.reports.hosts import HostCompile, compare_hosts, hosts_json, hosts_lines
from hlo_lsp.reports.summary import module_name
from hlo_lsp.text.disk import UnreadableError, read_document
from hlo_lsp.text.remote import shown

_DIFFERENT_STATUS = 1
_READ_BYTES = 1 << 20
_MEMORY_ROLES = {FileRole.ASSIGNMENT, FileRole.LIVE_RANGE}


def run(options: argparse.Namespace) -> int:
    """Run the command, and return its exit status: 1 if hosts differ."""
    others = [path for path in options.paths if not path.is_dir()]
    if others:
        return print_errors(f"{shown(path)}: not a folder" for path in others)
    errors: list[str] = []
    compiles = list(_HostReader(errors).compiles(options.paths))
    hosts = {one.host for one in compiles}
    if len(hosts) < 2:
        where = ", ".join(map(shown, options.paths))
        count = count_noun(len(hosts), "host")
        return print_errors([*errors, f"{where}: dumps of {count}, but a comparison needs two"])
    modules = sorted(compare_hosts(compiles), key=lambda one: (one.is_same, -one.size, one.name))
    if options.format == "json":
        print(json.dumps(hosts_json(hosts, modules), indent=1))
    else:
        print_blocks([hosts_lines(hosts, modules)])
    status = print_errors(dict.fromkeys(errors))
    return status or (0 if all(one.is_same for one in modules) else _DIFFERENT_STATUS)


class _HostReader:
    """Finds the compiles of hosts, and hashes their files; equal files are hashed in full once."""

    def __init__(self, errors: list[str]) -> None:
        self._errors = errors
        self._folders = FolderCache()
        self._fingerprints: dict[str, str | None] = {}

    def compiles(self, folders: Sequence[Path]) -> Iterator[HostCompile]:
        """Yield the compiles below folders, those of a host in the order of the compiler."""
        files = dict.fromkeys(
            file for path in folders for file in compiles_below(path.resolve(), self._folders)
        )
        hosts = hosts_of({path.parent for path in files})
        for path in files:
            host, program = hosts[path.parent]
            name = DumpName.of(path.name)
            if name is None or name.module_name is None:
                yield from self._of_any_file(path, host, program)
                continue
            compile_ = self._folders.listing(path.parent).compile_files(path.name)
            memory = [one for one in compile_.memory if suffix_of(one.name).role in _MEMORY_ROLES]
            yield HostCompile(
                host,
                program,
                name.module_name,
                None if compile_.module is None else self._fingerprint(compile_.module),
                _digest(memory),
                partial(compile_at, path, self._errors),
            )

    def _of_any_file(self, path: Path, host: str, program: str) -> Iterator[HostCompile]:
        """Yield the compiles of a file that is not named by XLA, such as a stdout dump."""
        for dump in compiles_at(path, self._errors):
            text, memory = dump.module_file, dump.allocations_file
            yield HostCompile(
                host,
                program,
                module_name(dump),
                None if text is None else fingerprint(text.lines),
                None if memory is None else _digest_of_lines(memory.lines),
                partial(_returned, dump),
            )

    def _fingerprint(self, path: Path) -> str | None:
        raw = _digest([path])
        if raw is not None and raw in self._fingerprints:
            return self._fingerprints[raw]
        try:
            lines = read_document(path).lines
            found = fingerprint(lines) if any(map(str.strip, lines)) else None
        except UnreadableError as error:
            self._errors.append(str(error))
            found = None
        if raw is not None:
            self._fingerprints[raw] = found
        return found


def _returned(dump: Compile) -> Compile:
    return dump


def _digest(paths: Sequence[Path]) -> str | None:
    """Return a hash of the contents of files; None without files, or if one is unreadable."""
    found = hashlib.sha256()
    try:
        for path in paths:
            with path.open("rb") as file:
                while data := file.read(_READ_BYTES):
                    checkpoint()
                    found.update(data)
    except OSError:  # the reader of the dump reports it
        return None
    return found.hexdigest() if paths else None


def _digest_of_lines(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode(errors="surrogatepass")).hexdigest()
