"""Tests for findings after edits, which equal those in newly opened files.

A query that does not record one of its inputs fails these tests.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edits import Copy, Delete, Edit, Erase, put_back
from faults.judge import failures_of_rules
from hlo_lsp.checks.catalogue import CATALOGUE
from hlo_lsp.checks.framework.finding import Finding
from hlo_lsp.checks.run import check
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import Place
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.syntax.scanners import memory_scanner, module_scanner
from hlo_lsp.text import disk
from hlo_lsp.text.document import Document, LineChange

pytestmark = pytest.mark.corpus

_SPLIT = "gpu_h100/module_1331.jit_scan_fn.sm_9.0a_gpu_after_optimizations"
_ONE_FILE = "tpu_v5e_jax_0.6.2/module_0147.jit_don.cl_829516930.after_optimizations"
_COMPACT = "compact/cpu/module_0022.jit_f.cpu_after_optimizations"
_SIBLINGS = re.compile(r"(-buffer-assignment(-values)?|-live-range|-memory-usage-report|)\.txt")
_NUMBER = re.compile(r"\d+")
_SIZE_OR_OFFSET = re.compile(r"(?<=\(size=)\d+|(?<=,offset=)\d+")
_WORD = re.compile(r"%[\w.\-]+(?:#\d+)*|\w+\[[\d,]*\]|[\w\-]+|[{}]")
_NAME = re.compile(r"[a-zA-Z][\w-]*(\.\d+)+")


@dataclass(frozen=True)
class ReplaceMatch:
    """An edit that replaces one match of a pattern."""

    pattern: "re.Pattern[str]"
    index: int
    text: str

    def apply(self, document: Document) -> LineChange:
        places = [
            (number, match.span())
            for number, line in enumerate(document.lines)
            for match in self.pattern.finditer(line)
        ] or [(0, (0, 0))]
        line, (start, end) = places[self.index % len(places)]
        return document.edit((line, start), (line, end), self.text)


@dataclass(frozen=True)
class ReplaceWord:
    """An edit that replaces a word with another word of the same text."""

    index: int
    new_index: int

    def apply(self, document: Document) -> LineChange:
        words = [
            (line, match)
            for line, text in enumerate(document.lines)
            for match in _WORD.finditer(text)
        ]
        line, match = words[self.index % len(words)]
        return document.edit(
            (line, match.start()), (line, match.end()), _word(words, self.new_index)
        )


def _word(words: "list[tuple[int, re.Match[str]]]", number: int) -> str:
    return words[number % len(words)][1][0]


@dataclass(frozen=True)
class Undo:
    """An edit that restores an earlier text and replaces only the lines that differ."""

    count: int


_LINES = st.integers(0, 160)
_PLACES = st.integers(0, 600)
_NUMBERS = st.sampled_from(["0", "1", "7", "512", "4096"])
_NAMES = st.sampled_from(["copy.1", "nobody.7", "fusion.1"])
_EDITS: st.SearchStrategy[Edit | Undo] = st.one_of(
    st.builds(ReplaceMatch, st.just(_SIZE_OR_OFFSET), _PLACES, _NUMBERS),
    st.builds(ReplaceMatch, st.just(_NUMBER), _PLACES, _NUMBERS),
    st.builds(ReplaceMatch, st.just(_NAME), _PLACES, _NAMES),
    st.builds(Delete, _LINES, st.integers(1, 3)),
    st.builds(Copy, _LINES, st.integers(1, 3), _LINES),
    st.builds(Erase, _LINES, st.integers(0, 60), st.integers(0, 3)),
    st.builds(Undo, st.integers(1, 3)),
    st.builds(Undo, st.integers(1, 3)),
)
# Number of the edited file, edit, and whether all files are checked after the edit.
_SCRIPT = st.lists(st.tuples(st.integers(0, 4), _EDITS, st.booleans()), min_size=2, max_size=10)


class _OpenFiles:
    """Open files in a folder that does not exist."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._library = DumpWorkspace()
        self.files = [self._open(Path("/away", name), text) for name, text in texts.items()]
        self._before: list[list[list[str]]] = [[] for _ in self.files]

    def _open(self, path: Path, text: str) -> DumpFile:
        return self._library.open(path.as_uri(), path, Document(text))

    def apply(self, number: int, edit: Edit | Undo) -> None:
        file, before = self.files[number], self._before[number]
        if not isinstance(edit, Undo):
            before.append([*file.lines])
            file.changed(edit.apply(file.document))
        elif before:
            lines = before[-edit.count :][0]
            del before[-edit.count :]
            file.changed(put_back(file.document, lines))

    def texts(self) -> dict[str, str]:
        return {file.path.name: file.document.text for file in self.files if file.path}

    def findings(self, number: int) -> list[object]:
        file = self.files[number]
        dump = self._library.compile_of(file)
        return [_comparable_finding(found) for found in check(dump, file, CATALOGUE)]


def _comparable_finding(finding: Finding) -> object:
    fixes = [
        (
            fix.title,
            fix.is_sure,
            [(edit.file.label, edit.start, edit.end, edit.text) for edit in fix.edits],
        )
        for fix in finding.fixes
    ]
    others = [(_place(other.place), other.message) for other in finding.related]
    return finding.code, _place(finding.place), finding.message, others, fixes


