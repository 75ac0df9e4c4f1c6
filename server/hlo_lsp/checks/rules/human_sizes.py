"""Bytes for people, behind the exact ones."""

from collections.abc import Iterator

from hlo_lsp.checks.case import Case
from hlo_lsp.checks.finding import Finding
from hlo_lsp.checks.rule import AnyRule, error
from hlo_lsp.model.bytesize import format_bytes_as_xla
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.syntax.line_fields import fields_of_line
from hlo_lsp.syntax.memory_records import SpaceLine, TotalLine
from hlo_lsp.syntax.records import Label, Record


def human_total(case: Case[TotalLine]) -> Iterator[Finding]:
    """The text in brackets is the number in front of it, as XLA writes bytes for people."""
    true = [located.record.size for located in case.context.dump.allocations()]
    yield from _human(case, case.record.total, case.record.human, sum(true))


def human_space(case: Case[Label]) -> Iterator[Finding]:
    """The same in the report, for each memory space."""
    if case.record.name != "space_total_line":
        return
    said = {field.role: field.text for field in fields_of_line("space_total_line", _text(case))}
    if "TOTAL" in said and "HUMAN" in said:
        color = _color(case.file, case.record)
        allocations = (located.record for located in case.context.dump.allocations())
        true = sum(allocation.size for allocation in allocations if allocation.color == color)
        yield from _human(case, int(said["TOTAL"]), said["HUMAN"], true)


def _human(
    case: "Case[TotalLine] | Case[Label]", total: int, human: str, true: int
) -> Iterator[Finding]:
    """Where the text is right for the true sum the number is wrong, which has its own rule."""
    if human not in {format_bytes_as_xla(total), format_bytes_as_xla(true)}:
        yield case.finding(
            f"{total:,} B are `{format_bytes_as_xla(total)}`, not `{human}`", "HUMAN"
        ).put(format_bytes_as_xla(total))


def _text(case: Case[Label]) -> str:
    return case.file.lines[case.record.line]


def _color(file: DumpFile, record: Record) -> int | None:
    """The memory space whose total stands behind its head."""
    above = file.records.at(record.line - 1) if record.line else None
    return above.color if isinstance(above, SpaceLine) else None


RULES: tuple[AnyRule, ...] = (
    error("human-size", TotalLine, human_total),
    error("human-size", Label, human_space),
)
