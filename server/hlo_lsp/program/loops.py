"""The loops of a module."""

import re

from hlo_lsp.syntax.instruction_text import InstructionText

_KNOWN_TRIP_COUNT = re.compile(r'"known_trip_count"\s*:\s*\{\s*"n"\s*:\s*"(\d{1,19})"')


def trip_count(instruction: InstructionText) -> int | None:
    """Return the number of iterations of a ``while``; None if XLA did not determine it."""
    config = instruction.attribute("backend_config")
    if instruction.opcode.text != "while" or config is None:
        return None
    found = _KNOWN_TRIP_COUNT.search(config.text)
    return None if found is None else int(found[1])
