"""Where the text of one record names instructions and computations, each as it is written.

Unlike the operands of a record these are all of them: also inside of operands that are written out
in place, and the parameters in the signature of a computation.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.module_index import parameter_number
from hlo_lsp.model.place import Place
from hlo_lsp.syntax.grammar import load
from hlo_lsp.syntax.instruction_text import CALLING
from hlo_lsp.syntax.module_records import ComputationLine, InlineComputation, InstructionLine
from hlo_lsp.syntax.nesting import closing, commas, without_comments
from hlo_lsp.syntax.records import Broken, Record
from hlo_lsp.syntax.statements import begins_statement

_LAST_NAME = re.compile(r"(?<![\w.\-%])%?([A-Za-z_][\w.\-]*)\s*$")
_NESTED = re.compile(r"(?:[^()]*\s)?[a-z][\w\-]*\s*(?=\()")
_FIRST_NAME = re.compile(r"\s*%?([A-Za-z_][\w.\-]*)\s*:")
_LINE_END = re.compile(r"\n")
_IN_BROKEN = re.compile(
    r'"(?:[^"\\\n]|\\.)*"'
    r"|(?<![\w.\-%])%(?P<NAME>[A-Za-z_][\w.\-]*)"
    rf"|\b(?P<CALLED>{'|'.join(sorted(CALLING))})=\{{?"
    r"|(?P<END>[{}=])"
)


@dataclass(frozen=True, slots=True)
class Naming:
    """A name in the text of a record: of a computation or of an instruction.

    ``place`` leaves the ``%`` out. ``defines`` says that the record defines the name here.
    """

    name: str
    place: Place
    of_computation: bool
    defines: bool = False


def namings(file: DumpFile, record: Record) -> Iterator[Naming]:
    """The names in an instruction, in the head of a computation, or in a line nobody can read.

    Those of the instructions inside of a record are not among them: they are records as well.
    Parameters in a signature come with the names that stand there.
    """
    if isinstance(record, InstructionLine):
        yield from _in_instruction(file, record)
    elif isinstance(record, ComputationLine) and not isinstance(record, InlineComputation):
        yield from _in_head(file, record)
    elif isinstance(record, Broken):
        yield from _in_broken(file, record)


def signature_names(file: DumpFile, computation: ComputationLine) -> list[Naming]:
    """The names of the parameters in the signature, in order."""
    if isinstance(computation, InlineComputation):
        return []
    return [naming for naming in _in_head(file, computation) if not naming.of_computation]


def signed_parameter(
    file: DumpFile, computation: ComputationLine, instruction: InstructionLine
) -> Naming | None:
    """The name in the signature that stands for a parameter, where it is the same name."""
    number = parameter_number(instruction)
    names = signature_names(file, computation)
    if number is None or number >= len(names) or names[number].name != instruction.name:
        return None
    return names[number]


class _Text:
    """The text of a record, which begins with a whole line, with the lines that it takes."""

    def __init__(self, file: DumpFile, record: Record, text: str) -> None:
        self._file = file
        self._line = record.line
        self._begins = [0, *(end.end() for end in _LINE_END.finditer(text))]

    def naming(
        self, at: int, name: str, *, of_computation: bool = False, defines: bool = False
    ) -> Naming:
        """The name that stands at an offset."""
        row = bisect_right(self._begins, at) - 1
        column = at - self._begins[row]
        place = Place(self._file, self._line + row, column, column + len(name))
        return Naming(name, place, of_computation, defines)


def _in_instruction(file: DumpFile, record: InstructionLine) -> Iterator[Naming]:
    parsed = record.parsed
    text = _Text(file, record, parsed.line)
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
    for stop in (*commas(text, start, end), end):
        name = _LAST_NAME.search(text, start, stop)
        nested = _NESTED.match(text, start, stop)
        if name is not None:
            yield name.start(1), name[1]
        elif nested is not None:
            close = closing(text, nested.end())
            opcode = nested[0].split()[-1]
            if close is not None and close < stop and opcode not in {"constant", "parameter"}:
                yield from _operands(text, nested.end() + 1, close)
        start = stop + 1


def _in_head(file: DumpFile, record: ComputationLine) -> Iterator[Naming]:
    text = without_comments("\n".join(file.lines[record.line : record.line + record.line_count]))
    grammar = load("module")
    match = grammar.expression("computation_line").match(text)
    match = match or grammar.expression("whole_computation").match(text)
    if match is None:
        return
    head = _Text(file, record, text)
    yield head.naming(match.start("NAME"), record.name, of_computation=True, defines=True)
    if match["SIGNATURE"] is None:
        return
    start = match.start("SIGNATURE") + 1
    close = closing(text, start - 1)
    end = match.end("SIGNATURE") if close is None else close
    for stop in (*commas(text, start, end), end):
        name = _FIRST_NAME.match(text, start, stop)
        if name is not None:
            yield head.naming(name.start(1), name[1])
        start = stop + 1


def _in_broken(file: DumpFile, record: Broken) -> Iterator[Naming]:
    """Names with their sign, which nothing else has; without it any word could be one."""
    text = without_comments(record.text)
    if not begins_statement(text):
        return
    line = _Text(file, record, text)
    in_list, behind = False, -1  # of called computations; where the only one would begin
    for match in _IN_BROKEN.finditer(text):
        if match["NAME"] is not None:
            called = in_list or match.start() == behind
            yield line.naming(match.start("NAME"), match["NAME"], of_computation=called)
        elif match["CALLED"] is not None:
            in_list, behind = match[0].endswith("{"), match.end()
        elif match["END"] is not None:
            in_list = False
