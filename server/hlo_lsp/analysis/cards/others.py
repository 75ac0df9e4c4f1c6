"""Cards for everything that is no value: instructions, allocations, spaces, words."""

from hlo_lsp.analysis.cards.card import Card, Fact, counted, listed
from hlo_lsp.analysis.cards.glossary import explain
from hlo_lsp.analysis.cards.shapes import logical_facts, shape_words, size_facts, space_words
from hlo_lsp.analysis.cards.values import (
    allocation_kind,
    live_words,
    source_facts,
)
from hlo_lsp.analysis.sharing import crowded_offset
from hlo_lsp.analysis.target import target_of
from hlo_lsp.model.backend import Backend, space_name
from hlo_lsp.model.bytesize import readable
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.shape import leaf_text, try_shape
from hlo_lsp.model.value import Located
from hlo_lsp.syntax.memory_records import AllocationLine
from hlo_lsp.syntax.thunk_scanner import ThunkRow

_SHOWN = 6  # names in a list


def instruction_card(dump: DumpSet, name: str, index: str | None = None) -> Card | None:
    """What an instruction is, when it runs, and which values it defines and uses.

    With an index: of that leaf of its result.
    """
    text = dump.text_of(name)
    step = dump.step(name)
    entries = list(dump.entries_at(name))
    used = list(dump.entries_used_by(name))
    if text is None and step is None and not entries and not used:
        return None
    facts: list[Fact] = []
    key = name + (index or "{}")
    leaf = None if text is None else leaf_text(text.shape.text, index)
    if leaf is not None:
        shape = try_shape(leaf)
        words = leaf[:120] if shape is None else shape_words(shape)
        facts.append(Fact("result" if index is None else f"leaf {index}", words))
        facts += _size_facts(dump, key, leaf)
    if text is not None and text.operands:
        operands = [f"`{operand.text}`" for operand in text.operands]
        facts.append(Fact("operands", f"{len(operands)}: {listed(operands, _SHOWN)}"))
    if step is not None:
        facts.append(Fact("runs", f"at step {step.record.step} of {dump.last_step}"))
    facts += _value_facts(dump, name, index)
    if used:
        names = [f"`{entry.record.name}{entry.record.index or ''}`" for entry in used]
        facts.append(Fact("uses", f"{counted(len(used), 'value')}: {listed(names, _SHOWN)}"))
    if text is not None:
        facts += source_facts(dump, text)
    opcode = "" if text is None else f" {text.opcode.text}"
    return Card(f"`{name}{index or ''}`{opcode}", tuple(facts))


def allocation_card(dump: DumpSet, allocation: Located[AllocationLine]) -> Card:
    """What an allocation is for and what lies in it."""
    record = allocation.record
    values = list(dump.assigned_to(allocation))
    backend = target_of(dump).backend
    facts = [
        Fact("size", readable(record.size)),
        Fact("kind", allocation_kind(record)),
        Fact("memory space", space_words(record.color, backend)),
        Fact("values", f"{len(values):,}"),
    ]
    if record.output_shape is not None:
        facts.append(Fact("output shape", f"`{record.output_shape[:200]}`"))
    if record.parameter_shape is not None:
        facts.append(Fact("parameter shape", f"`{record.parameter_shape[:200]}`"))
    crowded = crowded_offset(dump, allocation)
    if crowded is not None:
        offset, count = crowded
        facts.append(Fact("time-sharing", f"{count:,} values take turns at offset {offset:,}"))
    if values:
        largest = sorted(values, key=lambda value: (-value.size, value.id))
        names = [f"`{v.name}{v.index or ''}` {readable(v.size)}" for v in largest]
        facts.append(Fact("largest", listed(names, 3)))
    if record.parameter is not None and record.maybe_live_out:
        facts.append(Fact("donation", "the caller's buffer is reused for an output"))
    return Card(f"allocation {record.number}", tuple(facts))


def space_card(number: int, backend: Backend) -> Card:
    """What a memory space is."""
    name = space_name(number, backend)
    return Card(
        f"memory space {number}" if name is None else f"memory space {number}: {name}",
        (Fact("here", space_words(number, backend)),),
        "`color N` of an allocation, `@N` of a value and `S(N)` of a layout are the same number.",
    )


def word_card(word: str) -> Card | None:
    """What a word of the format means."""
    entry = explain(word)
    return None if entry is None else Card(entry[0], text=entry[1])


def thunk_card(dump: DumpSet, row: ThunkRow, instruction: str | None) -> Card:
    """A thunk, and the instruction that it runs."""
    facts = [] if row.kernel is None else [Fact("kernel", f"`{row.kernel}`")]
    if instruction is None:
        facts.append(Fact("instruction", "not said by the dump"))
        return Card(f"thunk {row.kind}", tuple(facts))
    facts.append(Fact("instruction", f"`{instruction}`"))
    card = instruction_card(dump, instruction)
    number = "" if row.id is None else f" {row.id}"
    return Card(f"thunk{number} {row.kind}", (*facts, *(card.facts if card is not None else ())))


def _size_facts(dump: DumpSet, key: str, shape: str) -> list[Fact]:
    """Bytes of a result; padded ones only where the layout that counts is printed.

    Before buffer assignment, and inside of fusions, an untiled shape says nothing of memory.
    """
    value = dump.value_of_key(key)
    if value is None and "T(" not in shape:
        return logical_facts(shape)
    size = None if value is None or value.assigned is None else value.assigned.record.size
    color = 0 if value is None else value.color or 0
    return size_facts(shape, target_of(dump), color, size)


def _value_facts(dump: DumpSet, name: str, index: str | None) -> list[Fact]:
    facts = []
    value = dump.value_of_key(name + (index or "{}"))
    if value is not None:
        facts.append(Fact("value", f"`{value.mention}`"))
        if value.assigned is not None and value.allocation is not None:
            place = value.assigned.record
            facts.append(
                Fact(
                    "lies in",
                    f"allocation {value.allocation.record.number} at offset {place.offset:,}, "
                    f"{readable(place.size)}",
                )
            )
        facts.append(Fact("live", live_words(dump, value)))
        return facts
    flowing = [
        entry
        for entry in dump.entries_at(name)
        if any(
            position.name == name and (position.index or "{}") == (index or "{}")
            for position in entry.record.positions
        )
    ]
    names = [f"`{entry.record.name}{entry.record.index or ''}`" for entry in flowing]
    return [Fact("passes on", listed(names, _SHOWN))] if names else []