def _place(place: Place) -> object:
    return place.file.label, place.line, place.start, place.end


def _texts(stem: Path) -> dict[str, str]:
    return {
        path.name: disk.read_document(path).text
        for path in sorted(stem.parent.glob(f"{stem.name}*"))
        if _SIBLINGS.fullmatch(path.name[len(stem.name) :])
    }


def _open_files(stem: Path) -> _OpenFiles:
    for scanner in (memory_scanner, module_scanner):
        scanner.cache_clear()
    return _OpenFiles(_texts(stem))


@pytest.fixture(params=[_SPLIT, _ONE_FILE, _COMPACT], scope="session")
def stem(request: pytest.FixtureRequest, corpus_small: Path, corpus_compact_gte: Path) -> Path:
    """Return the beginning of the paths of the files of a compile."""
    name: str = request.param
    return (corpus_compact_gte if name == _COMPACT else corpus_small) / name


@settings(max_examples=4, deadline=None, derandomize=True, report_multiple_bugs=False)
@given(script=_SCRIPT)
def test_findings_after_edits_equal_fresh_findings(
    stem: Path, script: list[tuple[int, Edit | Undo, bool]]
) -> None:
    open_files = _open_files(stem)
    count = len(open_files.files)
    assert count >= 3
    with failures_of_rules() as failures:
        for number, edit, all_files in script:
            open_files.apply(number % count, edit)
            fresh = _OpenFiles(open_files.texts())
            for each in range(count) if all_files else [number % count]:
                assert open_files.findings(each) == fresh.findings(each)
    assert failures == []


_MODULE_EDITS = st.one_of(
    st.builds(ReplaceWord, st.integers(0, 5000), st.integers(0, 5000)),
    st.builds(ReplaceMatch, st.just(_NAME), st.integers(0, 5000), _NAMES),
    st.builds(Delete, st.integers(0, 400), st.integers(1, 3)),
    st.builds(Copy, st.integers(0, 400), st.integers(1, 3), st.integers(0, 400)),
    st.builds(Undo, st.integers(1, 3)),
)


@settings(max_examples=4, deadline=None, derandomize=True, report_multiple_bugs=False)
@given(script=st.lists(st.tuples(_MODULE_EDITS, st.booleans()), min_size=2, max_size=12))
def test_findings_after_module_edits_equal_fresh_findings(
    stem: Path, script: list[tuple[Edit | Undo, bool]]
) -> None:
    open_files = _open_files(stem)
    count = len(open_files.files)
    [module] = [
        n for n, name in enumerate(open_files.texts()) if name.endswith("optimizations.txt")
    ]
    for each in range(count):
        open_files.findings(each)
    for edit, is_checked in [*script, (Undo(1), True)]:
        open_files.apply(module, edit)
        if is_checked:
            fresh = _OpenFiles(open_files.texts())
            for each in range(count):
                assert open_files.findings(each) == fresh.findings(each)


@dataclass(frozen=True)
class Replace:
    """An edit that replaces the only line that contains a text."""

    old: str
    new: str

    def apply(self, document: Document) -> LineChange:
        [line] = [number for number, text in enumerate(document.lines) if self.old in text]
        start = document.lines[line].index(self.old)
        return document.edit((line, start), (line, start + len(self.old)), self.new)


_MOVE = Replace(
    "<49 arg_tuple.3{0} (phi) @0> (size=4,offset=4352)",
    "<49 arg_tuple.3{0} (phi) @0> (size=4,offset=4100)",
)


@pytest.mark.parametrize(
    ("file", "first"),
    [
        pytest.param(
            "assignment", Replace("<54 arg_tuple.1", "<54 arg_tuple.9"), id="a name, in that file"
        ),
        pytest.param("live", Replace("copy.13{}:1-8", "copy.13{}:2-8"), id="a live range"),
        pytest.param(
            ".txt",
            Replace("%arg_tuple.3 = (s32[], f32[8,128]", "%arg_tuple.3 = (s32[], f999[8,128]"),
            id="a type that nobody knows, in the module text",
        ),
    ],
)
def test_finding_stays_when_its_value_moves(corpus_small: Path, file: str, first: Edit) -> None:
    """Check the rules that do not depend on sizes and offsets, whose results stay cached."""
    open_files = _open_files(corpus_small / _SPLIT)
    ends = {"assignment": "-assignment.txt", "live": "-live-range.txt", ".txt": "optimizations.txt"}
    [number] = [n for n, name in enumerate(open_files.texts()) if name.endswith(ends[file])]
    [assignment] = [
        n for n, name in enumerate(open_files.texts()) if name.endswith("assignment.txt")
    ]
    for at, edit in ((number, first), (assignment, _MOVE)):
        open_files.apply(at, edit)
        fresh = _OpenFiles(open_files.texts())
        found = [open_files.findings(each) for each in range(len(open_files.files))]
        assert any(found)
        assert found == [fresh.findings(each) for each in range(len(open_files.files))]
