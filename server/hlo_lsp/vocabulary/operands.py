"""What the places in operand lists are for."""

from functools import cache

from hlo_lsp.vocabulary import reading


def operand_text(name: str, opcode: str) -> str:
    """A sentence about an operand of an opcode; empty for a name that is not known.

    The operand of ``OP-done`` and ``OP-update`` where XLA has no such opcode is ``OP_start``.
    """
    entry = _operands().get(name)
    if entry is not None:
        return str(entry.get("on", {}).get(opcode, entry["text"]))
    started = name.removesuffix("_start")
    return "" if started == name else f"The `{started.replace('_', '-')}-start` to wait for."


@cache
def _operands() -> reading.Tree:
    return reading.read("operands")
