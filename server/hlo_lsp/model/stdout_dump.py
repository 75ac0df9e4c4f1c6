"""Stdout dumps: the files that XLA printed with ``--xla_dump_to=-``, each with its compile."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from hlo_lsp.model.compile import Compile, CompileCache
from hlo_lsp.model.compile_files import CompileFiles, FolderListing
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.file_names import sanitized_name
from hlo_lsp.model.query_cache import Input
from hlo_lsp.model.source import PROGRAM_FRAMES, FrameChoice
from hlo_lsp.syntax.embedded_hlo import embedded_sections
from hlo_lsp.syntax.file_kinds import SectionRange, split_sections
from hlo_lsp.text.document import Document, LineChange, changed_parts

_LINES_PER_COMPARISON = 512


class SectionFile(DumpFile):
    """A section of a stdout dump as a dump file; its lines begin at ``first_line`` of the dump.

    ``uri`` and ``label`` are those of the stdout dump, and ``path`` is a path below it.
    """

    def __init__(self, stdout_dump: "StdoutDump", section: SectionRange, lines: list[str]) -> None:
        whole = stdout_dump.whole
        path = (whole.path or Path()) / sanitized_name(section.name)
        super().__init__(whole.uri, path, Document.from_lines(lines))
        self.section = section
        self._stdout_dump = stdout_dump
        self._first_line_input = Input()

    @property
    def first_line(self) -> int:
        """The first line of the section in the stdout dump, from 0."""
        self._first_line_input.read()  # messages contain numbers of lines
        return self.section.first

    @property
    def label(self) -> str:
        """The label of the stdout dump, which contains the lines."""
        return self._stdout_dump.whole.label

    @property
    def is_fragment(self) -> bool:
        """True for HLO in another language that is not a complete module, so has no findings."""
        return self._stdout_dump.whole.host is not None and not self.section.is_whole

    def compile_of(self) -> Compile:
        """Return the compile of this section."""
        return self._stdout_dump.compile_of(self)

    def update(self, section: SectionRange, lines: list[str]) -> None:
        """Update position and lines after edits of the stdout dump."""
        if section.first != self.section.first:
            self._first_line_input.change()
        self.section = section
        change = _text_change(self.lines, lines)
        if change is not None:
            first, old, new = change.first, change.old_count, change.new_count
            self.lines[first : first + old] = lines[first : first + new]
            self.changed(change)


_Run = dict[Path, SectionFile]


class StdoutDump:
    """A stdout dump; ``sections`` are in order and include files of other kinds."""

    def __init__(self, whole: DumpFile, frames: FrameChoice = PROGRAM_FRAMES) -> None:
        self.whole = whole
        self.sections: list[SectionFile] = []
        self._version: int | None = None
        self._compiles: dict[SectionFile, tuple[CompileFiles, _Run]] = {}
        self._compile_cache = CompileCache(frames)

    def refresh(self) -> None:
        """Update the sections after edits; sections with unchanged lines are kept."""
        self.whole.refresh()
        if self._version != self.whole.version:
            self._split()
            self._version = self.whole.version

    def section_at(self, line: int, column: int | None) -> SectionFile | None:
        """Return the section that contains a line (from 0) and column of the stdout dump."""
        end = bisect_right(self.sections, line, key=lambda section: section.first_line)
        # Of texts in another language, one may end on the line on which the next one begins.
        for section in reversed(self.sections[max(end - 2, 0) : end]):
            if section.section.contains(line, column):
                return section
        return None

    def nearest_section(self, line: int) -> SectionFile | None:
        """Return the last section that begins before a line (from 0), else the first one."""
        end = bisect_right(self.sections, line, key=lambda section: section.first_line)
        return self.sections[max(end - 1, 0)] if self.sections else None

    def compile_of(self, section: SectionFile) -> Compile:
        """Return the up-to-date compile of a section."""
        section.refresh()
        compile_, run = self._compiles.get(section, (None, _Run()))

        def find(path: Path, _compile: CompileFiles, _patient: bool) -> DumpFile | None:
            found = run.get(path)
            if found is not None:
                found.refresh()
            return found

        companions = compile_ if section.kind.has_records else None
        return self._compile_cache.compile_of(section, companions, find)

    def _split(self) -> None:
        lines = self.whole.lines
        old_keys = _number_duplicates([section.section.name for section in self.sections])
        known = dict(zip(old_keys, self.sections, strict=True))
        host = self.whole.host
        found = split_sections(lines) if host is None else embedded_sections(lines, host)
        updated = []
        for key, section_range in zip(
            _number_duplicates([section_range.name for section_range in found]), found, strict=True
        ):
            text = section_range.text(lines)
            section = known.get(key)
            if section is None:
                section = SectionFile(self, section_range, text)
            else:
                section.update(section_range, text)
            updated.append(section)
        if updated != self.sections:
            compiles = _group(self.whole.path or Path(), updated)
            # After all work that may be interrupted, because it starts again then.
            self.sections, self._compiles = updated, compiles
            self._compile_cache.retain(updated)


def _group(
    folder: Path, sections: Sequence[SectionFile]
) -> dict[SectionFile, tuple[CompileFiles, _Run]]:
    """Return the compile of each section, and its run; a repeated name begins another run."""
    runs: list[_Run] = [{}]
    for section in sections:
        assert section.path is not None
        if section.path in runs[-1]:
            runs.append({})
        runs[-1][section.path] = section
    compiles = {}
    for run in runs:
        listing = FolderListing(folder, [path.name for path in run])
        for path, section in run.items():
            compiles[section] = listing.compile_files(path.name), run
    return compiles


def _number_duplicates(names: Sequence[str]) -> list[tuple[str, int]]:
    """Return each name with the number of its previous occurrences."""
    counts: Counter[str] = Counter()
    keys = []
    for name in names:
        keys.append((name, counts[name]))
        counts[name] += 1
    return keys


def _text_change(old: list[str], new: list[str]) -> LineChange | None:
    """Return the difference of two texts as one change, or None if they are equal."""
    if old == new:
        return None
    first, old_end, new_end = changed_parts(old, new, _LINES_PER_COMPARISON, 1)
    return LineChange(first, old_end - first, new_end - first)
