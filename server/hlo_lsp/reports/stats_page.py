"""Tables of instructions as self-contained HTML files, by Python line and by instruction."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

from hlo_lsp.cost.descriptions import describe_peaks
from hlo_lsp.display.phrases import shortened
from hlo_lsp.display.table import Table, html_table
from hlo_lsp.model.source import SourceFiles, SourceLine, SourceMap
from hlo_lsp.program.instruction_owners import InstructionKey
from hlo_lsp.reports.cost import cost_facts, cost_groups_table, has_cost
from hlo_lsp.reports.profile_comparison import PAGE_KEYS
from hlo_lsp.reports.profile_report import joined_table, profile_facts, time_table
from hlo_lsp.stats.instruction_table import CostTable, InstructionGroup
from hlo_lsp.stats.measured_programs import JoinedProfile, JoinedProgram
from hlo_lsp.text.disk import UnreadableError, read_document
from hlo_lsp.text.inert import html_text

_MAX_ROWS = 200  # of a table
_MAX_SOURCE_CHARACTERS = 100


class _SourceTexts:
    """The texts of Python lines whose files are on this machine."""

    def __init__(self) -> None:
        self._files = SourceFiles(SourceMap())
        self._lines: dict[Path, list[str]] = {}

    def text(self, source: SourceLine | None) -> str:
        """Return the text of a line; empty if there is none."""
        path = None if source is None else self._files.resolve(source.file)
        if source is None or path is None or path.suffix != ".py":
            return ""
        if path not in self._lines:
            try:
                self._lines[path] = read_document(path).lines
            except UnreadableError:
                self._lines[path] = []
        lines = self._lines[path]
        text = lines[source.line - 1].strip() if 0 < source.line <= len(lines) else ""
        return shortened(text, _MAX_SOURCE_CHARACTERS)

    def beside(self, table: Table, groups: Sequence[InstructionGroup]) -> Table:
        """Return a table of groups with the texts of their lines in a last column, if any."""
        texts = [self.text(group.source) for group in groups]
        texts += [""] * (len(table.rows) - len(texts))
        if not any(texts):
            return table
        rows = [[*row, text] for row, text in zip(table.rows, texts, strict=True)]
        return replace(table, titles=(*table.titles, "Source"), rows=rows)


def cost_page(tables: Iterable[CostTable]) -> str:
    """Return an HTML file with the costs of programs, the longest one first."""
    sources = _SourceTexts()
    found = sorted(tables, key=lambda one: (-(one.cost.total.least_ps or 0), -_flops(one)))
    sections = [_cost_section(table, sources) for table in found]
    return _page("Cost", [table.cost.dump.module_name for table in found], sections)


def _flops(table: CostTable) -> int:
    return table.cost.total.cost.flops


def _cost_section(table: CostTable, sources: _SourceTexts) -> Iterator[str]:
    program = table.cost
    yield from _facts(cost_facts(program))
    yield f"<p>{html_text(program.dump.files[0].label)}</p>"
    if program.chip is not None:
        yield f"<p>{html_text(describe_peaks(program.chip))}</p>"
    for key, title in PAGE_KEYS.items():
        groups = [group for group in table.cost_groups(key) if has_cost(group.cost)]
        if groups:
            shown = groups[:_MAX_ROWS]
            yield from html_table(sources.beside(cost_groups_table(shown, program, title), shown))
            yield from _more(len(groups))


def profile_page(profile: JoinedProfile, chip: str | None) -> str:
    """Return an HTML file with the measured times of programs; ``chip`` is for rooflines."""
    sources = _SourceTexts()
    sections = [_profile_section(program, sources, chip) for program in profile.programs]
    names = [program.time.program.name or "unknown module" for program in profile.programs]
    return _page("Measured time", names, sections)


def _profile_section(
    program: JoinedProgram, sources: _SourceTexts, chip: str | None
) -> Iterator[str]:
    yield from _facts(profile_facts(program.time))
    for key, title in PAGE_KEYS.items():
        table = time_table(program, key, _MAX_ROWS, chip)
        table = replace(table, titles=(*table.titles[:-1], title))
        groups = joined_table(program, chip).groups(key)[:_MAX_ROWS]
        yield from html_table(sources.beside(table, groups))
        if key is InstructionKey.INSTRUCTION:
            yield from _more(len(program.time.instructions))


def _facts(lines: Iterator[str]) -> Iterator[str]:
    yield f"<h2>{html_text(next(lines))}</h2>"
    yield from (f"<p>{html_text(line)}</p>" for line in lines)


def _more(count: int) -> Iterator[str]:
    if count > _MAX_ROWS:
        yield f"<p>and {count - _MAX_ROWS:,} more</p>"


def _page(title: str, names: Sequence[str], sections: Iterable[Iterable[str]]) -> str:
    """Return a page with a section for each program, and links to them if there are several."""
    body = []
    if len(names) > 1:
        links = (
            f'<li><a href="#program-{number}">{html_text(name)}</a></li>'
            for number, name in enumerate(names)
        )
        body = ["<nav><ul>", *links, "</ul></nav>"]
    for number, section in enumerate(sections):
        body += [f'<section id="program-{number}">', *section, "</section>"]
    page = (files("hlo_lsp.reports") / "stats_page.html").read_text("utf-8")
    page = page.replace("<!--TITLE-->", html_text(title))
    return page.replace("<!--BODY-->", "\n".join(body), 1)
