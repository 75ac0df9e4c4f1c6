"""``hlo-lsp export``: write profiles and traces for other tools."""

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from hlo_lsp.cli.cost import costs_at
from hlo_lsp.cli.dumps import dumps_at, dumps_with_place
from hlo_lsp.cli.errors import CommandError
from hlo_lsp.cli.printing import print_errors
from hlo_lsp.cli.profile import joined_profile, profile_at
from hlo_lsp.memory.missing_facts import missing_facts
from hlo_lsp.memory.occupancy_and_peaks import memory_space_occupancies
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.workspace import ROLES_WITHOUT_SIZES
from hlo_lsp.reports.instruction_samples import (
    TIME_TYPES,
    cost_samples,
    cost_trace,
    cost_types,
    time_samples,
    time_trace,
)
from hlo_lsp.reports.kernels import kernel_table
from hlo_lsp.reports.perfetto import perfetto_trace
from hlo_lsp.reports.pprof import pprof_of_samples, pprof_profile
from hlo_lsp.reports.profiles import BufferStack, StackSample, buffer_stacks, folded_stacks


def run(options: argparse.Namespace) -> int:
    """Run the command, and return its exit status."""
    errors: list[str] = []
    if options.kernels and options.metric != "memory":
        raise CommandError("--kernels has no metric")
    output = None if options.output in {None, "-"} else Path(options.output)
    is_text = options.folded or options.kernels
    if not is_text and output is None and sys.stdout.isatty():
        errors.append("the format is binary: specify a file with -o FILE, or use a pipe")
    else:
        data = _data(options, errors)
        if data:
            _write(data, output, errors)
    return print_errors(errors)


def _data(options: argparse.Namespace, errors: list[str]) -> bytes:
    """Return the content of the file; empty without buffers or instructions."""
    if options.metric == "cost":
        return _cost_data(options, errors)
    if options.metric == "time":
        return _time_data(options, errors)
    dumps = dumps_at(options.paths, errors, unread=ROLES_WITHOUT_SIZES)
    if options.kernels:
        return kernel_table(dumps).encode()
    known = [dump for dump in dumps if _has_live_ranges(dump, errors)]
    if options.perfetto:
        return perfetto_trace(known)
    stacks = list(_stacks(options, known, errors))
    if options.pprof and stacks:
        return pprof_profile(stacks)
    return _folded(one.sample for one in stacks)


def _cost_data(options: argparse.Namespace, errors: list[str]) -> bytes:
    tables = costs_at(options.paths, options.chip, errors)
    if options.perfetto:
        for cost in (table.cost for table in tables if table.chip is None):
            why = "unknown chip, so there are no times; use --chip"
            if not cost.is_optimized:
                why = "not optimized, so there are no times"
            errors.append(f"{cost.dump.files[0].label}: {why}")
        tables = [table for table in tables if table.chip is not None]
    if not tables:
        return b""
    if options.perfetto:
        return cost_trace(tables)
    samples = chain.from_iterable(map(cost_samples, tables))
    return pprof_of_samples(samples, cost_types(tables)) if options.pprof else _folded(samples)


def _time_data(options: argparse.Namespace, errors: list[str]) -> bytes:
    path, *dumps = options.paths
    profile = profile_at(path, errors)
    joined = joined_profile(profile, path, dumps, errors)
    if not joined.programs:
        return b""
    if options.perfetto:
        return time_trace(profile, joined)
    samples = time_samples(joined)
    return pprof_of_samples(samples, TIME_TYPES) if options.pprof else _folded(samples)


def _folded(samples: Iterable[StackSample]) -> bytes:
    return "".join(f"{line}\n" for line in folded_stacks(samples)).encode()


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


def _stacks(
    options: argparse.Namespace, dumps: Sequence[Compile], errors: list[str]
) -> Iterator[BufferStack]:
    for dump, space in dumps_with_place(options, dumps, errors):
        yield from buffer_stacks(dump, space, options.at)
