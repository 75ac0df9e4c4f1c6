"""Instructions of two module texts that correspond, found by structure and not by name.

A matching has several passes, from certain to likely. Names, ids, and channel numbers take no part,
so a renumbered module matches completely. A ``get-tuple-element`` is only a way to name an operand
(newer compilers print ``tuple#1`` instead), and takes part only as the root of a computation.
"""

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.hlo.dataflow import callees_first
from hlo_lsp.hlo.vocabulary import CALLING_OPCODES
from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.model.unprinted_instructions import text_of_start
from hlo_lsp.syntax.metadata_text import unescape
from hlo_lsp.syntax.module_records import ComputationLine, InlineComputation, InstructionLine
from hlo_lsp.syntax.texts_without_names import METADATA

# What differs between equal compiles: names, metadata (compared apart), channel numbers, and the
# configuration that a backend chooses, which XLA prints last.
_OP_NAME = re.compile(r'\bop_name="((?:[^"\\]|\\.)*)"')
_VARYING = re.compile(r"%[\w.\-]+(?:#\d+)*|\bchannel_id=\d+")
_INDEX = re.compile(r"\bindex=(\d{1,9})\b")  # of an element
_BACKEND_CONFIG = ", backend_config="
# Parts of a text that vary between equal compiles, except for names and the configuration.
VARYING_PARTS = re.compile(rf", channel_id=\d+|{METADATA.pattern}")
_MAX_ROUNDS = 50  # of a pass that follows operands and users; each adds at least one pair


class MatchReason(Enum):
    """The reason why two instructions correspond, from certain to likely."""

    SAME_INPUTS = "same operation on the same inputs"
    SAME_OP_NAME = "same operation with the same op_name"
    NEIGHBORS = "same opcode between instructions that correspond"
    ORDER = "same opcode and shape or op_name, in order"


@dataclass(slots=True, eq=False)
class Node:
    """An instruction of a scheduled computation.

    Attributes:
        operation: Shape, opcode, and attributes without names.
        content: Hash of the computations that a fusion or reduction applies.
        inputs: Hash of the operation and, recursively, of its operands.
        operands: The instructions that it reads.
        elements: For each operand the element that it reads, such as ``#1``; empty for the whole.
        users: The instructions that read it, each with the number of the operand.
    """

    record: InstructionLine
    operation: tuple[str, str, str]
    op_name: str
    content: int
    inputs: int = 0
    operands: "list[Node]" = field(default_factory=list)
    elements: list[str] = field(default_factory=list)
    users: "list[tuple[int, Node]]" = field(default_factory=list)
    match: "Node | None" = None
    reason: MatchReason | None = None

    @property
    def opcode(self) -> str:
        """The opcode of the normal form of asynchronous operations."""
        return self.operation[1]

    @property
    def is_changed(self) -> bool:
        """True if the operation, or what it reads, differs from the counterpart."""
        other = self.match
        return other is not None and (
            self.operation != other.operation
            or self.content != other.content
            or self.elements != other.elements
            or self.other_operand is not None
        )

    @property
    def calls_other_computation(self) -> bool:
        """True if the only difference is in a computation that a fusion or reduction applies."""
        other = self.match
        return other is not None and (
            self.operation == other.operation
            and self.elements == other.elements
            and self.other_operand is None
            and self.content != other.content
        )

    @property
    def other_operand(self) -> "tuple[Node, Node] | None":
        """The first operand and that of the counterpart if they correspond to others; or None.

        An operand without a counterpart is a difference of its own, and one that has it only by its
        order is uncertain.
        """
        other = self.match
        if other is None or self.inputs == other.inputs:
            return None
        for one, two in zip(self.operands, other.operands, strict=False):
            reasons = {one.reason, two.reason}
            if one.match is not two and not reasons & {None, MatchReason.ORDER}:
                return one, two
        return None


@dataclass(frozen=True, slots=True)
class Matching:
    """The scheduled instructions of two modules by name, each with its counterpart.

    ``computations`` are the pairs of computations whose instructions were matched.
    """

    before: Mapping[str, Node]
    after: Mapping[str, Node]
    computations: tuple[tuple[ComputationLine, ComputationLine], ...] = ()

    @property
    def pairs(self) -> Iterator[tuple[Node, Node]]:
        """The pairs of corresponding instructions."""
        return ((node, node.match) for node in self.before.values() if node.match is not None)

    @property
    def share(self) -> float:
        """The share of the instructions of both modules that correspond to another."""
        total = len(self.before) + len(self.after)
        return 2 * sum(1 for _ in self.pairs) / total if total else 1.0


