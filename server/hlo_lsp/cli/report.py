"""``hlo-lsp report``: write memory maps, costs, or measured times as an HTML file or as JSON."""

import argparse
import sys
from pathlib import Path

from hlo_lsp.cli.cost import costs_at
from hlo_lsp.cli.dumps import dumps_at
from hlo_lsp.cli.errors import CommandError
from hlo_lsp.cli.printing import print_errors
from hlo_lsp.cli.profile import joined_profile, profile_at
from hlo_lsp.cost.chips import chip_of
from hlo_lsp.display.phrases import count_noun
from hlo_lsp.model.workspace import ROLES_WITHOUT_SIZES
from hlo_lsp.program.instruction_owners import InstructionKey
from hlo_lsp.reports.cost import cost_json
from hlo_lsp.reports.memory_map import Json, memory_map_document
from hlo_lsp.reports.memory_map_page import memory_map_page
from hlo_lsp.reports.profile_report import profile_json
from hlo_lsp.reports.stats_page import cost_page, profile_page
from hlo_lsp.reports.step_times import timed_memory_map
from hlo_lsp.stats.measured_programs import ProfileTimes, TimeSources, read_profile_times
from hlo_lsp.text.disk import UnreadableError
from hlo_lsp.text.inert import json_text, printable
from hlo_lsp.text.remote import shown

_MAX_GROUPS = 1_000  # of the JSON form of costs


def run(options: argparse.Namespace) -> int:
    """Run the command, and return its exit status."""
    errors: list[str] = []
    if options.profile is not None and options.metric != "memory":
        raise CommandError("--profile is for memory maps")
    name, write = _METRICS[options.metric]
    write(options, Path(options.output or name), errors)
    return print_errors(errors)


def _write_memory_maps(options: argparse.Namespace, output: Path, errors: list[str]) -> None:
    profiles = () if options.profile is None else (_profile_times(options.profile, errors),)
    found = [
        timed_memory_map(dump, TimeSources(chip_of(dump, options.chip), profiles))
        for dump in dumps_at(options.paths, errors, unread=ROLES_WITHOUT_SIZES)
    ]
    if profiles and not any(one.get("time", {}).get("isMeasured") for one in found):
        errors.append(f"{shown(options.profile)}: no run of these dumps")
    maps = sorted((one for one in found if one["spaces"]), key=_size, reverse=True)
    if maps:
        errors += write_maps(memory_map_document(maps), output)
    elif not errors:
        names = ", ".join(one["path"] for one in found)
        errors.append(f"{names}: no buffer assignment, so there is nothing to show")


def _profile_times(path: Path, errors: list[str]) -> ProfileTimes:
    try:
        times = read_profile_times(path)
    except UnreadableError as error:
        raise CommandError(str(error)) from None
    errors += times.damages
    return times


def _write_costs(options: argparse.Namespace, output: Path, errors: list[str]) -> None:
    tables = costs_at(options.paths, options.chip, errors)
    if tables and _is_json(output):
        modules = [cost_json(table, InstructionKey.LINE, _MAX_GROUPS) for table in tables]
        errors += _write(json_text({"modules": modules}), output, len(tables), "module")
    elif tables:
        errors += _write(cost_page(tables), output, len(tables), "module")


def _write_times(options: argparse.Namespace, output: Path, errors: list[str]) -> None:
    path, *dumps = options.paths
    joined = joined_profile(profile_at(path, errors), path, dumps, errors)
    if joined.programs and _is_json(output):
        data = profile_json(joined, InstructionKey.LINE, options.chip)
        errors += _write(json_text(data), output, len(joined.programs), "module")
    elif joined.programs:
        errors += _write(profile_page(joined, options.chip), output, len(joined.programs), "module")


_METRICS = {
    "memory": ("memory-map.html", _write_memory_maps),
    "cost": ("cost.html", _write_costs),
    "time": ("time.html", _write_times),
}


def _size(found: Json) -> int:
    """Return the peak of the first memory space or, if it is unknown, its allocated bytes."""
    first = found["spaces"][0]  # off the chip, if possible
    size: int = first.get("peakBytes", first["allocatedBytes"])
    return size


def write_maps(document: Json, output: Path) -> list[str]:
    """Write a document of memory maps as a page, or as JSON if the name of the file ends so.

    Returns:
        The error, if there is one.
    """
    is_json = _is_json(output)
    text = json_text(document, is_compact=True) if is_json else memory_map_page(document)
    return _write(text, output, len(document["modules"]), "memory map")


def _is_json(output: Path) -> bool:
    return output.suffix == ".json"


def _write(text: str, output: Path, count: int, noun: str) -> list[str]:
    try:
        output.write_text(text, "utf-8")
    except OSError as error:
        return [f"cannot write {output}: {error.strerror}"]
    print(printable(f"{output}: {count_noun(count, noun)}"), file=sys.stderr)
    return []
