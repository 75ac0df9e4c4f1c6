"""Who uses which part of an instruction, as ``HloValue::ComputeUses`` (hlo_value.cc) tells it.

Made in one pass over all operands, and asked for the rows that XLA prints under ``uses:``.
"""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain

from hlo_lsp.analysis.values.entry_rows import parts_of
from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.text.checkpoint import checkpoint

FORWARDS = frozenset({"tuple", "domain"})  # hand all of an operand on and read none of it
READS_THE_TOP = frozenset({"get-tuple-element", "copy"})  # hand on all but the table of a tuple
_TOPS = frozenset({None, "{}"})
_STEP = 1000  # instructions between two breaths
_BREATH = 1 << 14  # operands between two breaths
# What an instruction does with an operand: reads it, hands all of it on, or reads the table of a
# tuple and hands the rest on.
_READ, _FORWARD, _TOP = range(3)
_KINDS = 3


class Users:
    """The users of each instruction by name, each with the number of the operand.

    ``doubled`` are names of several instructions, of which nothing can be said. Large steps have a
    hundred thousand instructions: each name is a number here, and each operand a place in arrays.
    """

    def __init__(self) -> None:
        self.roots: set[str] = set()
        self.doubled: set[str] = set()
        self._ids: dict[str, int] = {}
        self._names: list[str] = []
        self._opcodes: list[str] = []  # by id; empty for what is only named as an operand
        self._firsts, self._ends = array("i"), array("i")  # by id: the places of its operands
        # By place, in the order of entering:
        self._operands, self._users, self._numbers = array("i"), array("i"), array("i")
        # The places by operand and by what is done with it, and where those of each begin.
        self._sorted, self._starts = array("i"), array("i")

    def add(self, name: str, opcode: str, operands: Sequence[str]) -> None:
        """Enter an instruction."""
        user = self._id(name)
        if self._opcodes[user]:
            self.doubled.add(name)
        self._opcodes[user] = opcode
        if operands:
            self._firsts[user] = len(self._operands)
            self._operands.extend(map(self._id, operands))
            self._ends[user] = len(self._operands)
            self._users.extend([user] * len(operands))
            self._numbers.extend(range(len(operands)))
        self._sorted = array("i")

    def __contains__(self, name: str) -> bool:
        """Whether an instruction of this name was entered."""
        return bool(self.opcode(name))

    def opcode(self, name: str) -> str | None:
        """The opcode of an instruction, None if it was not entered."""
        number = self._ids.get(name)
        return None if number is None else self._opcodes[number] or None

    def operands(self, name: str) -> list[str] | None:
        """The operands of an instruction, None if it was not entered."""
        if name not in self:
            return None
        own = self._ids[name]
        places = slice(self._firsts[own], self._ends[own])
        return [self._names[number] for number in self._operands[places]]

    def with_opcode(self, opcode: str) -> list[str]:
        """The names of the instructions with this opcode."""
        return [
            name for name, known in zip(self._names, self._opcodes, strict=True) if known == opcode
        ]

    def rows(self, positions: Iterable[str], roots: "set[str] | None" = None) -> set[str]:
        """The rows of uses of the value with these rows of positions.

        What only hands the value on is a use if it is the root of a computation, and a position.
        """
        parts = [parts_of(row) for row in positions]
        known = self.roots if roots is None else roots
        at_roots = {name for name, _ in parts if name in known}
        found: set[str] = set()
        for name, index in parts:
            end = "" if index is None else f" {index}"
            uses = chain(
                self._uses(name, _READ),
                self._uses(name, _TOP) if index in _TOPS else self._tops_at(name, at_roots),
                (use for use in self._uses(name, _FORWARD) if use[0] in at_roots),
            )
            found.update(f"  {user}, operand {number}{end}" for user, number in uses)
        return found

    def _tops_at(self, operand: str, roots: set[str]) -> Iterator[tuple[str, int]]:
        """Uses by roots that read the top of a tuple alone: a tuple may have thousands of these."""
        for root in roots:
            if self.opcode(root) in READS_THE_TOP:
                for number, name in enumerate(self.operands(root) or ()):
                    if name == operand:
                        yield root, number

    def _uses(self, operand: str, kind: int) -> Iterator[tuple[str, int]]:
        operand_id = self._ids.get(operand)
        if operand_id is None:
            return
        if not self._sorted:
            self.sort()
        key = _KINDS * operand_id + kind
        for place in self._sorted[self._starts[key] : self._starts[key + 1]]:
            yield self._names[self._users[place]], self._numbers[place]

    def sort(self) -> None:
        """Put the places in the order of their operands and of what is done, by counting.

        It is done when rows are first asked for, at the latest.
        """
        kinds = array("i", map(_kind, self._opcodes))
        keys = array("i", bytes(kinds.itemsize * len(self._operands)))
        following = array("i", bytes(kinds.itemsize * (_KINDS * len(self._names) + 1)))
        for place, operand in enumerate(self._operands):
            keys[place] = key = _KINDS * operand + kinds[self._users[place]]
            following[key + 1] += 1
            if place % _BREATH == 0:
                checkpoint()
        following = array("i", accumulate(following))
        checkpoint()
        starts = following[:]
        places = array("i", bytes(keys.itemsize * len(keys)))
        for place, key in enumerate(keys):
            places[following[key]] = place
            following[key] += 1
            if place % _BREATH == 0:
                checkpoint()
        self._starts, self._sorted = starts, places

    def _id(self, name: str) -> int:
        number = self._ids.setdefault(name, len(self._names))
        if number == len(self._names):
            self._names.append(name)
            self._opcodes.append("")
            self._firsts.append(0)
            self._ends.append(0)
        return number


def _kind(opcode: str) -> int:
    if opcode in FORWARDS:
        return _FORWARD
    return _TOP if opcode in READS_THE_TOP else _READ


def split_use(row: str) -> tuple[str, int]:
    """The user and the number of the operand in a row of a use."""
    name, _, rest = row[2:].partition(", operand ")
    return name, int(rest.partition(" ")[0])


def users_of_module(index: ModuleIndex) -> Users:
    """Those of all instructions of a module."""
    users = Users()
    for count, record in enumerate(index.instructions.records()):
        if count % _STEP == _STEP - 1:
            checkpoint()
        users.add(record.name, record.opcode, record.operands)
    for computation in index.all_computations():
        root = index.computation(computation).root
        if root is not None:
            users.roots.add(root.name)
        checkpoint()
    users.sort()
    return users
