"""``hlo-lsp export``: write profiles and traces for other tools."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from hlo_lsp.cli.dumps import dumps_at, dumps_with_place, print_errors
from hlo_lsp.memory.missing_facts import missing_facts
from hlo_lsp.memory.occupancy_and_peaks import memory_space_occupancies
from hlo_lsp.model.compile import Compile
from hlo_lsp.reports.kernels import kernel_table
from hlo_lsp.reports.perfetto import perfetto_trace
from hlo_lsp.reports.pprof import pprof_profile
from hlo_lsp.reports.profiles import BufferStack, buffer_stacks, folded_stacks


def run(options: argparse.Namespace) -> int:
    """Run the command, and return its exit status."""
    errors: list[str] = []
    dumps = [
        dump
        for dump in dumps_at(options.paths, errors, sizes_only=True)
        if options.kernels or _has_live_ranges(dump, errors)
    ]
    output = None if options.output in {None, "-"} else Path(options.output)
    is_text = options.folded or options.kernels
    if not is_text and output is None and sys.stdout.isatty():
        errors.append("the format is binary: specify a file with -o FILE, or use a pipe")
    else:
        data = _data(options, dumps, errors)
        if data:
            _write(data, output, errors)
    return print_errors(errors)


def _write(data: bytes, output: Path | None, errors: list[str]) -> None:
    if output is None:
        sys.stdout.buffer.write(data)
        return
    try:
        output.write_bytes(data)
    except OSError as error:
        errors.append(f"cannot write {output}: {error.strerror}")


def _has_live_ranges(dump: Compile, errors: list[str]) -> bool:
    if memory_space_occupancies(dump):
        return True
    missing = missing_facts(dump)
    errors.append(f"{dump.files[0].label}: {next(iter(missing))}")
    return False


def _data(options: argparse.Namespace, dumps: Sequence[Compile], errors: list[str]) -> bytes:
    """Return the content of the file; empty without buffers."""
    if options.kernels:
        return kernel_table(dumps).encode()
    if options.perfetto:
        return perfetto_trace(dumps)
    stacks = list(_stacks(options, dumps, errors))
    if options.pprof and stacks:
        return pprof_profile(stacks)
    return "".join(f"{line}\n" for line in folded_stacks(stacks)).encode()


def _stacks(
    options: argparse.Namespace, dumps: Sequence[Compile], errors: list[str]
) -> Iterator[BufferStack]:
    for dump, space in dumps_with_place(options, dumps, errors):
        yield from buffer_stacks(dump, space, options.at)
