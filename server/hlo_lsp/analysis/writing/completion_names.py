"""Instructions and computations that may be named at the cursor."""

from collections.abc import Iterator
from itertools import islice

from hlo_lsp.analysis.writing.candidates import LIMIT, Candidate, Kind, matcher
from hlo_lsp.analysis.writing.draft import Draft
from hlo_lsp.analysis.writing.fitting import computation_misfit, wanted_operand
from hlo_lsp.analysis.writing.slots import OperandSlot
from hlo_lsp.analysis.writing.surroundings import Definition, Surroundings, parameters
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.syntax.module_records import ComputationLine, InlineComputation

_LOOKED_AT = 2 * LIMIT  # computations whose parameters are compared; one costs 20 us


def operands(
    draft: Draft, slot: OperandSlot, around: Surroundings, typed: str
) -> Iterator[Candidate]:
    """The instructions above in this computation: those that fit first, then the nearest."""
    wanted = wanted_operand(draft, slot)
    sign = percent(draft, typed)
    for fits in (True, False):  # in turn, as the first few hundred are often enough
        for found in around.above:
            if wanted(found) is fits:
                yield instruction(found, sign)


def instructions(draft: Draft, around: Surroundings, typed: str) -> Iterator[Candidate]:
    """The instructions above in this computation, nearest first."""
    sign = percent(draft, typed)
    return (instruction(found, sign) for found in around.above)


def instruction(found: Definition, sign: str) -> Candidate:
    """The name of an instruction, with its shape beside it."""
    name = sign + found.name
    about = (f"line {found.line}", found.name)
    return Candidate(name, Kind.INSTRUCTION, name, None, found.shape, about)


def computations(
    draft: Draft, attribute: str, around: Surroundings, typed: str
) -> Iterator[Candidate]:
    """The computations above this one: those that fit the call first, then the nearest."""
    line = around.head.line if around.head is not None else draft.line
    above = [
        found
        for found in reversed(draft.file.module.all_computations())
        if found.line < line and not found.is_entry and not isinstance(found, InlineComputation)
    ]
    if len(above) > _LOOKED_AT:
        match = matcher(typed)
        above = [found for found in above if match(found.name) is not None]
    misfit = computation_misfit(draft, attribute, around)
    near = sorted(islice(above, _LOOKED_AT), key=misfit)
    sign = percent(draft, typed)
    for found in (*near, *above[_LOOKED_AT:]):
        name = sign + found.name
        yield Candidate(name, Kind.COMPUTATION, name, None, "", (f"line {found.line}", found.name))


def signature(file: DumpFile, computation: ComputationLine) -> str:
    """``(p.1: f32[], p.2: f32[]) -> f32[]``, as the instructions say."""
    root = file.module.computation(computation).root
    taken = (f"{found.name}: {found.shape}" for found in parameters(file, computation))
    return f"({', '.join(taken)}) -> {root.shape if root is not None else '?'}"


def percent(draft: Draft, typed: str) -> str:
    """The sign in front of names, where the text around writes one (or has nothing to say)."""
    if typed.startswith("%"):
        return "%"
    record = draft.file.records.at(draft.line)
    assert record is not None  # a draft has been read there
    lines = (draft.body or "", *_written_before(draft.file, record.line))
    return "" if any(" = " in line and "%" not in line for line in lines) else "%"


def _written_before(file: DumpFile, line: int) -> Iterator[str]:
    """The nearest lines above that are not blank."""
    above = (file.lines[at] for at in range(line - 1, max(line - 20, -1), -1))
    return islice((text for text in above if text.strip()), 3)
