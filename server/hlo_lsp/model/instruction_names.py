"""The names in the texts of instructions, for the indexes of a module text."""

import re

from hlo_lsp.syntax.instruction_text import (
    attributes_column,
    attributes_of,
    tuples_of_element,
)
from hlo_lsp.syntax.module_records import InstructionLine

_PERCENT_NAME = re.compile(r"%([\w.\-]+)")


def mentioned_names(record: InstructionLine) -> set[str]:
    """Return all names after the opcode; for an element of a tuple, also that of the tuple."""
    text, opened = record.text, record.opened
    end = attributes_column(text, opened)
    names = {*_PERCENT_NAME.findall(text, opened, end), *attributes_of(text[end:]).mentioned}
    if text.find("#", opened, end) >= 0:
        for element in (each for each in record.reads if "#" in each):
            names.update((element, *tuples_of_element(element)))
    # Nearly all names have a percent sign; reading the others takes five times as long.
    operands = text[opened : end - 1]
    if "(" in operands or operands.count("%") <= operands.count(","):
        names.update(record.reads)
    return names
