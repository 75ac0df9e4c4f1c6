"""Profiles and traces that ``hlo-lsp report`` writes for other tools."""

import argparse
from collections.abc import Iterable
from itertools import chain

from hlo_lsp.cli.cost import costs_at
from hlo_lsp.cli.dumps import dumps_at, dumps_with_place
from hlo_lsp.cli.errors import CommandError
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
from hlo_lsp.reports.profiles import StackSample, buffer_samples, folded_stacks


def profile_data(options: argparse.Namespace, form: str, errors: list[str]) -> bytes:
    """Return the content of a file for other tools; empty without buffers or instructions.

    Args:
        options: The options of ``hlo-lsp report``.
        form: ``pprof``, ``folded``, ``perfetto``, or ``csv``.
        errors: The list to which messages are added.

    Raises:
        CommandError: The form does not exist for the metric.
    """
    if form == "csv":
        if options.metric != "memory":
            raise CommandError("the table of kernels has no metric")
        return kernel_table(dumps_at(options.paths, errors, unread=ROLES_WITHOUT_SIZES)).encode()
    if options.metric == "cost":
        return _cost_data(options, form, errors)
    if options.metric == "time":
        return _time_data(options, form, errors)
    dumps = dumps_at(options.paths, errors, unread=ROLES_WITHOUT_SIZES)
    known = [dump for dump in dumps if _has_live_ranges(dump, errors)]
    if form == "perfetto":
        return perfetto_trace(known)
    samples = [
        sample
        for dump, space in dumps_with_place(options, known, errors)
        for sample in buffer_samples(dump, space, options.at)
    ]
    return pprof_profile(samples) if form == "pprof" and samples else _folded(samples)


def _cost_data(options: argparse.Namespace, form: str, errors: list[str]) -> bytes:
    tables = costs_at(options.paths, options.chip, errors, with_axes=False)
    if form == "perfetto":
        for cost in (table.cost for table in tables if table.chip is None):
            why = "unknown chip, so there are no times; use --chip"
            if not cost.is_optimized:
                why = "not optimized, so there are no times"
            errors.append(f"{cost.dump.files[0].label}: {why}")
        tables = [table for table in tables if table.chip is not None]
    if not tables:
        return b""
    if form == "perfetto":
        return cost_trace(tables)
    samples = chain.from_iterable(map(cost_samples, tables))
    return pprof_of_samples(samples, cost_types(tables)) if form == "pprof" else _folded(samples)


def _time_data(options: argparse.Namespace, form: str, errors: list[str]) -> bytes:
    path, *dumps = options.paths
    profile = profile_at(path, errors)
    joined = joined_profile(profile, path, dumps, errors)
    if not joined.programs:
        return b""
    if form == "perfetto":
        return time_trace(profile, joined)
    samples = time_samples(joined)
    return pprof_of_samples(samples, TIME_TYPES) if form == "pprof" else _folded(samples)


def _folded(samples: Iterable[StackSample]) -> bytes:
    return "".join(f"{line}\n" for line in folded_stacks(samples)).encode()


def _has_live_ranges(dump: Compile, errors: list[str]) -> bool:
    if memory_space_occupancies(dump):
        return True
    missing = missing_facts(dump)
    errors.append(f"{dump.files[0].label}: {next(iter(missing))}")
    return False
