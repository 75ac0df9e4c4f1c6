"""``hlo-lsp report``: write memory maps, costs, or measured times as a page or for other tools."""

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

from hlo_lsp.cli.cost import costs_at
from hlo_lsp.cli.dumps import dumps_at
from hlo_lsp.cli.errors import CommandError
from hlo_lsp.cli.export import profile_data
from hlo_lsp.cli.printing import print_errors, write_file
from hlo_lsp.cli.profile import joined_profile, profile_at
from hlo_lsp.cost.chips import chip_of
from hlo_lsp.display.phrases import count_noun
from hlo_lsp.model.workspace import ROLES_WITHOUT_SIZES
from hlo_lsp.program.instruction_owners import InstructionKey
from hlo_lsp.reports.cost import cost_json
from hlo_lsp.reports.memory_map import memory_map_document
from hlo_lsp.reports.memory_map_page import memory_map_page
from hlo_lsp.reports.profile_report import profile_json
from hlo_lsp.reports.stats_page import cost_page, profile_page
from hlo_lsp.reports.step_times import timed_memory_map
from hlo_lsp.stats.measured_programs import ProfileTimes, TimeSources, read_profile_times
from hlo_lsp.text.amounts import format_short_bytes
from hlo_lsp.text.inert import Json, json_text, printable
from hlo_lsp.text.remote import shown

_MAX_GROUPS = 1_000  # of the JSON form of costs
_STEMS = {"memory": "memory-map", "cost": "cost", "time": "time"}
_ENDINGS = {
    ".html": "html",
    ".json": "json",
    ".pb.gz": "pprof",
    ".folded": "folded",
    ".pftrace": "perfetto",
    ".csv": "csv",
}
_BINARY_FORMS = {"pprof", "perfetto"}


def run(options: argparse.Namespace) -> int:
    """Run the command, and return its exit status."""
    errors: list[str] = []
    if options.profile is not None and options.metric != "memory":
        raise CommandError("--profile is for memory maps")
    form = options.form or _form_of(options.output)
    output = options.output or _STEMS[options.metric] + next(
        ending for ending, one in _ENDINGS.items() if one == form
    )
    if form in _BINARY_FORMS and output == "-" and sys.stdout.isatty():
        raise CommandError("the form is binary: specify a file with -o FILE, or use a pipe")
    if form in {"html", "json"}:
        if options.at is not None or options.space is not None:
            raise CommandError("--at and --space are for pprof and folded stacks")
        written = _PAGES[options.metric](options, form, errors)
        if written is not None:
            write_page(written, output)
    else:
        data = profile_data(options, form, errors)
        if data:
            write_file(output, data)
            _note(output, format_short_bytes(len(data)))
    return print_errors(errors)


def _form_of(output: str | None) -> str:
    """Return the form of a file by its ending.

    Raises:
        CommandError: The ending is unknown.
    """
    if output in {None, "-"}:
        return "html"
    for ending, form in _ENDINGS.items():
        if output.lower().endswith(ending):
            return form
    endings = ", ".join(_ENDINGS)
    raise CommandError(f"{output}: unknown ending; use one of {endings}, or --as FORM")


@dataclass(frozen=True, slots=True)
class ReportPage:
    """The text of a page or of its data, and what it shows, such as ``2 memory maps``."""

    text: str
    content: str


def _memory_maps(options: argparse.Namespace, form: str, errors: list[str]) -> ReportPage | None:
    profiles = () if options.profile is None else (_profile_times(options.profile, errors),)
    found = [
        timed_memory_map(dump, TimeSources(chip_of(dump, options.chip), profiles))
        for dump in dumps_at(options.paths, errors, unread=ROLES_WITHOUT_SIZES)
    ]
    if profiles and not any(one.get("time", {}).get("isMeasured") for one in found):
        errors.append(f"{shown(options.profile)}: no run of these dumps")
    maps = sorted((one for one in found if one["spaces"]), key=_size, reverse=True)
    if maps:
        return maps_page(memory_map_document(maps), form)
    if not errors:
        names = ", ".join(one["path"] for one in found)
        errors.append(f"{names}: no buffer assignment, so there is nothing to show")
    return None


def _profile_times(path: Path, errors: list[str]) -> ProfileTimes:
    times = read_profile_times(path)
    errors += times.damages
    return times


def _costs(options: argparse.Namespace, form: str, errors: list[str]) -> ReportPage | None:
    tables = costs_at(options.paths, options.chip, errors, with_axes=form == "json")
    if not tables:
        return None
    modules = count_noun(len(tables), "module")
    if form == "html":
        return ReportPage(cost_page(tables), modules)
    found = [cost_json(table, InstructionKey.LINE, _MAX_GROUPS) for table in tables]
    return ReportPage(json_text({"modules": found}), modules)


def _times(options: argparse.Namespace, form: str, errors: list[str]) -> ReportPage | None:
    path, *dumps = options.paths
    joined = joined_profile(profile_at(path, errors), path, dumps, errors)
    if not joined.programs:
        return None
    modules = count_noun(len(joined.programs), "module")
    if form == "html":
        return ReportPage(profile_page(joined, options.chip), modules)
    return ReportPage(json_text(profile_json(joined, InstructionKey.LINE, options.chip)), modules)


_PAGES = {"memory": _memory_maps, "cost": _costs, "time": _times}


def _size(found: Json) -> int:
    """Return the peak of the first memory space or, if it is unknown, its allocated bytes."""
    first = found["spaces"][0]  # off the chip, if possible
    size: int = first.get("peakBytes", first["allocatedBytes"])
    return size


def maps_page(document: Json, form: str) -> ReportPage:
    """Return a document of memory maps as ``html``, or as ``json``."""
    text = memory_map_page(document) if form == "html" else json_text(document, is_compact=True)
    return ReportPage(text, count_noun(len(document["modules"]), "memory map"))


def write_page(page: ReportPage, output: str) -> None:
    """Write a page to a file, or to standard output for ``-``.

    Raises:
        CommandError: The file cannot be written.
    """
    write_file(output, page.text.encode())
    _note(output, page.content)


def _note(output: str, content: str) -> None:
    if output != "-":
        print(printable(f"{output}: {content}"), file=sys.stderr)
