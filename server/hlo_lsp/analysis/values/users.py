"""Who uses which part of an instruction, as ``HloValue::ComputeUses`` (hlo_value.cc) tells it.

Made in one pass over all operands, and asked for the rows that XLA prints under ``uses:``. What is
asked for a single value is in ``uses.py``.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from hlo_lsp.analysis.values.entry_rows import parts_of

FORWARDS = frozenset({"tuple", "domain"})  # hand all of an operand on and read none of it
READS_THE_TOP = frozenset({"get-tuple-element", "copy"})  # hand on all but the table of a tuple
_TOPS = frozenset({None, "{}"})


class Users:
    """The users of each instruction by name, each with the number of the operand.

    ``doubled`` are names of several instructions, of which nothing can be said.
    """

    def __init__(self) -> None:
        # For each operand the users and its number in them, in turns: large steps have very many.
        self._readers: defaultdict[str, list[str | int]] = defaultdict(list)
        self._top_readers: defaultdict[str, list[str | int]] = defaultdict(list)
        self._passing: defaultdict[str, list[str | int]] = defaultdict(list)
        self.operands: dict[str, Sequence[str]] = {}
        self.opcodes: dict[str, str] = {}
        self.roots: set[str] = set()
        self.doubled: set[str] = set()

    def add(self, name: str, opcode: str, operands: Sequence[str]) -> None:
        """Enter an instruction."""
        if name in self.operands:
            self.doubled.add(name)
        self.operands[name] = operands
        self.opcodes[name] = opcode
        for number, operand in enumerate(operands):
            if opcode in FORWARDS:
                self._passing[operand] += name, number
            elif opcode in READS_THE_TOP:
                self._top_readers[operand] += name, number
                self._passing[operand] += name, number
            else:
                self._readers[operand] += name, number

    def rows(self, positions: Iterable[str], roots: "set[str] | None" = None) -> set[str]:
        """The rows of uses of the value with these rows of positions.

        What only hands the value on is a use if it is the root of a computation, and a position.
        """
        parts = [parts_of(row) for row in positions]
        known = self.roots if roots is None else roots
        at_roots = {name for name, _ in parts if name in known}
        found: set[str] = set()
        for name, index in parts:
            found.update(_rows(self._readers, name, index))
            if index in _TOPS:
                found.update(_rows(self._top_readers, name, index))
            if at_roots:
                found.update(_rows(self._passing, name, index, at_roots))
        return found


def _rows(
    users: "dict[str, list[str | int]]",
    name: str,
    index: str | None,
    only: "set[str] | None" = None,
) -> list[str]:
    listed = users.get(name)
    if listed is None:
        return []
    end = "" if index is None else f" {index}"
    pairs = zip(listed[::2], listed[1::2], strict=True)
    return [
        f"  {user}, operand {number}{end}" for user, number in pairs if only is None or user in only
    ]


def split_use(row: str) -> tuple[str, int]:
    """The user and the number of the operand in a row of a use."""
    name, _, rest = row[2:].partition(", operand ")
    return name, int(rest.partition(" ")[0])
