"""The users of each instruction, and the rows that XLA prints of them under ``uses:``.

The rule is that of ``HloValue::ComputeUses`` (hlo_value.cc).
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.text.checkpoint import checkpoint

FORWARDS = frozenset({"tuple", "domain"})  # hand on all of an operand and read none of it
READS_THE_TOP = frozenset({"get-tuple-element", "copy"})  # hand on all but the table of a tuple
_TOPS = frozenset({None, "{}"})
_CHUNK = 1000  # instructions between two checkpoints
_Use = tuple[str, int]  # the user and the number of the operand


class Users:
    """The users of each instruction by name; ``doubled`` are the names of several instructions."""

    def __init__(self) -> None:
        self.roots: set[str] = set()
        self.doubled: set[str] = set()
        self._instructions: dict[str, tuple[str, Sequence[str]]] = {}
        # A tuple may have thousands of users that read one element each: they are kept apart.
        self._reads: dict[str, list[_Use]] = {}
        self._reads_of_top: dict[str, list[_Use]] = {}
        self._forwards: dict[str, list[_Use]] = {}

    def add(self, name: str, opcode: str, operands: Sequence[str]) -> None:
        """Enter an instruction."""
        if name in self._instructions:
            self.doubled.add(name)
        self._instructions[name] = opcode, operands
        uses = self._reads
        if opcode in FORWARDS:
            uses = self._forwards
        elif opcode in READS_THE_TOP:
            uses = self._reads_of_top
        for number, operand in enumerate(operands):
            uses.setdefault(operand, []).append((name, number))

    def __contains__(self, name: str) -> bool:
        """Return whether an instruction of this name was entered."""
        return name in self._instructions

    def opcode(self, name: str) -> str | None:
        """Return the opcode of an instruction, None if it was not entered."""
        return self._instructions[name][0] if name in self._instructions else None

    def operands(self, name: str) -> Sequence[str] | None:
        """Return the operands of an instruction, None if it was not entered."""
        return self._instructions[name][1] if name in self._instructions else None

    def rows(self, positions: Iterable[str], roots: "set[str] | None" = None) -> set[str]:
        """Return the rows of uses of the value with these rows of positions.

        What only hands the value on is a use if it is the root of a computation, and a position.
        """
        parts = [parts_of(row) for row in positions]
        known = self.roots if roots is None else roots
        at_roots = {name for name, _ in parts if name in known}
        found: set[str] = set()
        for name, index in parts:
            end = "" if index is None else f" {index}"
            tops = self._reads_of_top.get(name, ())
            uses = chain(
                self._reads.get(name, ()),
                tops if index in _TOPS else self._tops_at(name, at_roots),
                (use for use in self._forwards.get(name, ()) if use[0] in at_roots),
            )
            found.update(f"  {user}, operand {number}{end}" for user, number in uses)
        return found

    def _tops_at(self, operand: str, roots: set[str]) -> Iterator[_Use]:
        for root in roots:
            opcode, operands = self._instructions.get(root, ("", ()))
            if opcode in READS_THE_TOP:
                yield from ((root, at) for at, name in enumerate(operands) if name == operand)


def users_of_module(index: ModuleIndex) -> Users:
    """Return the users of all instructions of a module."""
    users = Users()
    for count, record in enumerate(index.instructions.records()):
        if count % _CHUNK == _CHUNK - 1:
            checkpoint()
        users.add(record.name, record.opcode, record.operands)
    for computation in index.all_computations():
        root = index.computation(computation).root
        if root is not None:
            users.roots.add(root.name)
        checkpoint()
    return users


def row_of(name: str, index: str | None) -> str:
    """Return the row of a position; the index is None where the instruction is no tuple."""
    return f"  {name}" if index is None else f"  {name} {index}"


def parts_of(row: str) -> tuple[str, str | None]:
    """Return name and index of a row of a position."""
    name, _, index = row[2:].partition(" ")
    return name, index or None


def split_use(row: str) -> _Use:
    """Return the user and the number of the operand in a row of a use."""
    name, _, rest = row[2:].partition(", operand ")
    return name, int(rest.partition(" ")[0])
