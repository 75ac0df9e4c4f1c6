"""Facts about values in the result of an instruction and about the bodies that it calls."""

from collections import Counter
from collections.abc import Iterable

from hlo_lsp.ide.hover.values import describe_live_range, is_at_declared_peak
from hlo_lsp.model.display import Fact, count_noun, format_bytes, join_limited
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.model.place import Value
from hlo_lsp.model.source import SourceLine
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine

_MAX_LEAVES = 8
_MAX_LISTED_VALUES = 6


def result_value_facts(dump: DumpSet, name: str, index: str | None) -> list[Fact]:
    """Return facts about the value at a shape index of a result.

    For a whole tuple, the facts include the values of its leaves. If the instruction forwards the
    value of another instruction, allocation and live range are those of the forwarded value.
    """
    facts = []
    value = dump.value_at(name, index)
    leaves = _result_leaves(dump, name)
    if value is not None and value.key == name + (index or "{}"):
        facts.append(Fact("value", f"`{value.mention}`"))
    else:
        forwarded = [
            f"`{held.name}{held.index or ''}`" for at, held in leaves if at == (index or "{}")
        ]
        if forwarded:
            facts.append(Fact("forwards", join_limited(forwarded, _MAX_LISTED_VALUES)))
    if value is not None:
        if value.assigned is not None and value.allocation is not None:
            facts.append(Fact("allocation", _describe_slot(value)))
        facts.append(Fact("live range", describe_live_range(dump, value)))
    return [*facts, *_leaf_facts(dump, name, leaves)] if index is None else facts


def _result_leaves(dump: DumpSet, name: str) -> list[tuple[str, Value]]:
    """Return the shape indices of a result, each with its value."""
    found = []
    for entry in dump.entries_at(name):
        value = None if entry.record.id is None else dump.value(entry.record.id)
        if value is not None:
            places = (place for place in entry.record.positions if place.name == name)
            found += [(place.index or "{}", value) for place in places]
    return found


def _leaf_facts(dump: DumpSet, name: str, leaves: list[tuple[str, Value]]) -> list[Fact]:
    """Return facts about the buffers of a tuple's leaves, the largest first."""
    inner = [(index, value) for index, value in leaves if index != "{}"]
    inner.sort(key=lambda leaf: -(leaf[1].assigned.record.size if leaf[1].assigned else 0))
    facts = [
        Fact(f"leaf {index}", _describe_leaf(dump, name, index, value))
        for index, value in inner[:_MAX_LEAVES]
    ]
    if len(inner) > _MAX_LEAVES:
        facts.append(Fact("other leaves", f"{len(inner) - _MAX_LEAVES:,}"))
    return facts


def _describe_leaf(dump: DumpSet, name: str, index: str, value: Value) -> str:
    parts = []
    if value.name != name or (value.index or "{}") != index:
        parts.append(f"`{value.name}{value.index or ''}`")
    if value.assigned is not None and value.allocation is not None:
        parts.append(f"allocation {_describe_slot(value)}")
    if value.live is not None:
        row = value.live.record
        peak = ", at the declared peak" if is_at_declared_peak(dump, value.live) else ""
        parts.append(f"live {row.start_step}-{row.end_step}{peak}")
    return ", ".join(parts) or f"value {value.id}"


def _describe_slot(value: Value) -> str:
    """Return the text ``24 at offset 512, 4,096 B`` with number, offset, and size."""
    assert value.assigned is not None
    assert value.allocation is not None
    record = value.assigned.record
    number = value.allocation.record.number
    return f"{number} at offset {record.offset:,}, {format_bytes(record.size)}"


_MAX_OPCODES = 8
_MAX_ORIGINS = 4  # operations, and as many source lines
_MAX_SCANNED_INSTRUCTIONS = 2000  # per computation, for its operations and lines
_STRUCTURAL_OPCODES = frozenset({"parameter", "constant", "tuple", "get-tuple-element"})
_INLINED_BODY_OPCODES = frozenset({"fusion", "call", "async-start"})


def body_facts(module: ModuleIndex, computation: ComputationLine) -> list[Fact]:
    """Return the opcodes of a computation with counts, its operations, and its source lines."""
    members = module.members(computation)
    opcodes = Counter(
        member.opcode for member in members if member.opcode not in _STRUCTURAL_OPCODES
    )
    counts = [f"{count:,} {opcode}" for opcode, count in opcodes.most_common()]
    whole = count_noun(len(members), "instruction")
    facts = [Fact("body", f"{whole}: {join_limited(counts, _MAX_OPCODES)}" if counts else whole)]
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
        operations = join_limited([name for name, _ in names.most_common()], _MAX_ORIGINS)
        facts.append(Fact("operations", operations))
    if lines:
        facts.append(Fact("source lines", _describe_lines(line for line, _ in lines.most_common())))
    return facts


def callee_facts(module: ModuleIndex, instruction: InstructionLine) -> list[Fact]:
    """Return facts about what an instruction calls: fused computations, loop bodies, branches."""
    found: dict[str, list[str]] = {}
    is_inlined = instruction.opcode in _INLINED_BODY_OPCODES
    body: list[Fact] = []
    named = [(name, module.named(span.text), span.text) for name, span in instruction.parsed.calls]
    inline = [(callee.attribute, callee, callee.name) for callee in instruction.bodies]
    for attribute, computation, name in (*named, *inline):
        if computation is None:
            size = " (not in this file)"
        elif is_inlined:
            size = ""
            body = body or body_facts(module, computation)
        else:
            size = f" ({count_noun(len(module.members(computation)), 'instruction')})"
        found.setdefault(attribute.replace("_", " "), []).append(f"`{name}`{size}")
    return [
        *(Fact(attribute, join_limited(names, _MAX_OPCODES)) for attribute, names in found.items()),
        *_facts_new_to_caller(module, instruction, body),
    ]


def _facts_new_to_caller(
    module: ModuleIndex, caller: InstructionLine, body: list[Fact]
) -> list[Fact]:
    """Return the facts about a body that do not repeat facts about its caller."""
    metadata = caller.parsed.metadata
    own = {_operation(metadata), str(_innermost(module, metadata))}
    return [fact for fact in body if fact.text not in own]


def _operation(metadata: dict[str, str]) -> str:
    return f"`{metadata.get('op_name', '').replace('`', chr(39))}`"


def _describe_lines(lines: Iterable[tuple[str, int]]) -> str:
    """Return Python lines as text; consecutive lines of one file show the folder once."""
    words: list[str] = []
    previous = None
    for file, line in lines:
        name = file.replace("\\", "/").rpartition("/")[2] if file == previous else file
        words.append(f"{name}:{line}")
        previous = file
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
