"""Attributes that may be written at the cursor, and what may stand behind their ``=``."""

from collections.abc import Iterable, Iterator

from hlo_lsp.hlo.entries import Attribute, AttributeKind
from hlo_lsp.hlo.vocabulary import vocabulary
from hlo_lsp.ide.completion import names
from hlo_lsp.ide.completion.candidates import Candidate, Kind, of_value, stop, word
from hlo_lsp.ide.completion.draft import Draft
from hlo_lsp.ide.completion.names import operand_shapes
from hlo_lsp.ide.completion.slots import KeyValueSlot, Surroundings, ValueSlot, keys_in, parts_of
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.shape import element_texts, without_layout

_LISTS = {AttributeKind.ENUMS, AttributeKind.COMPUTATIONS, AttributeKind.INSTRUCTIONS}
# Attributes whose keys have values; those of the others are words of their own.
_PAIRED = {
    "metadata", "window", "result_accuracy", "statistics", "domain", "sparsity_config",
    "block_scaling_config",
}  # fmt: skip
# metadata.cc: these keys have strings, the others numbers.
_QUOTED = {
    "op_type", "op_name", "source_file", "deduplicated_name", "scheduling_name",
    "metadata_payload",
}  # fmt: skip
_USUAL = {"metadata", "sharding"}
_USUAL_KEYS = ("op_name", "stack_frame_id", "source_file", "source_line")


def of_opcode(opcode: str, present: frozenset[str]) -> Iterator[Candidate]:
    """Attributes that an instruction has not yet: required ones, its own, then common ones."""
    words = vocabulary()
    known = words.opcode(opcode)
    groups = () if known is None else known.required
    # One of a group that is there makes the others of that group wrong.
    closed = {name for group in groups if present & set(group) for name in group}
    missing = {name for group in groups if not present & set(group) for name in group}
    own = () if known is None else known.attributes
    common = sorted(words.common, key=lambda name: name not in _USUAL)
    for name in dict.fromkeys((*own, *common)):
        if name in present or name in closed:
            continue
        attribute = words.attribute(name, opcode)
        if attribute is not None:
            detail = "required" if name in missing else "" if name in own else "any opcode"
            yield _named(attribute, detail, ("attribute", opcode))


def of_header(present: frozenset[str]) -> Iterator[Candidate]:
    """Attributes that the module has not yet."""
    for name, attribute in vocabulary().header.items():
        if name not in present:
            yield _named(attribute, "", ("header", ""))


def values(draft: Draft, slot: ValueSlot, around: Surroundings, typed: str) -> Iterable[Candidate]:
    """What may stand behind the ``=`` of an attribute, or in its braces."""
    words = vocabulary()
    attribute = (
        words.header.get(slot.attribute)
        if slot.opcode is None
        else words.attribute(slot.attribute, slot.opcode)
    )
    if attribute is None:
        return ()
    if slot.within is not None and attribute.keys:
        return _keys(attribute, slot)
    if (slot.opcode, slot.attribute) == ("get-tuple-element", "index"):
        return list(_elements(draft, around)) or [_example(attribute)]
    items = list(_items(draft, attribute, around, typed))
    if attribute.kind not in _LISTS:
        return () if slot.within is not None else items or [_example(attribute)]
    if slot.within is None:
        return map(_in_braces, items)
    there = {item.strip().removeprefix("%") for item in slot.within.split(",")[:-1]}
    return (item for item in items if item.label.removeprefix("%") not in there)


def key_values(file: DumpFile, slot: KeyValueSlot) -> Iterator[Candidate]:
    """The rows of ``StackFrames`` behind ``stack_frame_id=``, each with its Python line."""
    if (slot.attribute, slot.key) != ("metadata", "stack_frame_id"):
        return
    tables = file.module.tables
    for number in range(1, len(tables.frames) + 1):
        innermost = next(tables.stack(number), None)
        yield word(str(number), Kind.VALUE, "" if innermost is None else str(innermost))


def _elements(draft: Draft, around: Surroundings) -> Iterator[Candidate]:
    """The numbers of the elements of the operand: those of the result's shape first."""
    shapes, parts = operand_shapes(draft, around), parts_of(draft.front)
    elements = element_texts(shapes[0] or "") if shapes else None
    result = "" if parts is None else without_layout(parts.shape)
    numbered = enumerate(elements or ())
    for number, shape in sorted(numbered, key=lambda found: found[1] != result):
        yield word(str(number), Kind.VALUE, shape)


def _items(
    draft: Draft, attribute: Attribute, around: Surroundings, typed: str
) -> Iterable[Candidate]:
    if attribute.kind.names_computations:
        return names.computations(draft, attribute.name, around, typed)
    if attribute.kind is AttributeKind.INSTRUCTIONS:
        return names.instructions(draft, around, typed)
    return (word(value, Kind.VALUE) for value in attribute.values)


def _keys(attribute: Attribute, slot: ValueSlot) -> Iterator[Candidate]:
    present = keys_in(slot.within or "")
    paired = attribute.name in _PAIRED
    usual = [key for key in _USUAL_KEYS if key in attribute.keys]
    for key in dict.fromkeys((*usual, *attribute.keys)):
        if key in present:
            continue
        about = (f"key {attribute.name}", key)
        if not paired:
            yield word(key, Kind.KEY, about=about)
        elif attribute.name == "metadata" and key in _QUOTED:
            yield Candidate(key, Kind.KEY, f"{key}=", f'{key}="$1"', about=about)
        else:
            yield Candidate(key, Kind.KEY, f"{key}=", about=about)


def _named(attribute: Attribute, detail: str, about: tuple[str, str]) -> Candidate:
    kind, opcode = about
    return Candidate(
        attribute.name,
        Kind.ATTRIBUTE,
        f"{attribute.name}=",
        f"{attribute.name}={of_value(attribute, 1)}",
        detail,
        (f"{kind} {opcode}".rstrip(), attribute.name),
    )


def _example(attribute: Attribute) -> Candidate:
    return Candidate(
        attribute.example, Kind.EXAMPLE, attribute.example, of_value(attribute, 1), "example"
    )


def _in_braces(item: Candidate) -> Candidate:
    text = f"{{{item.insert}}}"
    return Candidate(text, item.kind, text, f"{{{stop(1, item.insert)}}}", item.detail, item.about)
