"""``hlo-lsp hosts``: compare what the hosts of one program compiled."""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

from hlo_lsp.cli.dumps import compile_at, print_blocks, print_errors
from hlo_lsp.model.compile_files import FolderCache, compiles_below
from hlo_lsp.model.display import count_noun
from hlo_lsp.model.file_names import DumpName, suffix_of
from hlo_lsp.model.workspace import ROLES_WITHOUT_SIZES
from hlo_lsp.reports.hosts import compare_hosts, host_files, hosts_json, hosts_lines

_DIFFERENT_STATUS = 1


def _module_name(path: Path) -> str:
    name = DumpName.of(path.name)
    return path.name if name is None or name.module_name is None else name.module_name


def run(options: argparse.Namespace) -> int:
    """Run the command, and return its exit status: 1 if hosts differ."""
    errors: list[str] = []
    others = [path for path in options.paths if not path.is_dir()]
    if others:
        return print_errors(f"{path}: not a folder" for path in others)
    folders = FolderCache()
    paths = [file for path in options.paths for file in compiles_below(path, folders)]

    def contents(path: Path) -> Iterator[Path]:
        for file in folders.listing(path.parent).compile_files(path.name).files_read_together():
            if suffix_of(file.name).role not in ROLES_WITHOUT_SIZES:
                yield file

    files = host_files(paths, _module_name, contents)
    hosts = {one.host for one in files}
    if len(hosts) < 2:
        where = ", ".join(map(str, options.paths))
        count = count_noun(len(hosts), "host")
        errors.append(f"{where}: dumps of {count}, but a comparison needs two")
        return print_errors(errors)
    found = compare_hosts(files, lambda path: compile_at(path, errors))
    modules = sorted(found, key=lambda one: (one.is_same, -one.size, one.name))
    if options.format == "json":
        print(json.dumps(hosts_json(hosts, modules), indent=1))
    else:
        print_blocks([hosts_lines(hosts, modules)])
    status = print_errors(errors)
    return status or (0 if all(one.is_same for one in modules) else _DIFFERENT_STATUS)
