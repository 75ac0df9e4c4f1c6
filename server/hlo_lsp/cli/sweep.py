"""``hlo-lsp run --each``: run a program with several values of variables, and compare them."""

import argparse
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

from hlo_lsp.cli.dumps import dumps_at
from hlo_lsp.cli.errors import CommandError
from hlo_lsp.cli.oom import NoMessageError, report_of_log
from hlo_lsp.cli.printing import make_folder, print_answer
from hlo_lsp.cli.program_run import (
    INTERRUPTED_STATUS,
    dump_flags,
    file_stamps,
    run_program,
    written_dumps,
)
from hlo_lsp.display.table import Content
from hlo_lsp.model.workspace import ROLES_WITHOUT_SIZES
from hlo_lsp.reports.program_table import ProgramRow, program_json, program_row, program_table
from hlo_lsp.text.amounts import format_short_bytes, parse_size
from hlo_lsp.text.disk import decode
from hlo_lsp.text.inert import printable

_RANGE = re.compile(r"(\d{1,9})\.\.(\d{1,9})", re.ASCII)
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_MAX_VALUES = 1_000_000
_MAX_NAME_LENGTH = 100
_NOT_IN_NAMES = re.compile(r"[^\w.,=+-]")
_FAILED_STATUS = 1
_OUT_OF_MEMORY = "out of memory"


class _Sweep:
    """A program, the values of its variables, and the rows of its runs."""

    def __init__(
        self, command: Sequence[str], folder: Path, variables: Mapping[str, Sequence[str]]
    ) -> None:
        self.rows: list[ProgramRow] = []
        self.variables = variables
        self._command, self._folder = command, folder
        self._names: set[str] = set()

    def run(self, values: Mapping[str, str]) -> ProgramRow:
        """Run the program with values of all variables, and add its row.

        Raises:
            _StoppedError: The user has interrupted the program.
        """
        label = " ".join(f"{name}={values[name]}" for name in self.variables)
        print(printable(f"hlo-lsp: {label}"), file=sys.stderr)
        folder = self._new_folder(label)
        before = file_stamps(folder)
        flags = dump_flags(values.get("XLA_FLAGS", os.environ.get("XLA_FLAGS", "")), folder)
        status, log = run_program(
            [_replaced(word, values) for word in self._command],
            {**os.environ, **values, "XLA_FLAGS": flags},
            stdout=sys.stderr,
        )
        if status == INTERRUPTED_STATUS:
            raise _StoppedError(status)
        dumps = dumps_at(written_dumps(folder, before), [], unread=ROLES_WITHOUT_SIZES)
        row = _with_status(program_row(label, dumps), status, log, folder)
        self.rows.append(row)
        return row

    def _new_folder(self, label: str) -> Path:
        name = _NOT_IN_NAMES.sub("_", label.replace(" ", ","))[:_MAX_NAME_LENGTH]
        if name.casefold() in self._names:
            name = f"{name}_{len(self._names)}"
        self._names.add(name.casefold())
        return make_folder(self._folder / name)


class _StoppedError(Exception):
    """The runs end here: the user has interrupted one, or one has failed during a search."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


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
    if len(variables) < len(options.each):
        raise CommandError("--each: a variable has two lists of values")
    sweep = _Sweep(command, folder, variables)
    fit = None if options.fit is None else _fit(options.fit)
    searched = None if fit is None else _searched(variables)
    if searched is None and any(_RANGE.fullmatch(one.partition("=")[2]) for one in options.each):
        raise CommandError("a range needs --fit")
    others = [name for name in variables if name != searched]
    notes: list[str] = []
    status = 0
    try:
        for values in product(*(variables[name] for name in others)):
            chosen = dict(zip(others, values, strict=True))
            if searched is None or fit is None:
                row = sweep.run(chosen)
                status = _FAILED_STATUS if _has_failed(row) else status
            else:
                found = _search(sweep, searched, chosen, fit)
                notes.append(_note(searched, chosen, found, fit))
    except _StoppedError as stop:
        status = stop.status
    rows = sweep.rows if fit is None else [replace(row, capacity_bytes=fit) for row in sweep.rows]
    print_answer(
        options.format,
        [_content(rows, notes)],
        lambda: {"programs": [program_json(row) for row in rows]},
    )
    return status


def _variable(text: str) -> tuple[str, Sequence[str]]:
    name, is_set, values = text.partition("=")
    if not is_set or _NAME.fullmatch(name) is None or "" in values.split(","):
        raise CommandError(f"--each {text}: write NAME=VALUE,VALUE or NAME=FIRST..LAST")
    bounds = _RANGE.fullmatch(values)
    if bounds is None:
        return name, values.split(",")
    numbers = range(int(bounds[1]), int(bounds[2]) + 1)
    if not 0 < len(numbers) <= _MAX_VALUES:
        raise CommandError(f"--each {text}: write a range of 1 to {_MAX_VALUES:,} numbers")
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


def _search(sweep: _Sweep, name: str, chosen: Mapping[str, str], fit: int) -> ProgramRow | None:
    """Return the row of the largest value that fits, by bisection.

    Raises:
        _StoppedError: A run failed for another reason than memory, which says nothing.
    """
    values = sorted(set(sweep.variables[name]), key=int)
    first, end, best = 0, len(values), None
    while first < end:
        middle = (first + end) // 2
        row = sweep.run({name: values[middle], **chosen})
        if _has_failed(row):
            raise _StoppedError(_FAILED_STATUS)
        if not row.problem and row.needed_bytes is not None and row.needed_bytes <= fit:
            first, best = middle + 1, row
        else:
            end = middle
    return best


def _has_failed(row: ProgramRow) -> bool:
    return row.problem not in {"", _OUT_OF_MEMORY}


def _with_status(row: ProgramRow, status: int, log: bytes, folder: Path) -> ProgramRow:
    """Return a row with what the exit status and the standard error of the program say."""
    if not status:
        return row if row.name else replace(row, problem="XLA wrote no dumps")
    try:
        found = report_of_log(decode(log).splitlines(), None, [folder], with_negligible=False)
    except NoMessageError:
        return replace(row, problem=f"failed with status {status}")
    needed = found.report.need.needed or row.needed_bytes
    return replace(row, needed_bytes=needed, problem=_OUT_OF_MEMORY)


def _replaced(word: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        word = word.replace(f"{{{name}}}", value)
    return word


def _note(name: str, chosen: Mapping[str, str], found: ProgramRow | None, fit: int) -> str:
    size = format_short_bytes(fit)
    if found is None:
        where = "".join(f" with {other}={value}" for other, value in chosen.items())
        return f"no value of {name} fits {size}{where}"
    return f"largest that fits {size}: {found.label}"


def _content(rows: Sequence[ProgramRow], notes: Sequence[str]) -> Content:
    yield from program_table(rows)
    yield from notes
