"""The values that the result of an instruction holds: where they lie and how long they live."""

from collections import Counter
from collections.abc import Iterable

from hlo_lsp.ide.hover.values import describe_live_range, is_at_declared_peak
from hlo_lsp.model.bytesize import format_bytes
from hlo_lsp.model.card import Fact, count_noun, join_limited
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.model.source import SourceLine
from hlo_lsp.model.value import Value
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine

_MAX_LEAVES = 8  # of a tuple, the largest
_MAX_LISTED_VALUES = 6  # names in a list


def result_value_facts(dump: DumpSet, name: str, index: str | None) -> list[Fact]:
    """Return the value at an index of a result, and for a whole tuple the values of its leaves.

    The instruction may forward a value that another one defines: then its place and its live range
    are those of the forwarded value.
    """
    facts = []
    value = dump.value_at(name, index)
    leaves = _result_leaves(dump, name)
    if value is not None and value.key == name + (index or "{}"):
        facts.append(Fact("value", f"`{value.mention}`"))
    else:
        passed = [
            f"`{held.name}{held.index or ''}`" for at, held in leaves if at == (index or "{}")
        ]
        if passed:
            facts.append(Fact("passes on", join_limited(passed, _MAX_LISTED_VALUES)))
    if value is not None:
        if value.assigned is not None and value.allocation is not None:
            facts.append(Fact("lies in", _describe_slot(value)))
        facts.append(Fact("live", describe_live_range(dump, value)))
    return [*facts, *_leaf_facts(dump, name, leaves)] if index is None else facts


def _result_leaves(dump: DumpSet, name: str) -> list[tuple[str, Value]]:
    """The values in a result with the indices at which they are."""
    found = []
    for entry in dump.entries_at(name):
        value = None if entry.record.id is None else dump.value(entry.record.id)
        if value is not None:
            places = (place for place in entry.record.positions if place.name == name)
            found += [(place.index or "{}", value) for place in places]
    return found


def _leaf_facts(dump: DumpSet, name: str, leaves: list[tuple[str, Value]]) -> list[Fact]:
    """The leaves of a tuple that are buffers, the largest first."""
    inner = [(index, value) for index, value in leaves if index != "{}"]
    inner.sort(key=lambda leaf: -(leaf[1].assigned.record.size if leaf[1].assigned else 0))
    facts = [
        Fact(f"leaf {index}", _describe_leaf(dump, name, index, value))
        for index, value in inner[:_MAX_LEAVES]
    ]
    if len(inner) > _MAX_LEAVES:
        facts.append(Fact("and", f"{len(inner) - _MAX_LEAVES:,} more"))
    return facts


def _describe_leaf(dump: DumpSet, name: str, index: str, value: Value) -> str:
    parts = []
    if value.name != name or (value.index or "{}") != index:
        parts.append(f"`{value.name}{value.index or ''}`")
    if value.assigned is not None and value.allocation is not None:
        parts.append(_describe_slot(value))
    if value.live is not None:
        row = value.live.record
        peak = ", at the declared peak" if is_at_declared_peak(dump, value.live) else ""
        parts.append(f"live {row.start_step}-{row.end_step}{peak}")
    return ", ".join(parts) or f"value {value.id}"


def _describe_slot(value: Value) -> str:
    """``allocation 24 at offset 512, 4,096 B``."""
    assert value.assigned is not None
    assert value.allocation is not None
    record = value.assigned.record
    number = value.allocation.record.number
    return f"allocation {number} at offset {record.offset:,}, {format_bytes(record.size)}"


_MAX_OPCODES = 8
_MAX_ORIGINS = 4  # operations and lines that are shown
_MAX_SCANNED_INSTRUCTIONS = (
    2000  # instructions of a computation that are read for what they came from
)
_STRUCTURAL_OPCODES = frozenset({"parameter", "constant", "tuple", "get-tuple-element"})
_INLINED_BODY_OPCODES = frozenset({"fusion", "call", "async-start"})


def body_facts(module: ModuleIndex, computation: ComputationLine) -> list[Fact]:
    """What a computation does: its opcodes with counts, and the operations and lines it is from."""
    members = module.members(computation)
    opcodes = Counter(
        member.opcode for member in members if member.opcode not in _STRUCTURAL_OPCODES
    )
    counts = [f"{count:,} {opcode}" for opcode, count in opcodes.most_common()]
    whole = count_noun(len(members), "instruction")
    facts = [Fact("inside", f"{whole}: {join_limited(counts, _MAX_OPCODES)}" if counts else whole)]
    names: Counter[str] = Counter()
    lines: Counter[tuple[str, int]] = Counter()
    for member in members[:_MAX_SCANNED_INSTRUCTIONS]:
        metadata = member.parsed.metadata
        if metadata.get("op_name"):
            names[_operation(metadata)] += 1
        source = _innermost(module, metadata)
        if source is not None:
            lines[source.file, source.line] += 1
    if names:
        shown = join_limited([name for name, _ in names.most_common()], _MAX_ORIGINS)
        facts.append(Fact("operations", shown))
    if lines:
        facts.append(Fact("from lines", _describe_lines(line for line, _ in lines.most_common())))
    return facts


def callee_facts(module: ModuleIndex, instruction: InstructionLine) -> list[Fact]:
    """What an instruction calls: the inside of a fusion, the bodies of loops and branches."""
    found: dict[str, list[str]] = {}
    shown = instruction.opcode in _INLINED_BODY_OPCODES
    inside: list[Fact] = []
    named = [(name, module.named(span.text), span.text) for name, span in instruction.parsed.calls]
    inline = [(body.attribute, body, body.name) for body in instruction.bodies]
    for attribute, computation, name in (*named, *inline):
        if computation is None:
            size = " (not in this file)"
        elif shown:
            size = ""
            inside = inside or body_facts(module, computation)
        else:
            size = f" ({count_noun(len(module.members(computation)), 'instruction')})"
        found.setdefault(attribute.replace("_", " "), []).append(f"`{name}`{size}")
    return [
        *(Fact(attribute, join_limited(names, _MAX_OPCODES)) for attribute, names in found.items()),
        *_facts_new_to_caller(module, instruction, inside),
    ]


def _facts_new_to_caller(
    module: ModuleIndex, caller: InstructionLine, inside: list[Fact]
) -> list[Fact]:
    """The facts about a body without those that its caller says of itself."""
    metadata = caller.parsed.metadata
    own = {_operation(metadata), str(_innermost(module, metadata))}
    return [fact for fact in inside if fact.text not in own]


def _operation(metadata: dict[str, str]) -> str:
    return f"`{metadata.get('op_name', '').replace('`', chr(39))}`"


def _describe_lines(lines: Iterable[tuple[str, int]]) -> str:
    """Lines of Python; a file that was just named with its folder is named without."""
    words: list[str] = []
    before = None
    for file, line in lines:
        name = file.replace("\\", "/").rpartition("/")[2] if file == before else file
        words.append(f"{name}:{line}")
        before = file
    return join_limited(words, _MAX_ORIGINS)


def _innermost(module: ModuleIndex, metadata: dict[str, str]) -> SourceLine | None:
    if "source_file" in metadata:
        line = metadata.get("source_line", "")
        number = int(line) if line.isdecimal() and len(line) < 10 else 1
        return SourceLine(metadata["source_file"], number)
    frame = metadata.get("stack_frame_id", "")
    if not frame.isdecimal() or len(frame) > 9:
        return None
    return next(module.tables.stack(int(frame)), None)
