"""The texts of two modules without what differs between equal compiles, for comparison by line.

Corresponding instructions and computations have the same name: that of the first module. Metadata,
backend configurations, and channel numbers are left out, as in ``program/instruction_matching.py``,
and so are ``get-tuple-element`` instructions: an operand ``tuple#1`` is the element.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.model.unprinted_instructions import text_as_in_dumps
from hlo_lsp.program.instruction_matching import (
    VARYING_PARTS,
    Matching,
    aliased,
    element_names,
    match_instructions,
    with_other_names,
)
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine

_NAME = re.compile(r"%([\w.\-]+(?:#\d+)*)")
_UNMATCHED_SUFFIX = ".new"  # where the other module uses the name for another instruction

_Rename = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class ComparedText:
    """A text for comparison; ``places`` are the lines of the module text, from 0."""

    lines: tuple[str, ...]
    places: tuple[int, ...]


def compared_texts(before: ModuleIndex, after: ModuleIndex) -> tuple[ComparedText, ComparedText]:
    """Return the texts of two modules for comparison."""
    matching = match_instructions(before, after, is_deep=True)
    first_heads = sorted(before.all_computations(), key=lambda head: head.line)
    heads = sorted(after.all_computations(), key=lambda head: head.line)
    pairs: dict[ComputationLine, ComputationLine] = {}
    for one, other in matching.computations:
        pairs.setdefault(other, one)
    order = {head: number for number, head in enumerate(first_heads)}
    return (
        _text(before, first_heads, str, str),
        _text(
            after,
            _in_order(heads, pairs, order),
            _instruction_names(before, after, matching),
            _computation_names(heads, pairs),
        ),
    )


def _in_order(
    heads: list[ComputationLine],
    pairs: Mapping[ComputationLine, ComputationLine],
    order: Mapping[ComputationLine, int],
) -> list[ComputationLine]:
    """Return computations in the order of their counterparts; others follow the one before them."""
    places: dict[ComputationLine, int] = {}
    last = -1
    for head in heads:
        last = order[pairs[head]] if head in pairs else last
        places[head] = last
    return sorted(heads, key=lambda head: places[head])


def _instruction_names(before: ModuleIndex, after: ModuleIndex, matching: Matching) -> _Rename:
    names = {other.record.name: one.record.name for one, other in matching.pairs}
    taken = set(names.values())
    for head, other_head in matching.computations:  # a changed root is still the root
        root, other_root = before.computation(head).root, after.computation(other_head).root
        if root is not None and other_root is not None and root.name not in taken:
            names.setdefault(other_root.name, root.name)
            taken.add(root.name)
    return _renaming(names, taken)


def _computation_names(
    heads: list[ComputationLine], pairs: Mapping[ComputationLine, ComputationLine]
) -> _Rename:
    names = {head.name: pairs[head].name for head in heads if head in pairs}
    return _renaming(names, set(names.values()))


def _renaming(names: Mapping[str, str], taken: set[str]) -> _Rename:
    def rename(name: str) -> str:
        return names.get(name) or (f"{name}{_UNMATCHED_SUFFIX}" if name in taken else name)

    return rename


def _text(
    module: ModuleIndex, heads: list[ComputationLine], instruction: _Rename, computation: _Rename
) -> ComparedText:
    lines: list[str] = []
    places: list[int] = []
    for text, place in _lines(module, heads, instruction, computation):
        lines.append(text)
        places.append(place)
    return ComparedText(tuple(lines), tuple(places))


def _lines(
    module: ModuleIndex, heads: list[ComputationLine], instruction: _Rename, computation: _Rename
) -> Iterator[tuple[str, int]]:
    if module.header is not None:
        yield module.header.text, module.header.line
    for head in heads:
        yield "", head.line
        yield f"{'ENTRY ' if head.is_entry else ''}{computation(head.name)} {{", head.line
        aliases = element_names(module, head)

        def operand(name: str, aliases: Mapping[str, str] = aliases) -> str:
            name, mark, element = aliased(name, aliases).partition("#")
            return instruction(name) + mark + element

        for record in module.members(head):
            checkpoint()
            if record.name not in aliases:
                yield f"  {_instruction(module, record, operand, computation)}", record.line
        yield "}", head.line


def _instruction(
    module: ModuleIndex, record: InstructionLine, instruction: _Rename, computation: _Rename
) -> str:
    """Return the text of an instruction with other names, which have no ``%``."""
    called = {*record.called, *(one.name for one in module.called_by(record))}
    text = text_as_in_dumps(record, module.opcode(record))
    if "%" in text:
        renamed = _NAME.sub(
            lambda match: (computation if match[1] in called else instruction)(match[1]), text
        )
    else:
        renamed = with_other_names(record, record.column, instruction, computation)
    return VARYING_PARTS.sub("", renamed.partition(", backend_config=")[0]).strip()
