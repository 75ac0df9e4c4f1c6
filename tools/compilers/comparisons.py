"""Compare what hlo-lsp computes for a dump folder with the numbers of XLA.

Sizes, uses, and totals are those of the memory files and reports that XLA dumped, and of
``memory_analysis()``. Modules are compared as XLA's own parser reads them: that of the release, or
for a release without one, that of this environment.
"""

import json
import os
import re
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from compilers.environments import Environment
from compilers.records import COMPARISONS, Count
from dumps import files_of
from hlo_lsp.checks.values.positions import row_of
from hlo_lsp.checks.values.uses import Users
from hlo_lsp.ide.inspection import value_json
from hlo_lsp.memory.logical_sizes import live_bytes, logical_peak_of
from hlo_lsp.memory.memory_analysis import memory_analysis
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.omitted_instructions import omitted_instructions
from hlo_lsp.program.stages import is_complete_module, module_at_buffer_assignment
from hlo_lsp.syntax.file_kinds import FileKind
from oracles.compiles import CorpusCompile, compiles_of
from oracles.libtpu_syntax import OpenText, remove_libtpu_syntax
from oracles.module_comparison import assert_same_module, with_opcodes
from oracles.peak_lists import recomputed_peak_list
from oracles.xla_parser import XlaModule, XlaParseError, decode_module, parse_with_xla

_HERE = Path(__file__).resolve().parent
_TESTS = _HERE.parents[1] / "tests"
_MAX_DIFFERENCES = 10  # of each kind that a record describes
_REPORT_TOTAL = re.compile(r"^Total bytes used: (\d+)", re.MULTILINE)
_REPORT_SPACE = re.compile(r"^Memory Space: .*\(color=(\d+)\)\n *Total bytes: (\d+)", re.MULTILINE)
_PEAK_KEY = "peak_memory_in_bytes"

# A compared fact: what it is, the number of hlo-lsp (None if unknown), and that of XLA.
Fact = tuple[str, object, object]
Numbers = Mapping[str, int]
Parse = Callable[[str, Path], XlaModule | None]


class Comparison:
    """The numbers of equal and different facts of a folder, by kind, and the first differences."""

    def __init__(self) -> None:
        self.counts = {name: Count() for name in COMPARISONS}
        self._differences: defaultdict[str, list[str]] = defaultdict(list)

    @property
    def differences(self) -> list[str]:
        """Return the first differences of each kind."""
        return [line for lines in self._differences.values() for line in lines[:_MAX_DIFFERENCES]]

    def add(self, kind: str, facts: Iterable[Fact]) -> None:
        """Count facts."""
        for what, ours, theirs in facts:
            if ours is None or theirs is None:
                self.counts[kind].unknown += 1
            elif ours == theirs:
                self.counts[kind].agree += 1
            else:
                self.counts[kind].differ += 1
                message = f"{kind}: {what}: hlo-lsp {ours}, XLA {theirs}"
                self._differences[kind].append(" ".join(message.split())[:400])


def compare_folder(folder: Path, memory: Mapping[str, Numbers], parse: Parse) -> Comparison:
    """Compare all compiles and modules of a folder.

    Args:
        folder: A folder of dumps.
        memory: The numbers of ``memory_analysis()`` by buffer assignment file.
        parse: XLA's parser; see ``module_parser``.
    """
    comparison = Comparison()
    for compile_ in compiles_of(folder):
        numbers = memory.get(str(_assignment(compile_).relative_to(folder)), {})
        comparison.add("sizes", size_facts(compile_))
        comparison.add("uses", use_facts(compile_))
        comparison.add("totals", total_facts(compile_))
        comparison.add("totals", analysis_facts(compile_, numbers))
        comparison.add("peaks", peak_facts(compile_, numbers))
    comparison.add("parser", module_facts(folder, parse))
    return comparison


def _assignment(compile_: CorpusCompile) -> Path:
    return next(
        file.path
        for file in compile_.dump.files
        if file.kind is FileKind.ASSIGNMENT and file.path is not None
    )


def size_facts(compile_: CorpusCompile) -> Iterator[Fact]:
    """Yield the size of each assigned value, and of each row at the peak, in bytes."""
    name = _assignment(compile_).name
    for assigned in compile_.printed.assigned.values():
        value = compile_.dump.value(assigned.id)
        facts = {} if value is None else value_json(compile_.dump, value)
        yield f"{name}: {assigned.shape}", facts.get("padded_bytes"), assigned.size
    for row in compile_.printed.peak:
        if row.index is not None:
            (size,) = live_bytes(compile_.dump, [row.name + row.index])
            yield f"{name}: {row.key} at the peak", size, row.bytes


def use_facts(compile_: CorpusCompile) -> Iterator[Fact]:
    """Yield the uses of each value, from the module text and as XLA printed them."""
    module = module_at_buffer_assignment(compile_.dump)
    if module is None or not is_complete_module(module):
        return
    users = Users(module.module, omitted_instructions(compile_.dump))
    for entry in compile_.printed.entries.values():
        found = users.rows([row_of(row.name, row.index) for row in entry.positions])
        printed = [row_of(f"{row.name}, operand {row.operand}", row.index) for row in entry.uses]
        yield f"{module.label}: {entry.key}", sorted(found), sorted(printed)


