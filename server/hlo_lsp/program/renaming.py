"""Mentions of instructions and computations in module text, and renaming.

Unlike the operands of a record, mentions include names inside inline operands and the parameters in
the signature of a computation.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hlo_lsp.hlo.vocabulary import CALL_ATTRIBUTES, vocabulary
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.module_index import parameter_number
from hlo_lsp.model.place import Place, Statement, part_place
from hlo_lsp.model.unprinted_instructions import TupleElement
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.grammar import load_grammar
from hlo_lsp.syntax.instruction_text import tuples_of_element
from hlo_lsp.syntax.module_records import (
    ComputationLine,
    InlineComputation,
    InnerInstruction,
    InstructionLine,
    with_inner_records,
)
from hlo_lsp.syntax.records import BrokenRecord, Record
from hlo_lsp.syntax.statements import (
    begins_statement,
    closing_bracket,
    comma_separated_spans,
    defined_name,
    without_comments,
)

_FIRST_NAME = re.compile(r"\s*%?([A-Za-z_][\w.\-]*)\s*:")
_BROKEN_LINE_NAME = re.compile(
    r'(?<!\\)"(?:[^"\\\n]|\\.)*"'
    r"|(?<![\w.\-%])%(?P<NAME>[A-Za-z_][\w.\-]*)"
    rf"|\b(?P<CALLED>{'|'.join(sorted(CALL_ATTRIBUTES))})=\{{?"
    r"|(?P<END>[{}=])"
)


@dataclass(frozen=True, slots=True)
class NameMention:
    """A name of a computation or of an instruction, at an offset of the text of a record."""

    name: str
    text: Statement
    start: int
    is_computation: bool = False

    @property
    def place(self) -> Place:
        """The place of the name without ``%``."""
        return self.text.place(self.start, self.start + len(self.name))


def name_mentions(file: DumpFile, record: Record) -> Iterator[NameMention]:
    """Yield the names in an instruction, in the head of a computation, or in a broken line.

    The name that an instruction or a head defines is the first one. Names in nested instructions
    are excluded because those are records as well. Parameters in a signature are yielded with the
    names in the signature.
    """
    if isinstance(record, InstructionLine):
        yield from _in_instruction(file, record)
    elif isinstance(record, ComputationLine) and not isinstance(record, InlineComputation):
        yield from _in_head(file, record)
    elif isinstance(record, BrokenRecord):
        yield from _in_broken(file, record)


def _signature_names(file: DumpFile, computation: ComputationLine) -> list[NameMention]:
    """Return the names of the parameters in a signature, in order."""
    if isinstance(computation, InlineComputation):
        return []
    return [mention for mention in _in_head(file, computation) if not mention.is_computation]


def _in_instruction(file: DumpFile, record: InstructionLine) -> Iterator[NameMention]:
    parsed = record.parsed
    text = Statement(file, record.line, parsed.line)
    yield NameMention(record.name, text, parsed.name.start)
    for span in (*parsed.reads, *parsed.predecessors):
        if span.text:
            yield NameMention(span.text.partition("#")[0], text, span.start)
    for span in parsed.called:
        yield NameMention(span.text, text, span.start, is_computation=True)


def _in_head(file: DumpFile, record: ComputationLine) -> Iterator[NameMention]:
    text = without_comments("\n".join(file.lines[record.line : record.line + record.line_count]))
    grammar = load_grammar("module")
    match = grammar.expression("computation_line").match(text)
    match = match or grammar.expression("whole_computation").match(text)
    if match is None:
        return
    head = Statement(file, record.line, text)
    yield NameMention(record.name, head, match.start("NAME"), is_computation=True)
    if match["SIGNATURE"] is None:
        return
    start = match.start("SIGNATURE") + 1
    close = closing_bracket(text, start - 1)
    end = match.end("SIGNATURE") if close is None else close
    for span in comma_separated_spans(text, start, end):
        name = _FIRST_NAME.match(text, *span)
        if name is not None:
            yield NameMention(name[1], head, name.start(1))


def _in_broken(file: DumpFile, record: BrokenRecord) -> Iterator[NameMention]:
    """Yield the names in a broken line that have a ``%``; without it, any word could be a name."""
    text = without_comments(record.text)
    if not begins_statement(text):
        return
    line = Statement(file, record.line, text)
    in_list, callee_start = False, -1  # in a list of callees; where a single callee starts
    for match in _BROKEN_LINE_NAME.finditer(text):
        if match["NAME"] is not None:
            called = in_list or match.start() == callee_start
            yield NameMention(match["NAME"], line, match.start("NAME"), is_computation=called)
        elif match["CALLED"] is not None:
            in_list, callee_start = match[0].endswith("{"), match.end()
        elif match["END"] is not None:
            in_list = False


# hlo_lexer.cc: LexPercent, IdentifierCharRegex, and the keyword tokens.
_LEGAL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.\-]*")
_RESERVED_WORDS = frozenset(
    {
        *("HloModule", "ENTRY", "ROOT", "true", "false", "inf", "nan", "maximal", "replicated"),
        *("manual", "unknown", "unreduced", "shard_as", "shard_like", "last_tile_dim_replicate"),
        *("FileNames", "FunctionNames", "FileLocations", "StackFrames"),
    }
)


class RenameError(ValueError):
    """A reason why a name cannot be changed, as a message for the user."""


@dataclass(frozen=True, slots=True)
class RenameTarget:
    """The instruction or computation to rename, and its mention at the cursor."""

    name: str
    place: Place
    record: InstructionLine | ComputationLine
    scope: Record | None


def rename_target_at(file: DumpFile, line: int, column: int) -> RenameTarget:
    """Return the instruction or computation at a line and column (code points, from 0).

    Raises:
        RenameError: The position has no name, or the name is undefined or ambiguous.
    """
    if file.kind is not FileKind.MODULE:
        raise RenameError("Rename works only in HLO module text.")
    whole = file.records.at(line)
    for record in () if whole is None else with_inner_records(whole):
        for mention in name_mentions(file, record):
            place = mention.place
            if place.line == line and place.start - 1 <= column <= place.end:
                return _rename_target(file, record, mention)
    if isinstance(whole, BrokenRecord) and defined_name(whole.text) is not None:
        raise RenameError("This line has a syntax error. Fix it first.")
    raise RenameError("No instruction, computation, or parameter to rename here.")


def rename_places(file: DumpFile, line: int, column: int, new: str) -> list[Place]:
    """Return all places to replace by a new name, in order.

    The result is empty if the name is unchanged. A ``%`` before the new name is ignored.

    Raises:
        RenameError: The name cannot be changed, or not to ``new``.
    """
    found = rename_target_at(file, line, column)
    new = new.removeprefix("%")
    if _LEGAL_NAME.fullmatch(new) is None:
        raise RenameError(
            f"`{new}` is not a valid name. Use a letter or `_`, then letters, digits, or `_.-`."
        )
    types = vocabulary().element_types
    if new in _RESERVED_WORDS or new in types:
        raise RenameError(f"`{new}` is a reserved word of HLO.")
    if new == found.name:
        return []
    _require_unused_name(file, found, new)
    return mention_places(file, found.record)


def linked_places(file: DumpFile, line: int, column: int) -> list[Place]:
    """Return all mentions of the instruction at a position in its computation, in order.

    The result is empty for a computation, whose mentions are in the whole file.

    Raises:
        RenameError: The name cannot be changed.
    """
    found = rename_target_at(file, line, column)
    return [] if isinstance(found.record, ComputationLine) else mention_places(file, found.record)


def _rename_target(file: DumpFile, record: Record, mention: NameMention) -> RenameTarget:
    module, name = file.module, mention.name
    if mention.is_computation:
        computations = module.computations.all(name)
        if len(computations) > 1:
            raise RenameError(
                f"`{name}` is ambiguous: {len(computations)} computations in this file."
            )
        if not computations:
            raise RenameError(f"This file has no computation `{name}`.")
        return RenameTarget(name, mention.place, computations[0], None)
    scope = _scope(file, record)
    if isinstance(record, ComputationLine):
        _require_parameter_name(file, record, mention)
    instructions = [
        found for found in module.instructions.all(name) if _scope(file, found) is scope
    ]
    if any(defined_name(broken.text) == name for broken in _broken_lines_of(file, scope)):
        raise RenameError(f"The line that defines `{name}` has a syntax error. Fix it first.")
    if len(instructions) > 1:
        raise RenameError(
            f"`{name}` is ambiguous: {len(instructions)} instructions in this computation."
        )
    if not instructions:
        raise RenameError(f"This computation has no instruction `{name}`.")
    return RenameTarget(name, mention.place, instructions[0], scope)


def _require_parameter_name(file: DumpFile, head: ComputationLine, mention: NameMention) -> None:
    """Raise an error if a name in a signature is not the name of its parameter.

    XLA ignores the names in signatures, so they can differ.
    """
    parameters = file.module.computation(head).parameters
    number = [found.place for found in _signature_names(file, head)].index(mention.place)
    if number not in parameters or parameters[number].name != mention.name:
        raise RenameError(f"`{mention.name}` is not the name of parameter {number}.")


def _scope(file: DumpFile, record: Record) -> Record | None:
    if isinstance(record, InstructionLine):
        return file.module.scope_of(record)
    return record if isinstance(record, ComputationLine) else file.records.head_of(record)


def _broken_lines_of(file: DumpFile, scope: Record | None) -> list[BrokenRecord]:
    """Return the broken lines of a scope."""
    return [
        broken
        for broken in file.module.damaged
        if scope is not None and broken is not scope and file.records.head_of(broken) is scope
    ]


def _require_unused_name(file: DumpFile, found: RenameTarget, new: str) -> None:
    if isinstance(found.record, ComputationLine):
        if new in file.module.computations:
            raise RenameError(f"This file already has a computation `{new}`.")
        return
    broken = (defined_name(line.text) for line in _broken_lines_of(file, found.scope))
    if file.module.instruction_in_scope(found.scope, new) is not None or new in broken:
        raise RenameError(f"This computation already has an instruction `{new}`.")


def mention_places(file: DumpFile, record: InstructionLine | ComputationLine) -> list[Place]:
    """Return all mentions of an instruction or computation, its definition included, in order."""
    name, module = record.name, file.module
    is_computation = isinstance(record, ComputationLine)
    scope = None if is_computation else _scope(file, record)
    records: list[Record]
    if isinstance(record, ComputationLine):
        texts = (item for item in module.printed_instructions() if name in item.text)
        records = [record, *texts, *module.damaged]
    else:
        members = _members(file, record, scope)
        records = [item for item in members if name in item.text]
        records += _broken_lines_of(file, scope)
    places = {
        (mention.place.line, mention.place.start): mention.place
        for item in records
        for mention in name_mentions(file, item)
        if mention.name == name and mention.is_computation == is_computation
    }
    if isinstance(record, InstructionLine) and isinstance(scope, ComputationLine):
        number, names = parameter_number(record), _signature_names(file, scope)
        if number is not None and number < len(names) and names[number].name == name:
            place = names[number].place
            places[place.line, place.start] = place
    return [places[key] for key in sorted(places)]


def element_places(file: DumpFile, element: TupleElement) -> list[Place]:
    """Return all operands that are an element of a tuple, or an element of this element."""
    scope = _scope(file, element)
    return [
        part_place(file, item, span)
        for item in _members(file, element.printed, scope)
        if element.name in item.text
        for span in item.parsed.reads
        if element.name in {span.text, *tuples_of_element(span.text)}
    ]


def _members(
    file: DumpFile, record: InstructionLine, scope: Record | None
) -> Iterable[InstructionLine]:
    if isinstance(scope, ComputationLine):
        computation = file.module.computation(scope)
        return (*computation.members, *computation.strays)
    if scope is None or isinstance(record, InnerInstruction):
        return (record,)
    return (item for item in file.records.members(scope) if isinstance(item, InstructionLine))
