"""After any edits, the rules report the same as for files that were just opened.

An input that a query does not record would show here.
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

_SPLIT = "gpu_h100/module_1331.jit_scan_fn.sm_9.0a_gpu_after_optimizations"
_ONE_FILE = "tpu_v5e_jax_0.6.2/module_0147.jit_don.cl_829516930.after_optimizations"
_SIBLINGS = re.compile(r"(-buffer-assignment(-values)?|-live-range|-memory-usage-report|)\.txt")
_NUMBER = re.compile(r"\d+")
_PLACE = re.compile(r"(?<=\(size=)\d+|(?<=,offset=)\d+")
_WORD = re.compile(r"%[\w.\-]+|\w+\[[\d,]*\]|[\w\-]+|[{}]")
_NAME = re.compile(r"[a-zA-Z][\w-]*(\.\d+)+")


@dataclass(frozen=True)
class Put:
    """Another text in place of one that an expression finds, anywhere."""

    what: "re.Pattern[str]"
    which: int
    text: str

    def apply(self, document: Document) -> LineChange:
        places = [
            (number, match.span())
            for number, line in enumerate(document.lines)
            for match in self.what.finditer(line)
        ] or [(0, (0, 0))]
        line, (start, end) = places[self.which % len(places)]
        return document.edit((line, start), (line, end), self.text)


@dataclass(frozen=True)
class Swap:
    """A word in place of another one of the same text."""

    which: int
    by: int

    def apply(self, document: Document) -> LineChange:
        words = [
            (line, match)
            for line, text in enumerate(document.lines)
            for match in _WORD.finditer(text)
        ]
        line, match = words[self.which % len(words)]
        return document.edit((line, match.start()), (line, match.end()), _word(words, self.by))


def _word(words: "list[tuple[int, re.Match[str]]]", number: int) -> str:
    return words[number % len(words)][1][0]


@dataclass(frozen=True)
class Undo:
    """A text as it was some edits ago; only the lines that differ are put in."""

    count: int


_LINES = st.integers(0, 160)
_PLACES = st.integers(0, 600)
_NUMBERS = st.sampled_from(["0", "1", "7", "512", "4096"])
_NAMES = st.sampled_from(["copy.1", "nobody.7", "fusion.1"])
_EDITS: st.SearchStrategy[Edit | Undo] = st.one_of(
    st.builds(Put, st.just(_PLACE), _PLACES, _NUMBERS),
    st.builds(Put, st.just(_NUMBER), _PLACES, _NUMBERS),
    st.builds(Put, st.just(_NAME), _PLACES, _NAMES),
    st.builds(Delete, _LINES, st.integers(1, 3)),
    st.builds(Copy, _LINES, st.integers(1, 3), _LINES),
    st.builds(Erase, _LINES, st.integers(0, 60), st.integers(0, 3)),
    st.builds(Undo, st.integers(1, 3)),
    st.builds(Undo, st.integers(1, 3)),
)
# The file that is edited, what is done to it, and whether all files are checked behind it.
_SCRIPT = st.lists(st.tuples(st.integers(0, 4), _EDITS, st.booleans()), min_size=2, max_size=10)


class _Opened:
    """Files that an editor holds in a folder that is not there."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._library = DumpWorkspace()
        self.files = [self._open(Path("/away", name), text) for name, text in texts.items()]
        self._before: list[list[list[str]]] = [[] for _ in self.files]

    def _open(self, path: Path, text: str) -> DumpFile:
        return self._library.open(path.as_uri(), path, Document(text))

    def do(self, number: int, edit: Edit | Undo) -> None:
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
        dump = self._library.set_of(file)
        return [_view(found) for found in check(dump, file, CATALOGUE)]


def _view(finding: Finding) -> object:
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


def _opened(corpus: Path, stem: str) -> _Opened:
    for scanner in (memory_scanner, module_scanner):
        scanner.cache_clear()
    return _Opened(_texts(corpus / stem))


@pytest.mark.parametrize("stem", [_SPLIT, _ONE_FILE])
@settings(max_examples=12, deadline=None, derandomize=True, report_multiple_bugs=False)
@given(script=_SCRIPT)
def test_findings_after_edits_equal_fresh_findings(
    stem: str, corpus_small: Path, script: list[tuple[int, Edit | Undo, bool]]
) -> None:
    opened = _opened(corpus_small, stem)
    count = len(opened.files)
    assert count >= 3
    with failures_of_rules() as failures:
        for number, edit, all_files in script:
            opened.do(number % count, edit)
            fresh = _Opened(opened.texts())
            for each in range(count) if all_files else [number % count]:
                assert opened.findings(each) == fresh.findings(each)
    assert failures == []


_MODULE_EDITS = st.one_of(
    st.builds(Swap, st.integers(0, 5000), st.integers(0, 5000)),
    st.builds(Put, st.just(_NAME), st.integers(0, 5000), _NAMES),
    st.builds(Delete, st.integers(0, 400), st.integers(1, 3)),
    st.builds(Copy, st.integers(0, 400), st.integers(1, 3), st.integers(0, 400)),
    st.builds(Undo, st.integers(1, 3)),
)


@pytest.mark.parametrize("stem", [_SPLIT, _ONE_FILE])
@settings(max_examples=12, deadline=None, derandomize=True, report_multiple_bugs=False)
@given(script=st.lists(st.tuples(_MODULE_EDITS, st.booleans()), min_size=2, max_size=12))
def test_values_after_edits_of_the_module_equal_fresh_ones(
    stem: str, corpus_small: Path, script: list[tuple[Edit | Undo, bool]]
) -> None:
    opened = _opened(corpus_small, stem)
    count = len(opened.files)
    [module] = [n for n, name in enumerate(opened.texts()) if name.endswith("optimizations.txt")]
    for each in range(count):
        opened.findings(each)
    for edit, is_checked in [*script, (Undo(1), True)]:
        opened.do(module, edit)
        if is_checked:
            fresh = _Opened(opened.texts())
            for each in range(count):
                assert opened.findings(each) == fresh.findings(each)


@dataclass(frozen=True)
class Replace:
    """A part of a text that occurs once, by another of one line."""

    old: str
    new: str

    def apply(self, document: Document) -> LineChange:
        [line] = [number for number, text in enumerate(document.lines) if self.old in text]
        start = document.lines[line].index(self.old)
        return document.edit((line, start), (line, start + len(self.old)), self.new)


_MOVED = Replace(
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
    """Sizes and offsets concern few rules: the results of the others stay."""
    opened = _opened(corpus_small, _SPLIT)
    ends = {"assignment": "-assignment.txt", "live": "-live-range.txt", ".txt": "optimizations.txt"}
    [number] = [n for n, name in enumerate(opened.texts()) if name.endswith(ends[file])]
    [assignment] = [n for n, name in enumerate(opened.texts()) if name.endswith("assignment.txt")]
    for at, edit in ((number, first), (assignment, _MOVED)):
        opened.do(at, edit)
        fresh = _Opened(opened.texts())
        found = [opened.findings(each) for each in range(len(opened.files))]
        assert any(found)
        assert found == [fresh.findings(each) for each in range(len(opened.files))]
