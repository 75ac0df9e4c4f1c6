"""Reads the records of HLO module text, a statement at a time."""

from collections.abc import Sequence
from functools import lru_cache

from hlo_lsp.syntax import module_records as records
from hlo_lsp.syntax.grammar import Refusal, load
from hlo_lsp.syntax.inner import with_bodies, with_members
from hlo_lsp.syntax.line_rules import LineRule, LineRules
from hlo_lsp.syntax.records import Blank, Broken, Record
from hlo_lsp.syntax.statements import PLAIN, begins_statement, is_plain, statement

_MAKERS = {
    "instruction_line": records.InstructionLine.of,
    "module_header": records.ModuleHeader.of,
    "table_label": records.TableLabel.of,
    "name_row": records.NameRow.of,
    "location_row": records.LocationRow.of,
    "frame_row": records.FrameRow.of,
    "computation_line": records.ComputationLine.of,
    "whole_computation": records.ComputationLine.of,
    "computation_end": records.ComputationEnd.of,
}
_BREAKABLE = {"instruction_line", "module_header", "whole_computation"}


class ModuleScanner:
    """Reads one record of module text at a time."""

    def __init__(self) -> None:
        grammar = load("module")
        self.lines = LineRules([LineRule.of(grammar, rule, make) for rule, make in _MAKERS.items()])
        self._instruction = grammar.expression("plain_instruction").match

    def read(self, lines: Sequence[str], at: int) -> Record:
        """The record that begins on line ``at``."""
        line = lines[at]
        if line.startswith(PLAIN) and is_plain(line, lines[at + 1] if at + 1 < len(lines) else ""):
            plain = self._instruction(line)  # nearly all lines: no other rule need be tried
            if plain is not None:
                return records.InstructionLine.of_plain(plain)
        if not line:
            return Blank()
        found = self.lines.read(line)
        if found is not None:
            rule, match = found
            if rule.name not in _BREAKABLE:
                return rule.make(match)
        elif line.isspace():
            return Blank()
        elif not begins_statement(line):
            return Broken(line)
        return self._statement(lines, at)

    def explain(self, text: str) -> Refusal:
        """Why a text is no record."""
        return self.lines.explain(text)

    def _statement(self, lines: Sequence[str], at: int) -> Record:
        """A record that may take several lines."""
        count, text = statement(lines, at)
        if text.isspace():
            return records.Comment(count)
        found = self.lines.read(text)
        if found is None:
            return Broken(text, count)
        rule, match = found
        record = rule.make(match)
        if isinstance(record, records.InstructionLine):
            record.line_count = count
            with_bodies(record, record)
        elif isinstance(record, records.ComputationLine):
            record.line_count = count
            if rule.name == "whole_computation":
                with_members(record, text)
        elif isinstance(record, records.ModuleHeader):
            record.line_count = count
        elif count > 1:
            return Broken(text, count)
        return record


@lru_cache(maxsize=1)
def module_scanner() -> ModuleScanner:
    """The scanner, made at the first call."""
    return ModuleScanner()
