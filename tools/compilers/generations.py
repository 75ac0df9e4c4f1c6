"""Detect in which form a compiler prints each part of its dumps.

XLA changes the parts independently of each other, so each part has a detector of its own, and
``detect`` returns one form per part. ``docs/dump_formats.md`` describes the parts and their forms.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

NOT_PRINTED = "–"

_ASSIGNMENT = "-buffer-assignment.txt"
_VALUES = "-buffer-assignment-values.txt"
_LIVE_RANGES = "-live-range.txt"
_REPORT = "-memory-usage-report.txt"
_MODULE = "after_optimizations.txt"
_THUNKS = re.compile(r"\.thunk_sequence(_after_thunk_passes)?\.txt")
_STEM = re.compile(
    r"\.((?:cpu_|sm_[\d.]+[af]?_gpu_|gfx\w+_gpu_)?after_optimizations)-buffer-assignment\.txt"
)


def _lines(pattern: str) -> re.Pattern[str]:
    """Compile a pattern in which ``^`` and ``$`` match at the ends of each line."""
    return re.compile(pattern, re.MULTILINE)


_PAGE = _lines(r"^allocation \d+: size \d+.*?, page \d+")
_USES_NONE = _lines(r"^ uses:\n  \(none\)$")
_USES_EMPTY = _lines(r"^ uses:\n from instruction:")
_JOINED_RECORDS = _lines(r"^ from instruction:.*<\d+ [\w.\-]+(\{[\d,]*\})?( \(phi\))? @\d+>$")
_OPERAND_SHAPES = _lines(r"^ from instruction:.* [a-z][a-z0-9\-]*\(\(*[a-z]\w*\[[^%\n]*%")
_PEAK = _lines(r"^  Live ranges at -?\d+ \(peak\):\n((?:    .+: \d+ bytes.*\n?)+)")
_PEAK_ROW = _lines(r"^    [^{:\n]+(\{[\d,]*\})?: (\d+) bytes( \(cumulative: \d+ bytes\))?$")
_BREAKDOWN = _lines(r"^  Stack trace breakdown for peak usage: [\d ]+ bytes$")
_ENTRY = _lines(r"^ENTRY (%?)[^ ]+ (\(?)")
_ELEMENT = re.compile(r"%[\w.\-]+#\d")
_END_COMMENT = _lines(r"^\} // ")
_THUNK = _lines(r"^ *(\d{3,}: )?k[A-Z]\w*(?: *(\[))?")


@dataclass
class DumpTexts:
    """The text files of one or several compiles, by what they contain."""

    names: list[str] = field(default_factory=list)
    assignments: list[str] = field(default_factory=list)
    values: list[str] = field(default_factory=list)
    live_ranges: list[str] = field(default_factory=list)
    reports: list[str] = field(default_factory=list)
    modules: list[str] = field(default_factory=list)
    thunks: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, paths: Iterable[Path]) -> "DumpTexts":
        """Read those of the files that have a form to detect."""
        texts = cls()
        by_suffix = {
            _ASSIGNMENT: texts.assignments,
            _VALUES: texts.values,
            _LIVE_RANGES: texts.live_ranges,
            _REPORT: texts.reports,
            _MODULE: texts.modules,
        }
        for path in sorted(paths):
            texts.names.append(path.name)
            for suffix, group in by_suffix.items():
                if path.name.endswith(suffix):
                    group.append(path.read_text("utf-8"))
            if _THUNKS.search(path.name):
                texts.thunks.append(path.read_text("utf-8"))
        return texts

    @property
    def memory(self) -> list[str]:
        """The buffer assignments, values and live ranges."""
        return [*self.assignments, *self.values, *self.live_ranges]


def detect(texts: DumpTexts) -> dict[str, str]:
    """Return the form of each part; several forms in one folder are joined with `` / ``."""
    return {part: detector(texts) for part, detector in PARTS.items()}


def _stem(texts: DumpTexts) -> str:
    found = {match[1] for name in texts.names if (match := _STEM.search(name))}
    return _joined(f"`{stem}`" for stem in found)


def _memory_files(texts: DumpTexts) -> str:
    if not texts.assignments:
        return NOT_PRINTED
    return "split" if texts.values else "one file"


def _page(texts: DumpTexts) -> str:
    return "yes" if _any(_PAGE, texts.assignments) else NOT_PRINTED


def _records(texts: DumpTexts) -> str:
    if not any(" from instruction:" in text for text in texts.memory):
        return NOT_PRINTED
    return "joined" if _any(_JOINED_RECORDS, texts.memory) else "own line"


def _operand_shapes(texts: DumpTexts) -> str:
    return "yes" if _any(_OPERAND_SHAPES, texts.memory) else NOT_PRINTED


def _no_uses(texts: DumpTexts) -> str:
    forms = {"`(none)`": _USES_NONE, "empty": _USES_EMPTY}
    return _joined(form for form, pattern in forms.items() if _any(pattern, texts.memory))


def _live_ranges(texts: DumpTexts) -> str:
    if texts.live_ranges:
        return "own file"
    return "yes" if any("\nHloLiveRange (max" in text for text in texts.memory) else NOT_PRINTED


def _peak_list(texts: DumpTexts) -> str:
    """L0: names only, unsorted; L0i: with shape indexes; L1: also cumulative sizes, sorted."""
    forms = set()
    for text in texts.memory:
        for peak in _PEAK.finditer(text):
            rows = [match.groups() for match in _PEAK_ROW.finditer(peak[1])]
            if all(cumulative for _, _, cumulative in rows):
                forms.add("L1")
            elif all(index for index, _, _ in rows):
                forms.add("L0i")
            else:
                forms.add("L0")
    return _joined(forms)


def _breakdown(texts: DumpTexts) -> str:
    return "yes" if _any(_BREAKDOWN, texts.memory) else NOT_PRINTED


def _report(texts: DumpTexts) -> str:
    first_words = {
        "Total bytes used:": "G1",
        "memory_space_allocation_entries": "G2",
        "Memory Space:": "G3",
    }
    return _joined(
        next((form for words, form in first_words.items() if text.startswith(words)), "unknown")
        for text in texts.reports
        if text
    )


def _metadata(texts: DumpTexts) -> str:
    forms = {
        "StackFrames": "\nStackFrames\n",
        "source_file": " source_file=",
        "scheduling_name": "scheduling_name=",
    }
    found = [form for form, words in forms.items() if any(words in text for text in texts.modules)]
    return " + ".join(found) or NOT_PRINTED


def _module_text(texts: DumpTexts) -> str:
    forms = set()
    for text in texts.modules:
        entry = _ENTRY.search(text)
        if entry is not None:
            percent, signature = entry.groups()
            forms.add(f"{'%' if percent else 'no %'}, {'' if signature else 'no '}signatures")
    found = _joined(forms)
    if _any(_END_COMMENT, texts.modules):
        found = f"{found}, end comments"
    return f"{found}, elements" if _any(_ELEMENT, texts.modules) else found


def _thunk_sequence(texts: DumpTexts) -> str:
    """T0: no while bodies; T1: with them; T2: ids; T3: adjacent thunks; T4: kernels with a grid."""
    lines = [match for text in texts.thunks for match in _THUNK.finditer(text)]
    if not lines:
        return NOT_PRINTED
    if any(match[2] for match in lines):
        return "T4" if any(" grid: [" in text for text in texts.thunks) else "T3"
    if any(match[1] for match in lines):
        return "T2"
    return "T1" if any("condition:" in text for text in texts.thunks) else "T0"


PARTS: Mapping[str, Callable[[DumpTexts], str]] = {
    "stem": _stem,
    "memory files": _memory_files,
    "page": _page,
    "records": _records,
    "operand shapes": _operand_shapes,
    "no uses": _no_uses,
    "live ranges": _live_ranges,
    "peak list": _peak_list,
    "breakdown": _breakdown,
    "report": _report,
    "metadata": _metadata,
    "module text": _module_text,
    "thunks": _thunk_sequence,
}


def _any(pattern: re.Pattern[str], texts: Iterable[str]) -> bool:
    return any(pattern.search(text) for text in texts)


def _joined(forms: Iterable[str]) -> str:
    return " / ".join(sorted(set(forms))) or NOT_PRINTED