def match_instructions(
    before: ModuleIndex, after: ModuleIndex, *, is_deep: bool = False
) -> Matching:
    """Match the instructions of the entry computations, and of the computations they run.

    Instructions of fused computations are a part of their fusion, unless ``is_deep``.
    """
    sides = _Side(before), _Side(after)
    seen = _match_computations(*sides, [(before.entry, after.entry)], is_deep=is_deep)
    for side in sides:
        side.read_all()
    return Matching(sides[0].by_name, sides[1].by_name, seen)


def instruction_names(before: ModuleIndex, after: ModuleIndex) -> dict[str, str | None]:
    """Return the names of scheduled instructions with those of their counterparts, else None."""
    matching = match_instructions(before, after)
    return {
        name: None if node.match is None else node.match.record.name
        for name, node in matching.before.items()
    }


def computation_names(before: ModuleIndex, after: ModuleIndex) -> dict[str, str | None]:
    """Return the names of computations with those of their counterparts, else None.

    Only computations whose instructions run correspond: entry computations, and the bodies that
    corresponding loops, conditionals, and calls run.
    """
    found: dict[str, str | None] = {one.name: None for one in before.computations.records()}
    taken = set()
    for one, other in match_instructions(before, after).computations:
        if found[one.name] is None and other not in taken:
            found[one.name] = other.name
            taken.add(other)
    return found


def match_called(before: ModuleIndex, after: ModuleIndex, node: Node) -> Matching:
    """Match the instructions of the computations that an instruction and its counterpart apply.

    Args:
        before: The module of the instruction.
        after: The module of its counterpart.
        node: Such as a fusion.
    """
    sides = _Side(before), _Side(after)
    called = [] if node.match is None else _called_pairs(*sides, node, node.match)
    seen = _match_computations(*sides, called, is_deep=True)
    return Matching(sides[0].by_name, sides[1].by_name, seen)


_Heads = tuple[ComputationLine, ComputationLine]


def _match_computations(
    first: "_Side",
    second: "_Side",
    queue: "list[tuple[ComputationLine | None, ComputationLine | None]]",
    *,
    is_deep: bool,
) -> tuple[_Heads, ...]:
    """Match the instructions of pairs of computations, and of those that they run.

    Returns:
        All pairs.
    """
    seen: dict[_Heads, None] = {}
    while queue:
        one, other = queue.pop(0)
        if one is None or other is None or (one, other) in seen:
            continue
        seen[one, other] = None
        nodes, others = first.nodes(one), second.nodes(other)
        _match(nodes, others)
        for node in nodes:
            if node.match is not None and (is_deep or node.record.opcode in CALLING_OPCODES):
                queue += _called_pairs(first, second, node, node.match)
    return tuple(seen)


def _called_pairs(
    first: "_Side", second: "_Side", node: Node, other: Node
) -> "list[tuple[ComputationLine | None, ComputationLine | None]]":
    called = first.module.called_by(node.record), second.module.called_by(other.record)
    return list(zip(*called, strict=False))


class _Side:
    """The nodes of one module."""

    def __init__(self, module: ModuleIndex) -> None:
        self.module = module
        self._contents = _Contents(module)
        self._nodes: dict[ComputationLine, list[Node]] = {}
        self.by_name: dict[str, Node] = {}

    def nodes(self, head: ComputationLine) -> list[Node]:
        """Return the nodes of a computation in text order, which defines operands first."""
        if head not in self._nodes:
            aliases = element_names(self.module, head)
            known: dict[str, Node] = {}
            for record in self.module.computation(head).members:
                checkpoint()
                if record.name not in aliases:
                    known[record.name] = self._node(record, known, aliases)
            self._nodes[head] = list(known.values())
            self.by_name.update(known)
        return self._nodes[head]

    def read_all(self) -> None:
        """Read the computations that run but have no counterpart."""
        queue = [self.module.entry]
        seen = set(queue)
        while queue:
            head = queue.pop()
            for node in [] if head is None else self.nodes(head):
                if node.record.opcode in CALLING_OPCODES:
                    called = [one for one in self.module.called_by(node.record) if one not in seen]
                    seen.update(called)
                    queue += called

    def _node(
        self, record: InstructionLine, known: Mapping[str, Node], aliases: Mapping[str, str]
    ) -> Node:
        operation, op_name = _operation(self.module, record)
        content = 0
        if record.opcode not in CALLING_OPCODES:
            content = self._contents.called_by(record)
        node = Node(record, operation, op_name, content)
        for number, read in enumerate(record.reads):
            name, mark, element = aliased(read, aliases).partition("#")
            if (operand := known.get(name)) is not None:
                node.operands.append(operand)
                node.elements.append(mark + element)
                operand.users.append((number, node))
        inputs = (operand.inputs for operand in node.operands)
        node.inputs = hash((operation, op_name, content, *inputs, *node.elements))
        return node


