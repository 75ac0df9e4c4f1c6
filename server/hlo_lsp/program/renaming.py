"""Where the text of one record names instructions and computations, each as it is written.

Unlike the operands of a record these are all of them: also inside of operands that are written out
in place, and the parameters in the signature of a computation.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from hlo_lsp.hlo.vocabulary import vocabulary
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.module_index import parameter_number
from hlo_lsp.model.place import Place
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.grammar import load_grammar
from hlo_lsp.syntax.instruction_text import CALL_ATTRIBUTES
from hlo_lsp.syntax.module_records import (
    ComputationLine,
    InlineComputation,
    InnerInstruction,
    InstructionLine,
)
from hlo_lsp.syntax.records import BrokenRecord, Record
from hlo_lsp.syntax.statements import (
    begins_statement,
    closing_bracket,
    defined_name,
    top_level_commas,
    without_comments,
)

_LAST_NAME = re.compile(r"(?<![\w.\-%])%?([A-Za-z_][\w.\-]*)\s*$")
_NESTED = re.compile(r"(?:[^()]*\s)?[a-z][\w\-]*\s*(?=\()")
_FIRST_NAME = re.compile(r"\s*%?([A-Za-z_][\w.\-]*)\s*:")
_LINE_END = re.compile(r"\n")
_BROKEN_LINE_NAME = re.compile(
    r'"(?:[^"\\\n]|\\.)*"'
    r"|(?<![\w.\-%])%(?P<NAME>[A-Za-z_][\w.\-]*)"
    rf"|\b(?P<CALLED>{'|'.join(sorted(CALL_ATTRIBUTES))})=\{{?"
    r"|(?P<END>[{}=])"
)


@dataclass(frozen=True, slots=True)
class NameMention:
    """A name in the text of a record: of a computation or of an instruction.

    ``place`` leaves the ``%`` out. ``defines`` says that the record defines the name here.
    """

    name: str
    place: Place
    of_computation: bool
    defines: bool = False


def name_mentions(file: DumpFile, record: Record) -> Iterator[NameMention]:
    """The names in an instruction, in the head of a computation, or in a line nobody can read.

    Those of the instructions inside of a record are not among them: they are records as well.
    Parameters in a signature come with the names that stand there.
    """
    if isinstance(record, InstructionLine):
        yield from _in_instruction(file, record)
    elif isinstance(record, ComputationLine) and not isinstance(record, InlineComputation):
        yield from _in_head(file, record)
    elif isinstance(record, BrokenRecord):
        yield from _in_broken(file, record)


def signature_names(file: DumpFile, computation: ComputationLine) -> list[NameMention]:
    """The names of the parameters in the signature, in order."""
    if isinstance(computation, InlineComputation):
        return []
    return [naming for naming in _in_head(file, computation) if not naming.of_computation]


def signature_mention(
    file: DumpFile, computation: ComputationLine, instruction: InstructionLine
) -> NameMention | None:
    """The name in the signature that stands for a parameter, where it is the same name."""
    number = parameter_number(instruction)
    names = signature_names(file, computation)
    if number is None or number >= len(names) or names[number].name != instruction.name:
        return None
    return names[number]


class _RecordText:
    """The text of a record, which begins with a whole line, with the lines that it takes."""

    def __init__(self, file: DumpFile, record: Record, text: str) -> None:
        self._file = file
        self._line = record.line
        self._begins = [0, *(end.end() for end in _LINE_END.finditer(text))]

    def naming(
        self, at: int, name: str, *, of_computation: bool = False, defines: bool = False
    ) -> NameMention:
        """The name that stands at an offset."""
        row = bisect_right(self._begins, at) - 1
        column = at - self._begins[row]
        place = Place(self._file, self._line + row, column, column + len(name))
        return NameMention(name, place, of_computation, defines)


def _in_instruction(file: DumpFile, record: InstructionLine) -> Iterator[NameMention]:
    parsed = record.parsed
    text = _RecordText(file, record, parsed.line)
    yield text.naming(parsed.name.start, record.name, defines=True)
    if record.opcode not in {"constant", "parameter"}:
        for at, name in _operands(parsed.line, parsed.literal.start, parsed.literal.end):
            yield text.naming(at, name)
    for span in parsed.predecessors:
        yield text.naming(span.start, span.text)
    for span in parsed.called:
        yield text.naming(span.start, span.text, of_computation=True)


def _operands(text: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    """Where the names of operands stand, also of those inside of operands."""
    for stop in (*top_level_commas(text, start, end), end):
        name = _LAST_NAME.search(text, start, stop)
        nested = _NESTED.match(text, start, stop)
        if name is not None:
            yield name.start(1), name[1]
        elif nested is not None:
            close = closing_bracket(text, nested.end())
            opcode = nested[0].split()[-1]
            if close is not None and close < stop and opcode not in {"constant", "parameter"}:
                yield from _operands(text, nested.end() + 1, close)
        start = stop + 1


def _in_head(file: DumpFile, record: ComputationLine) -> Iterator[NameMention]:
    text = without_comments("\n".join(file.lines[record.line : record.line + record.line_count]))
    grammar = load_grammar("module")
    match = grammar.expression("computation_line").match(text)
    match = match or grammar.expression("whole_computation").match(text)
    if match is None:
        return
    head = _RecordText(file, record, text)
    yield head.naming(match.start("NAME"), record.name, of_computation=True, defines=True)
    if match["SIGNATURE"] is None:
        return
    start = match.start("SIGNATURE") + 1
    close = closing_bracket(text, start - 1)
    end = match.end("SIGNATURE") if close is None else close
    for stop in (*top_level_commas(text, start, end), end):
        name = _FIRST_NAME.match(text, start, stop)
        if name is not None:
            yield head.naming(name.start(1), name[1])
        start = stop + 1


def _in_broken(file: DumpFile, record: BrokenRecord) -> Iterator[NameMention]:
    """Names with their sign, which nothing else has; without it any word could be one."""
    text = without_comments(record.text)
    if not begins_statement(text):
        return
    line = _RecordText(file, record, text)
    in_list, behind = False, -1  # of called computations; where the only one would begin
    for match in _BROKEN_LINE_NAME.finditer(text):
        if match["NAME"] is not None:
            called = in_list or match.start() == behind
            yield line.naming(match.start("NAME"), match["NAME"], of_computation=called)
        elif match["CALLED"] is not None:
            in_list, behind = match[0].endswith("{"), match.end()
        elif match["END"] is not None:
            in_list = False


# hlo_lexer.cc: LexPercent, IdentifierCharRegex and the words that are tokens of their own.
_LEGAL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.\-]*")
_RESERVED_WORDS = frozenset(
    {
        "HloModule", "ENTRY", "ROOT", "true", "false", "inf", "nan", "maximal", "replicated",
        "manual", "unknown", "unreduced", "shard_as", "shard_like", "last_tile_dim_replicate",
        "FileNames", "FunctionNames", "FileLocations", "StackFrames",
    }
)  # fmt: skip


class RenameError(ValueError):
    """Why something cannot be renamed, as a sentence for the user."""


@dataclass(frozen=True, slots=True)
class RenameTarget:
    """What the cursor is on: its name, where the cursor finds it, and all places that name it."""

    name: str
    place: Place
    record: InstructionLine | ComputationLine
    scope: Record | None


def rename_target_at(file: DumpFile, line: int, column: int) -> RenameTarget:
    """The instruction or computation that is named at a line and column (code points, from 0).

    Raises:
        RenameError: nothing is named there, or what is named is not there or not clear.
    """
    if file.kind is not FileKind.MODULE:
        raise RenameError("Names can be changed in HLO module text only.")
    for record in _records_at(file, line):
        for naming in name_mentions(file, record):
            place = naming.place
            if place.line == line and place.start - 1 <= column <= place.end:
                return _rename_target(file, record, naming)
    whole = file.records.at(line)
    if isinstance(whole, BrokenRecord) and defined_name(whole.text) is not None:
        raise RenameError("This line cannot be read: mend it first.")
    raise RenameError("There is no instruction, computation or parameter here to rename.")


def rename_places(file: DumpFile, line: int, column: int, new: str) -> list[Place]:
    """All places that name what the cursor is on, in order: what to replace by the new name.

    Empty if it has this name already. A ``%`` in front of the new name does not count.

    Raises:
        RenameError: it cannot be renamed, or not so.
    """
    found = rename_target_at(file, line, column)
    new = new.removeprefix("%")
    if _LEGAL_NAME.fullmatch(new) is None:
        raise RenameError(
            f"`{new}` is no legal name: it takes a letter or `_`, then letters, digits, `_.-`."
        )
    types = vocabulary().element_types
    if new in _RESERVED_WORDS or new in types:
        raise RenameError(f"`{new}` is a word of HLO and cannot be a name.")
    if new == found.name:
        return []
    _require_unused_name(file, found, new)
    return _places(file, found)


def linked_places(file: DumpFile, line: int, column: int) -> list[Place]:
    """All places in its computation that name the instruction at a line and column, in order.

    None for a computation, which is named all over the file.

    Raises:
        RenameError: it cannot be renamed.
    """
    found = rename_target_at(file, line, column)
    return [] if isinstance(found.record, ComputationLine) else _places(file, found)


def _records_at(file: DumpFile, line: int) -> Iterator[Record]:
    """The records with this line, those inside of others first."""
    record = file.records.at(line)
    if record is None:
        return
    yield from reversed(list(_nested_records(record)))


def _nested_records(record: Record) -> Iterator[Record]:
    yield record
    if isinstance(record, ComputationLine):
        for member in record.members:
            yield from _nested_records(member)
    elif isinstance(record, InstructionLine):
        for body in record.bodies:
            yield from _nested_records(body)


def _rename_target(file: DumpFile, record: Record, naming: NameMention) -> RenameTarget:
    module, name = file.module, naming.name
    if naming.of_computation:
        computations = module.computations.all(name)
        if len(computations) > 1:
            raise RenameError(f"`{name}` names {len(computations)} computations of this file.")
        if not computations:
            raise RenameError(f"There is no computation `{name}` in this file.")
        return RenameTarget(name, naming.place, computations[0], None)
    scope = _scope(file, record)
    if isinstance(record, ComputationLine):
        _require_parameter_name(file, record, naming)
    instructions = [
        found for found in module.instructions.all(name) if _scope(file, found) is scope
    ]
    if any(defined_name(broken.text) == name for broken in _broken_lines_of(file, scope)):
        raise RenameError(f"A line that defines `{name}` cannot be read: mend it first.")
    if len(instructions) > 1:
        raise RenameError(f"`{name}` names {len(instructions)} instructions of this computation.")
    if not instructions:
        raise RenameError(f"There is no instruction `{name}` in this computation.")
    return RenameTarget(name, naming.place, instructions[0], scope)


def _require_parameter_name(file: DumpFile, head: ComputationLine, naming: NameMention) -> None:
    """A signature may print other names than its parameters have: XLA does not read them."""
    parameters = file.module.computation(head).parameters
    number = [found.place for found in signature_names(file, head)].index(naming.place)
    if number not in parameters or parameters[number].name != naming.name:
        raise RenameError(f"`{naming.name}` is not the name of parameter {number}.")


def _scope(file: DumpFile, record: Record) -> Record | None:
    if isinstance(record, InstructionLine):
        return file.module.scope_of(record)
    return record if isinstance(record, ComputationLine) else file.records.head_of(record)


def _broken_lines_of(file: DumpFile, scope: Record | None) -> list[BrokenRecord]:
    """The lines of a scope that nobody can read."""
    return [
        broken
        for broken in file.module.damaged
        if scope is not None and broken is not scope and file.records.head_of(broken) is scope
    ]


def _require_unused_name(file: DumpFile, found: RenameTarget, new: str) -> None:
    if isinstance(found.record, ComputationLine):
        if new in file.module.computations:
            raise RenameError(f"There is a computation `{new}` in this file already.")
        return
    broken = (defined_name(line.text) for line in _broken_lines_of(file, found.scope))
    if file.module.instruction_in_scope(found.scope, new) is not None or new in broken:
        raise RenameError(f"There is an instruction `{new}` in this computation already.")


def _places(file: DumpFile, found: RenameTarget) -> list[Place]:
    places = {
        (naming.place.line, naming.place.start): naming.place for naming in _mentions(file, found)
    }
    return [places[key] for key in sorted(places)]


def _mentions(file: DumpFile, found: RenameTarget) -> Iterator[NameMention]:
    """All namings of an instruction or computation, its definition among them."""
    record, name, module = found.record, found.name, file.module
    if isinstance(record, ComputationLine):
        texts: Iterator[Record] = (
            item for item in module.instructions.records() if name in item.text
        )
        for item in (record, *texts, *module.damaged):
            yield from (n for n in name_mentions(file, item) if n.of_computation and n.name == name)
        return
    members = (item for item in _members(file, record, found.scope) if name in item.text)
    for item in (*members, *_broken_lines_of(file, found.scope)):
        yield from (n for n in name_mentions(file, item) if not n.of_computation and n.name == name)
    if isinstance(found.scope, ComputationLine) and parameter_number(record) is not None:
        signed = signature_mention(file, found.scope, record)
        if signed is not None:
            yield signed


def _members(
    file: DumpFile, record: InstructionLine, scope: Record | None
) -> Iterator[InstructionLine]:
    if isinstance(scope, ComputationLine):
        yield from file.module.members(scope)
    elif scope is not None and not isinstance(record, InnerInstruction):
        for member in file.records.members(scope):
            if isinstance(member, InstructionLine):
                yield member
    else:
        yield record
