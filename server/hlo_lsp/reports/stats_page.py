"""Tables of instructions as self-contained HTML files, by Python line and by instruction."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from importlib.resources import files

from hlo_lsp.display.table import html_table
from hlo_lsp.program.instruction_owners import InstructionKey
from hlo_lsp.reports.cost import cost_facts, cost_groups_table
from hlo_lsp.reports.profile_report import profile_facts, time_table
from hlo_lsp.stats.instruction_table import CostTable
from hlo_lsp.stats.measured_programs import JoinedProfile
from hlo_lsp.text.inert import html_text

_KEYS = {InstructionKey.LINE: "Python line", InstructionKey.INSTRUCTION: "Instruction"}
_MAX_ROWS = 200  # of a table


def cost_page(tables: Iterable[CostTable]) -> str:
    """Return an HTML file with the costs of programs."""
    return _page("Cost", (line for table in tables for line in _cost_section(table)))


def _cost_section(table: CostTable) -> Iterator[str]:
    yield from _facts(cost_facts(table.cost))
    for key, title in _KEYS.items():
        groups = table.cost_groups(key)
        if groups:
            yield from html_table(cost_groups_table(groups[:_MAX_ROWS], table.cost, title))
            yield from _more(len(groups))


def profile_page(profile: JoinedProfile, chip: str | None) -> str:
    """Return an HTML file with the measured times of programs; ``chip`` is for rooflines."""
    lines: list[str] = []
    for program in profile.programs:
        lines += _facts(profile_facts(program.time))
        for key, title in _KEYS.items():
            table = time_table(program, key, _MAX_ROWS, chip)
            lines += html_table(replace(table, titles=(*table.titles[:-1], title)))
            if key is InstructionKey.INSTRUCTION:
                lines += _more(len(program.time.instructions))
    return _page("Measured time", lines)


def _facts(lines: Iterator[str]) -> Iterator[str]:
    yield f"<h2>{html_text(next(lines))}</h2>"
    yield from (f"<p>{html_text(line)}</p>" for line in lines)


def _more(count: int) -> Iterator[str]:
    if count > _MAX_ROWS:
        yield f"<p>and {count - _MAX_ROWS:,} more</p>"


def _page(title: str, body: Iterable[str]) -> str:
    page = (files("hlo_lsp.reports") / "stats_page.html").read_text("utf-8")
    page = page.replace("<!--TITLE-->", html_text(title))
    return page.replace("<!--BODY-->", "\n".join(body), 1)
