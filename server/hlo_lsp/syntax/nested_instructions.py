"""Instructions inside of a record: inline computations, and computations on one line."""

import re
from collections import Counter

from hlo_lsp.syntax.grammar import load_grammar
from hlo_lsp.syntax.module_records import (
    ComputationLine,
    InlineComputation,
    InnerInstruction,
    InstructionLine,
)
from hlo_lsp.syntax.records import Record
from hlo_lsp.syntax.statements import closing_bracket, tokens_with_depth

_INSTRUCTION_START = re.compile(r"(?<![\w.\-%])(?:ROOT\s+)?%?[A-Za-z_][\w.\-]*\s+=\s")


def read_inline_computations(instruction: InstructionLine, holder: Record) -> None:
    """Parse the computations that are written inline in an instruction."""
    bodies = instruction.parsed.bodies
    if not bodies:
        return
    base = instruction.row if isinstance(instruction, InnerInstruction) else 0
    found = []
    counts = Counter(body.name for body in bodies)
    numbers: Counter[str] = Counter()
    for body in bodies:
        number = f".{numbers[body.name]}" if counts[body.name] > 1 else ""
        numbers[body.name] += 1
        text, start = instruction.text, body.value.start
        row = text.count("\n", 0, start)
        inline = InlineComputation(
            f"{instruction.name}.{body.name}{number}", False, "", attribute=body.name,
            holder=holder, caller=instruction, row=base + row,
        )  # fmt: skip
        inline.members = _parse_members(inline, holder, text, start, base)
        found.append(inline)
    instruction.bodies = tuple(found)


def read_members(computation: ComputationLine, text: str) -> None:
    """Parse the instructions of a computation whose body is part of its record."""
    head = load_grammar("module").expression("whole_computation").fullmatch(text)
    assert head is not None  # the rule has matched the text
    opened = head.start("OPENING") + head["OPENING"].index("{")
    computation.members = _parse_members(computation, computation, text, opened, 0)


def _parse_members(
    home: ComputationLine, holder: Record, text: str, opened: int, base: int
) -> tuple[InnerInstruction, ...]:
    """Return the instructions between the brace at ``opened`` and the matching brace.

    ``base`` is the row of the holder on which ``text`` begins.
    """
    end = closing_bracket(text, opened)
    members = []
    end = len(text) if end is None else end
    starts = _instruction_starts(text, opened + 1, end)
    for start, stop in zip(starts, [*starts, end][1:], strict=True):
        line_start = text.rfind("\n", 0, start) + 1
        own = text[line_start:stop].rstrip()
        match = load_grammar("module").expression("instruction_line").match(own, start - line_start)
        if match is None:
            continue
        read = InstructionLine.of(match)
        member = InnerInstruction(
            read.name, read.is_root, read.shape, read.opcode, own, read.opened,
            own.count("\n") + 1, holder=holder, home=home,
            row=base + text.count("\n", 0, line_start), start_column=start - line_start,
        )  # fmt: skip
        read_inline_computations(member, holder)
        members.append(member)
    return tuple(members)


def _instruction_starts(text: str, start: int, end: int) -> list[int]:
    """Return the columns of ``NAME =`` outside of brackets and strings."""
    covered: list[tuple[int, int]] = []
    opened = start
    for match, depth in tokens_with_depth(text, start, end):
        if depth == 0 and match[0] in "([{":
            opened = match.start()
        elif depth == 0 and match[0] in ")]}":
            covered.append((opened, match.end()))
        elif match[0][0] == '"':
            covered.append(match.span())
    return [
        match.start()
        for match in _INSTRUCTION_START.finditer(text, start, end)
        if not any(first <= match.start() < last for first, last in covered)
    ]