def element_names(module: ModuleIndex, head: ComputationLine) -> dict[str, str]:
    """Return the element, such as ``tuple#1``, that each ``get-tuple-element`` selects.

    The root of a computation is not among them.
    """
    computation = module.computation(head)
    found: dict[str, str] = {}
    for record in computation.members:
        if record.opcode == "get-tuple-element" and record is not computation.root:
            index = _INDEX.search(record.text, record.opened)
            operands = record.operands
            if index is not None and len(operands) == 1 and operands[0]:
                found[record.name] = f"{aliased(operands[0], found)}#{index[1]}"
    return found


def aliased(name: str, aliases: Mapping[str, str]) -> str:
    """Return an operand with the element in place of the name of a ``get-tuple-element``."""
    name, mark, element = name.partition("#")
    return aliases.get(name, name) + mark + element


class _Contents:
    """Hashes of the computations of a module without names."""

    def __init__(self, module: ModuleIndex, *, has_kernels: bool = False) -> None:
        self._module = module
        self._has_kernels = has_kernels
        self._known: dict[ComputationLine, int] = {}

    def called_by(self, record: InstructionLine) -> int:
        """Return a hash of the computations that an instruction calls, 0 if there are none."""
        called = self._module.called_by(record)
        return hash(tuple(map(self.of, called))) if called else 0

    def of(self, head: ComputationLine) -> int:
        """Return a hash of a computation and of those that it calls."""
        if head not in self._known:
            order = [*callees_first(head, self._called_from, self._known.__contains__)]
            self._known.update(dict.fromkeys(order, 0))  # for damaged texts that call themselves
            for one in order:
                self._known[one] = self._hash(one)
        return self._known[head]

    def _called_from(self, head: ComputationLine) -> Iterator[ComputationLine]:
        for record in self._module.computation(head).members:
            yield from self._module.called_by(record)

    def _hash(self, head: ComputationLine) -> int:
        """Return the hash of a computation, of whose callees it is known."""
        aliases = element_names(self._module, head)
        places: dict[str, int] = {}
        found: list[object] = []
        for record in self._module.computation(head).members:
            checkpoint()
            if record.name in aliases:
                continue
            places[record.name] = len(places)
            reads = (aliased(name, aliases).partition("#") for name in record.reads)
            operands = tuple((places.get(name, -1), element) for name, _, element in reads)
            found += (
                _operation(self._module, record)[0],
                record.is_root,
                operands,
                self.called_by(record),
            )
            if self._has_kernels and record.opcode == "custom-call":
                found.append(record.text.partition(_BACKEND_CONFIG)[2])
        return hash(tuple(found))


@dataclass(frozen=True, slots=True)
class DuplicateComputations:
    """Computations with the same body, in text order, and the number of its instructions."""

    computations: tuple[ComputationLine, ...]
    instructions: int

    @property
    def saved(self) -> int:
        """Number of redundant instructions."""
        return self.instructions * (len(self.computations) - 1)


def find_duplicate_computations(module: ModuleIndex, least: int) -> list[DuplicateComputations]:
    """Return groups of computations with equal bodies of at least ``least`` instructions.

    Names, metadata, and backend configurations are ignored, except for the backend configuration of
    custom calls, which contains the kernel. Callees must be equal as well.
    """
    contents = _Contents(module, has_kernels=True)
    alike: dict[int, list[ComputationLine]] = {}
    for head in module.all_computations():
        if not isinstance(head, InlineComputation) and len(module.members(head)) >= least:
            alike.setdefault(contents.of(head), []).append(head)
    groups = [
        DuplicateComputations(tuple(heads), len(module.members(heads[0])))
        for heads in alike.values()
        if len(heads) > 1
    ]
    return sorted(groups, key=lambda group: (-group.saved, group.computations[0].line))


