"""Candidates for attribute names and attribute values."""

from collections.abc import Iterable, Iterator

from hlo_lsp.hlo.specs import AttributeKind, AttributeSpec
from hlo_lsp.hlo.vocabulary import vocabulary
from hlo_lsp.ide.completion import name_candidates as names
from hlo_lsp.ide.completion.candidates import (
    Candidate,
    CandidateKind,
    placeholder,
    plain_candidate,
    value_snippet,
)
from hlo_lsp.ide.completion.draft import Draft
from hlo_lsp.ide.completion.name_candidates import operand_shapes
from hlo_lsp.ide.completion.slots import (
    CompletionScope,
    KeyValueSlot,
    ValueSlot,
    attribute_keys,
    instruction_parts,
)
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.shape import element_texts, without_layout

_LIST_KINDS = {AttributeKind.ENUMS, AttributeKind.COMPUTATIONS, AttributeKind.INSTRUCTIONS}
# The keys of these attributes take values; the keys of the others are bare words.
_ATTRIBUTES_WITH_KEY_VALUES = {
    "metadata", "window", "result_accuracy", "statistics", "domain", "sparsity_config",
    "block_scaling_config",
}  # fmt: skip
# These keys take strings, the others take numbers (metadata.cc).
_STRING_METADATA_KEYS = {
    "op_type", "op_name", "source_file", "deduplicated_name", "scheduling_name",
    "metadata_payload",
}  # fmt: skip
_FREQUENT_ATTRIBUTES = {"metadata", "sharding"}
_FREQUENT_METADATA_KEYS = ("op_name", "stack_frame_id", "source_file", "source_line")


def instruction_attributes(opcode: str, present: frozenset[str]) -> Iterator[Candidate]:
    """Yield the missing attributes of an instruction: required, then specific, then common ones."""
    words = vocabulary()
    known = words.opcode(opcode)
    groups = () if known is None else known.required
    # The attributes of a group exclude each other.
    closed = {name for group in groups if present & set(group) for name in group}
    missing = {name for group in groups if not present & set(group) for name in group}
    own = () if known is None else known.attributes
    common = sorted(words.common, key=lambda name: name not in _FREQUENT_ATTRIBUTES)
    for name in dict.fromkeys((*own, *common)):
        if name in present or name in closed:
            continue
        attribute = words.attribute(name, opcode)
        if attribute is not None:
            detail = "required" if name in missing else "" if name in own else "common"

            yield _attribute_candidate(attribute, detail, ("attribute", opcode))


def module_attributes(present: frozenset[str]) -> Iterator[Candidate]:
    """Yield the missing attributes of the module."""
    for name, attribute in vocabulary().header.items():
        if name not in present:
            yield _attribute_candidate(attribute, "", ("header", ""))


def attribute_values(
    draft: Draft, slot: ValueSlot, scope: CompletionScope, typed: str
) -> Iterable[Candidate]:
    """Return the candidates for the value of an attribute, or for an item in its braces."""
    words = vocabulary()
    attribute = (
        words.header.get(slot.attribute)
        if slot.opcode is None
        else words.attribute(slot.attribute, slot.opcode)
    )
    if attribute is None:
        return ()
    if slot.within is not None and attribute.keys:
        return _key_candidates(attribute, slot)
    if (slot.opcode, slot.attribute) == ("get-tuple-element", "index"):
        return list(_tuple_index_candidates(draft, scope)) or [_example_candidate(attribute)]
    items = list(_value_candidates(draft, attribute, scope, typed))
    if attribute.kind not in _LIST_KINDS:
        return () if slot.within is not None else items or [_example_candidate(attribute)]
    if slot.within is None:
        return map(_brace_candidate, items)
    there = {item.strip().removeprefix("%") for item in slot.within.split(",")[:-1]}
    return (item for item in items if item.label.removeprefix("%") not in there)


def key_values(file: DumpFile, slot: KeyValueSlot) -> Iterator[Candidate]:
    """Yield the ``StackFrames`` rows for ``stack_frame_id=``, each with its Python line."""
    if (slot.attribute, slot.key) != ("metadata", "stack_frame_id"):
        return
    tables = file.module.tables
    for number in range(1, len(tables.frames) + 1):
        innermost = next(tables.stack(number), None)
        yield plain_candidate(
            str(number), CandidateKind.VALUE, "" if innermost is None else str(innermost)
        )


def _tuple_index_candidates(draft: Draft, scope: CompletionScope) -> Iterator[Candidate]:
    """Yield the element numbers of the operand, those with the result shape first."""
    shapes, parts = operand_shapes(draft, scope), instruction_parts(draft.text_before)
    elements = element_texts(shapes[0] or "") if shapes else None
    result = "" if parts is None else without_layout(parts.shape)
    numbered = enumerate(elements or ())
    for number, shape in sorted(numbered, key=lambda found: found[1] != result):
        yield plain_candidate(str(number), CandidateKind.VALUE, shape)


def _value_candidates(
    draft: Draft, attribute: AttributeSpec, scope: CompletionScope, typed: str
) -> Iterable[Candidate]:
    if attribute.kind.names_computations:
        return names.computation_candidates(draft, attribute.name, scope, typed)
    if attribute.kind is AttributeKind.INSTRUCTIONS:
        return names.instruction_candidates(draft, scope, typed)
    return (plain_candidate(value, CandidateKind.VALUE) for value in attribute.values)


def _key_candidates(attribute: AttributeSpec, slot: ValueSlot) -> Iterator[Candidate]:
    present = attribute_keys(slot.within or "")
    paired = attribute.name in _ATTRIBUTES_WITH_KEY_VALUES
    usual = [key for key in _FREQUENT_METADATA_KEYS if key in attribute.keys]
    for key in dict.fromkeys((*usual, *attribute.keys)):
        if key in present:
            continue
        about = (f"key {attribute.name}", key)
        if not paired:
            yield plain_candidate(key, CandidateKind.KEY, about=about)
        elif attribute.name == "metadata" and key in _STRING_METADATA_KEYS:
            yield Candidate(key, CandidateKind.KEY, f"{key}=", f'{key}="$1"', about=about)
        else:
            yield Candidate(key, CandidateKind.KEY, f"{key}=", about=about)


def _attribute_candidate(
    attribute: AttributeSpec, detail: str, about: tuple[str, str]
) -> Candidate:
    kind, opcode = about
    return Candidate(
        attribute.name,
        CandidateKind.ATTRIBUTE,
        f"{attribute.name}=",
        f"{attribute.name}={value_snippet(attribute, 1)}",
        detail,
        (f"{kind} {opcode}".rstrip(), attribute.name),
    )


def _example_candidate(attribute: AttributeSpec) -> Candidate:
    return Candidate(
        attribute.example,
        CandidateKind.EXAMPLE,
        attribute.example,
        value_snippet(attribute, 1),
        "example",
    )


def _brace_candidate(item: Candidate) -> Candidate:
    text = f"{{{item.insert}}}"
    return Candidate(
        text, item.kind, text, f"{{{placeholder(1, item.insert)}}}", item.detail, item.about
    )
