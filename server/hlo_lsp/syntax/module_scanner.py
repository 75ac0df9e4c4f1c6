"""Reads the records of HLO module text, a line at a time."""

from collections.abc import Sequence
from functools import lru_cache

from hlo_lsp.syntax import module_records as records
from hlo_lsp.syntax.grammar import Refusal, load
from hlo_lsp.syntax.line_rules import LineRule, LineRules
from hlo_lsp.syntax.records import Blank, Broken, Record

_MAKERS = {
    "instruction_line": records.InstructionLine.of,
    "module_header": records.ModuleHeader.of,
    "table_label": records.TableLabel.of,
    "name_row": records.NameRow.of,
    "location_row": records.LocationRow.of,
    "frame_row": records.FrameRow.of,
    "computation_line": records.ComputationLine.of,
    "computation_end": records.ComputationEnd.of,
}


class ModuleScanner:
    """Reads one record of module text at a time."""

    def __init__(self) -> None:
        grammar = load("module")
        self.lines = LineRules([LineRule.of(grammar, rule, make) for rule, make in _MAKERS.items()])

    def read(self, lines: Sequence[str], at: int) -> Record:
        """The record on line ``at``."""
        line = lines[at]
        if not line:
            return Blank()
        found = self.lines.read(line)
        if found is not None:
            return found[0].make(found[1])
        return Blank() if line.isspace() else Broken(line)

    def explain(self, line: str) -> Refusal:
        """Why a line is no record."""
        return self.lines.explain(line)


@lru_cache(maxsize=1)
def module_scanner() -> ModuleScanner:
    """The scanner, made at the first call."""
    return ModuleScanner()
