"""``hlo-lsp run --each``: run a program with several values of variables, and compare them."""

import argparse
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

from hlo_lsp.cli.dumps import dumps_at
from hlo_lsp.cli.errors import CommandError
from hlo_lsp.cli.oom import NoMessageError, report_of_log
from hlo_lsp.cli.printing import print_answer
from hlo_lsp.cli.program_run import dump_flags, file_stamps, run_program, written_dumps
from hlo_lsp.display.table import Content
from hlo_lsp.model.workspace import ROLES_WITHOUT_SIZES
from hlo_lsp.reports.program_table import ProgramRow, program_json, program_row, program_table
from hlo_lsp.text.amounts import format_short_bytes, parse_size
from hlo_lsp.text.disk import decode
from hlo_lsp.text.inert import printable

_RANGE = re.compile(r"(\d{1,9})\.\.(\d{1,9})", re.ASCII)
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_MAX_VALUES = 1_000_000
_NOT_IN_NAMES = re.compile(r"[^\w.,=+-]")
_FAILED_STATUS = 1


@dataclass(frozen=True, slots=True)
class _Sweep:
    """A program, the values of its variables, and the bytes that it may need, if they matter."""

    command: Sequence[str]
    folder: Path
    variables: Mapping[str, Sequence[str]]
    fit: int | None


def run_sweep(options: argparse.Namespace, command: Sequence[str], folder: Path) -> int:
    """Run a program with each combination of values, print a table, and return the exit status.

    Args:
        options: The options of ``hlo-lsp run``.
        command: The program and its arguments.
        folder: The folder with a folder of dumps for each run.

    Raises:
        CommandError: A variable or the size is wrong, or the program cannot be run.
    """
    variables = dict(map(_variable, options.each))
    sweep = _Sweep(command, folder, variables, None if options.fit is None else _fit(options.fit))
    searched = None if sweep.fit is None else _searched(variables)
    if searched is None and any(_RANGE.fullmatch(one.partition("=")[2]) for one in options.each):
        raise CommandError("a range needs --fit")
    others = [name for name in variables if name != searched]
    rows: list[ProgramRow] = []
    notes: list[str] = []
    for values in product(*(variables[name] for name in others)):
        chosen = dict(zip(others, values, strict=True))
        if searched is None:
            rows.append(_row(sweep, chosen))
        else:
            found = _search(sweep, searched, chosen, rows)
            notes.append(_note(sweep, searched, chosen, found))
    rows = [_marked(row, sweep.fit) for row in rows]
    print_answer(
        options.format,
        [_content(rows, notes)],
        lambda: {"programs": [program_json(row) for row in rows]},
    )
    return _FAILED_STATUS if any("status" in row.problem for row in rows) else 0


def _variable(text: str) -> tuple[str, Sequence[str]]:
    name, is_set, values = text.partition("=")
    if not is_set or _NAME.fullmatch(name) is None or not values:
        raise CommandError(f"--each {text}: write NAME=VALUE,VALUE or NAME=FIRST..LAST")
    bounds = _RANGE.fullmatch(values)
    if bounds is None:
        return name, values.split(",")
    numbers = range(int(bounds[1]), int(bounds[2]) + 1)
    if not 0 < len(numbers) <= _MAX_VALUES:
        raise CommandError(f"--each {text}: a range of 1 to {_MAX_VALUES:,} numbers, please")
    return name, list(map(str, numbers))


def _fit(text: str) -> int:
    size = parse_size(re.sub(r"(?<=\d)(?=[A-Za-z])", " ", text))
    if size is None:
        raise CommandError(f"--fit {text}: write a size, such as 15.75GiB")
    return size


def _searched(variables: Mapping[str, Sequence[str]]) -> str:
    """Return the variable whose largest value is searched: the only one with several numbers."""
    numeric = [
        name
        for name, values in variables.items()
        if len(values) > 1 and all(one.isdecimal() for one in values)
    ]
    if len(numeric) != 1:
        raise CommandError("--fit needs one variable with several numbers")
    return numeric[0]


def _search(
    sweep: _Sweep, name: str, chosen: Mapping[str, str], rows: list[ProgramRow]
) -> ProgramRow | None:
    """Add the rows of a bisection, and return that of the largest value that fits."""
    values = sorted(set(sweep.variables[name]), key=int)
    first, end, best = 0, len(values), None
    while first < end:
        middle = (first + end) // 2
        row = _row(sweep, {name: values[middle], **chosen})
        rows.append(row)
        if _fits(row, sweep.fit):
            first, best = middle + 1, row
        else:
            end = middle
    return best


def _fits(row: ProgramRow, fit: int | None) -> bool:
    needed = row.needed_bytes
    return not row.problem and needed is not None and (fit is None or needed <= fit)


def _row(sweep: _Sweep, values: Mapping[str, str]) -> ProgramRow:
    """Run the program with values of all variables, and return its row."""
    label = " ".join(f"{name}={values[name]}" for name in sweep.variables)
    print(printable(f"hlo-lsp: {label}"), file=sys.stderr)
    folder = sweep.folder / _NOT_IN_NAMES.sub("_", label.replace(" ", ","))
    folder.mkdir(parents=True, exist_ok=True)
    before = file_stamps(folder)
    flags = dump_flags(os.environ.get("XLA_FLAGS", ""), folder)
    status, log = run_program(
        [_replaced(word, values) for word in sweep.command],
        {**os.environ, **values, "XLA_FLAGS": flags},
        stdout=sys.stderr,
    )
    dumps = dumps_at(written_dumps(folder, before), [], unread=ROLES_WITHOUT_SIZES)
    row = program_row(label, dumps)
    if not status:
        return row if row.name else replace(row, problem="XLA wrote no dumps")
    try:
        found = report_of_log(decode(log).splitlines(), None, [folder], with_negligible=False)
    except NoMessageError:
        return replace(row, problem=f"failed with status {status}")
    needed = found.report.need.needed or row.needed_bytes
    return replace(row, needed_bytes=needed, problem="out of memory")


def _replaced(word: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        word = word.replace(f"{{{name}}}", value)
    return word


def _marked(row: ProgramRow, fit: int | None) -> ProgramRow:
    """Return a row with the bytes that a program may need as its memory."""
    return row if fit is None else replace(row, capacity_bytes=fit)


def _note(sweep: _Sweep, name: str, chosen: Mapping[str, str], found: ProgramRow | None) -> str:
    where = "".join(f" with {other}={value}" for other, value in chosen.items())
    size = format_short_bytes(sweep.fit or 0)
    if found is None:
        return f"no value of {name} fits {size}{where}"
    return f"largest that fits {size}: {found.label}"


def _content(rows: Sequence[ProgramRow], notes: Sequence[str]) -> Content:
    yield from program_table(rows)
    yield from notes