def _operation(module: ModuleIndex, record: InstructionLine) -> tuple[tuple[str, str, str], str]:
    """Return shape, opcode, and attributes of an instruction without names, and its op_name."""
    rest = record.text[record.opened :]
    if record.wrapped_opcode:
        rest = text_of_start(record)
    elif "%" not in record.text:
        rest = with_other_names(record, record.opened, lambda _: "", lambda _: "")
    metadata = METADATA.search(rest)
    op_name = ""
    if metadata is not None:
        rest = rest[: metadata.start()] + rest[metadata.end() :]
        if (match := _OP_NAME.search(metadata[0])) is not None:
            op_name = unescape(match[1])
    if record.opcode == "parameter" and op_name:
        rest = ""  # the name of an argument is a better match than its number
    attributes = _VARYING.sub("", rest.partition(_BACKEND_CONFIG)[0])
    return (record.shape, module.opcode(record), attributes), op_name


def with_other_names(
    record: InstructionLine,
    start: int,
    instruction: Callable[[str], str],
    computation: Callable[[str], str],
) -> str:
    """Return the text from a column on with other names, of a text that prints no ``%``."""
    parsed = record.parsed
    spans = dict.fromkeys((parsed.name, *parsed.reads, *parsed.predecessors), instruction)
    spans.update(dict.fromkeys(parsed.called, computation))
    parts, last = [], start
    for span in sorted(spans, key=lambda span: span.start):
        if span.start >= last:
            parts += [record.text[last : span.start], spans[span](span.text)]
            last = span.end
    return "".join([*parts, record.text[last:]])


_Key = Callable[[Node], Hashable | None]
# From certain to likely: what two instructions have in common that are paired in order.
_KEYS_IN_ORDER: tuple[_Key, ...] = (
    lambda node: (node.operation, node.op_name),
    lambda node: (node.opcode, node.record.shape, node.op_name),
    lambda node: (node.opcode, node.op_name) if node.op_name else None,
    lambda node: (node.opcode, node.record.shape),
)


def _match(before: list[Node], after: list[Node]) -> None:
    """Match the instructions of two computations."""
    _pair(before, after, lambda node: node.inputs, MatchReason.SAME_INPUTS)
    _pair(
        before,
        after,
        lambda node: (node.operation, node.content, node.op_name),
        MatchReason.SAME_OP_NAME,
    )
    _pair_neighbors(before, after)
    for key in _KEYS_IN_ORDER:
        _pair(before, after, key, MatchReason.ORDER, is_exact=False)
        _pair_neighbors(before, after)


def _pair_neighbors(before: list[Node], after: list[Node]) -> None:
    for _ in range(_MAX_ROUNDS):
        found = _pair(before, after, _by_operands, MatchReason.NEIGHBORS)
        found += _pair(before, after, _by_user, MatchReason.NEIGHBORS)
        if not found:
            return


def _by_operands(node: Node) -> Hashable | None:
    """Return the opcode and the operands by their counterparts; None unless all have one."""
    operands = [_pair_id(operand) for operand in node.operands]
    is_known = operands and None not in operands
    return (node.opcode, *operands, *node.elements) if is_known else None


def _by_user(node: Node) -> Hashable | None:
    """Return the opcode and the first user by its counterpart; None if it has none."""
    if not node.users:
        return None
    number, user = node.users[0]
    known = _pair_id(user)
    return None if known is None else (node.opcode, number, known)


def _pair_id(node: Node) -> int | None:
    """Return a number that is the same for two corresponding instructions."""
    return None if node.match is None else min(id(node), id(node.match))


def _pair(
    before: Iterable[Node],
    after: Iterable[Node],
    key: _Key,
    reason: MatchReason,
    *,
    is_exact: bool = True,
) -> int:
    """Pair the instructions of each key in order, and return the number of pairs.

    If ``is_exact``, both modules must have as many instructions of the key.
    """
    first, second = _by_key(before, key), _by_key(after, key)
    count = 0
    for name, nodes in first.items():
        others = second.get(name, [])
        if is_exact and len(nodes) != len(others):
            continue
        for node, other in zip(nodes, others, strict=False):
            node.match, other.match = other, node
            node.reason = other.reason = reason
            count += 1
    return count


def _by_key(nodes: Iterable[Node], key: _Key) -> dict[Hashable, list[Node]]:
    found: dict[Hashable, list[Node]] = {}
    for node in nodes:
        if node.match is None and (name := key(node)) is not None:
            found.setdefault(name, []).append(node)
    return found