def total_facts(compile_: CorpusCompile) -> Iterator[Fact]:
    """Yield the sums of allocations, and the totals of the buffer assignment and the report."""
    name = _assignment(compile_).name
    allocations = [found.record for found in compile_.dump.allocations()]
    total = sum(one.size for one in allocations)
    yield f"{name}: total", total, compile_.printed.total
    for file in compile_.dump.files:
        if file.kind is FileKind.REPORT:
            text = file.document.text
            for reported in _REPORT_TOTAL.findall(text):
                yield f"{file.label}: total", total, int(reported)
            for color, reported in _REPORT_SPACE.findall(text):
                in_space = sum(one.size for one in allocations if one.color == int(color))
                yield f"{file.label}: memory space {color}", in_space, int(reported)


def analysis_facts(compile_: CorpusCompile, numbers: Numbers) -> Iterator[Fact]:
    """Yield the numbers of ``memory_analysis()`` that are not peaks."""
    for one in memory_analysis(compile_.dump):
        if one.key in numbers and one.key != _PEAK_KEY:
            what = f"{_assignment(compile_).name}: {one.key}"
            yield what, one.bytes, numbers[one.key]


def peak_facts(compile_: CorpusCompile, numbers: Numbers) -> Iterator[Fact]:
    """Yield the declared peak, its list of values, and the peak of ``memory_analysis()``."""
    name = _assignment(compile_).name
    rows = compile_.printed.peak
    ours = recomputed_peak_list(compile_)
    if rows and rows[0].cumulative is None:  # up to jax 0.6.0: not sorted
        yield f"{name}: list", sorted(key for key, *_ in ours), sorted(row.key for row in rows)
    elif rows:
        yield (
            f"{name}: list",
            [(key, total) for key, _, total in ours],
            [(row.key, row.cumulative) for row in rows],
        )
        peak = logical_peak_of(compile_.dump)
        declared = None if peak is None else peak.declared_bytes
        yield f"{name}: declared peak", declared, rows[-1].cumulative
    for one in memory_analysis(compile_.dump):
        if one.key == _PEAK_KEY and one.key in numbers:
            yield f"{name}: {one.key}", one.bytes, numbers[one.key]


def module_facts(folder: Path, parse: Parse) -> Iterator[Fact]:
    """Yield for each module text whether hlo-lsp and XLA read the same module."""
    for path in files_of(folder, FileKind.MODULE):
        text = path.read_bytes().decode()
        open_text = remove_libtpu_syntax(text)
        theirs = parse(open_text.text, path)
        difference = "" if theirs is None else _module_difference(text, open_text, theirs)
        yield path.name, None if theirs is None else difference, ""


def _module_difference(text: str, open_text: OpenText, theirs: XlaModule) -> str:
    theirs = with_opcodes(theirs, open_text.replaced_opcodes)
    try:
        assert_same_module(DumpFile.of_text(text).module, theirs, "module")
    except AssertionError as error:
        return str(error)
    return ""


def parse_here(text: str, path: Path) -> XlaModule | None:
    """Parse a module with the jaxlib of this environment; None if it cannot read the text."""
    try:
        return parse_with_xla(text)
    except XlaParseError:
        return None


def parse_in_release(environment: Environment, folder: Path, output: Path) -> None:
    """Parse all modules of a folder with the jaxlib of a release, and store them in a folder.

    A text that ends the process, as a failed check of XLA does, counts as unreadable.
    """
    remaining = sorted(files_of(folder, FileKind.MODULE))
    output.mkdir(parents=True, exist_ok=True)
    results: dict[str, str] = {}
    while remaining:
        with tempfile.TemporaryDirectory(dir=output) as part:
            done = subprocess.run(
                [environment.python, _HERE / "parse_modules.py", part],
                env={**os.environ, "PYTHONPATH": str(_TESTS)},
                input="".join(f"{path}\n" for path in remaining),
                capture_output=True,
                text=True,
                check=False,
            )
            lines = done.stdout.splitlines()
            for line in lines:
                found = json.loads(line)
                if not found["error"]:
                    name = f"{len(results)}.pb"
                    (Path(part) / found["proto"]).rename(output / name)
                    results[str(Path(found["path"]).relative_to(folder))] = name
        remaining = remaining[len(lines) + 1 :]
    (output / "index.json").write_text(json.dumps(results), "utf-8")


def print_in_release(environment: Environment, output: Path) -> None:
    """Write a module with each opcode and attribute into a folder, as a release prints it."""
    output.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        [environment.python, _HERE / "print_modules.py", output],
        env={**os.environ, "PYTHONPATH": str(_TESTS)},
        capture_output=True,
        check=False,
    )


def module_parser(folder: Path, output: Path) -> Parse:
    """Return a function that returns a module as the parser of the release read it.

    For a release without a parser, it is that of this environment.
    """
    index = output / "index.json"
    if not index.is_file():
        return parse_here
    results: Mapping[str, str] = json.loads(index.read_text("utf-8"))

    def stored_module(text: str, path: Path) -> XlaModule | None:
        name = results.get(str(path.relative_to(folder)))
        return None if name is None else decode_module((output / name).read_bytes())

    return stored_module
