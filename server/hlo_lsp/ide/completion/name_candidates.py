"""What fits into a call: operands of a shape, computations that take what they would be given."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from hlo_lsp.hlo.entries import Attribute, Opcode
from hlo_lsp.hlo.vocabulary import vocabulary
from hlo_lsp.ide.completion.candidates import LIMIT, Candidate, Kind, matcher
from hlo_lsp.ide.completion.draft import Draft
from hlo_lsp.ide.completion.slots import (
    Definition,
    OperandSlot,
    Surroundings,
    callee_of,
    dimensions,
    operand_texts,
    parameters,
    parts_of,
)
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.shape import leaf_text, without_layout
from hlo_lsp.syntax.module_records import ComputationLine, InlineComputation, InstructionLine

Shapes = Sequence[str | None]  # None where nothing is known
_LAST_NAME = re.compile(r"%?([A-Za-z_][\w.\-]*)\s*$")
_TAKES_OPERANDS = {"fusion", "call", "async-start"}
_KEEPS_SHAPE = {"while", "opt-barrier", "copy", "domain"}
_TELLS = {"sort", "select"}  # gives a pred: the opcode, or the attribute
_PAIRS = {"all-reduce", "all-reduce-start", "reduce-scatter", "collective-reduce"}


def wanted_operand(draft: Draft, slot: OperandSlot) -> Callable[[Definition], bool]:
    """Whether an instruction fits the place of an operand, as far as can be told."""
    opcode = vocabulary().opcode(slot.opcode)
    if slot.opcode == "get-tuple-element":
        return lambda found: found.shape.startswith("(")
    if slot.opcode.endswith("-done"):
        start = slot.opcode.removesuffix("-done")
        return lambda found: found.opcode in (f"{start}-start", f"{start}-update")
    if slot.opcode in _TAKES_OPERANDS:
        callee = callee_of(draft.file, draft.text, "(?:calls|to_apply)")
        taken = [] if callee is None else parameters(draft.file, callee)
        if slot.number < len(taken):
            shape = without_layout(taken[slot.number].shape)
            return lambda found: without_layout(found.shape) == shape
    elif slot.opcode == "tuple" or (slot.opcode in _KEEPS_SHAPE and slot.shape):
        part = f"{{{slot.number}}}" if slot.opcode == "tuple" else None
        result = leaf_text(without_layout(slot.shape), part)
        if result is not None:
            return lambda found: without_layout(found.shape) == result
    elif opcode is not None and opcode.elementwise and slot.shape:
        wanted = dimensions(slot.shape)
        return lambda found: dimensions(found.shape) == wanted
    return lambda _: True


def computation_misfit(
    draft: Draft, attribute: str, around: Surroundings
) -> Callable[[ComputationLine], tuple[bool, bool]]:
    """Whether a computation takes something else than an instruction would give it, and whether
    it returns something else than is wanted of it, as far as can be told."""
    parts = parts_of(draft.front)
    if parts is None:
        return lambda _: (False, False)
    shapes = operand_shapes(draft, around)
    expected = given(parts.opcode, attribute, shapes)
    wanted = returned(parts.opcode, attribute, shapes, without_layout(parts.shape))

    def misfit(computation: ComputationLine) -> tuple[bool, bool]:
        taken = [without_layout(found.shape) for found in parameters(draft.file, computation)]
        takes = expected is None or (
            len(taken) == len(expected)
            and all(
                wanted is None or shape == wanted
                for shape, wanted in zip(taken, expected, strict=True)
            )
        )
        root = draft.file.module.computation(computation).root
        result = "" if root is None else without_layout(root.shape)
        return not takes, bool(wanted and result) and result != wanted

    return misfit


def operand_shapes(draft: Draft, around: Surroundings) -> Shapes:
    """The shapes, without layouts, of the operands of the instruction at the cursor."""
    parts = parts_of(draft.front)
    texts = [] if parts is None else operand_texts(draft.front, parts.opened)
    return [_shape_of(text, around) for text in texts]


def returned(opcode: str, attribute: str, shapes: Shapes, result: str) -> str | None:
    """The shape, without layouts, that a computation has to return to an opcode that calls it.

    ``result`` is the shape of the instruction. None if it is not known.
    """
    if attribute == "condition" or opcode in _TELLS or attribute in _TELLS:
        return "pred[]"
    if attribute == "body":
        return (shapes[0] if shapes else None) or result or None
    if opcode == "async-start":
        return leaf_text(result, "{1}")
    if opcode in {"fusion", "call", "conditional"}:
        return result or None
    return _scalar(result) if result else None


def given(opcode: str, attribute: str, shapes: Shapes) -> Shapes | None:
    """The shapes, without layouts, that an opcode gives to a computation it calls.

    ``shapes`` are those of its operands. None if the number of parameters is not known. By
    ``VerifyCalledComputations`` and the checks of each opcode in XLA's hlo_verifier.cc.
    """
    scalars = [None if shape is None else _scalar(shape) for shape in shapes]
    half = len(shapes) // 2
    if opcode in _TAKES_OPERANDS:
        return list(shapes)
    if opcode == "while":
        return [shapes[0] if shapes else None]
    if opcode == "conditional":
        return [None]
    if opcode in {"reduce", "reduce-window"}:
        return scalars[half:] + scalars[:half]
    if opcode == "map":
        return scalars
    if opcode == "sort":
        return [scalar for scalar in scalars for _ in range(2)]
    if opcode == "scatter":
        return scalars[:half] + scalars[half + 1 :]
    if opcode in _PAIRS or attribute in {"select", "scatter"}:
        return (scalars[:1] or [None]) * 2
    return None


def _shape_of(text: str, around: Surroundings) -> str | None:
    name = _LAST_NAME.search(text)
    found = None if name is None else around.named(name[1])
    return without_layout(found.shape) if found is not None and found.shape else None


def _scalar(shape: str) -> str | None:
    return None if shape.startswith("(") else shape.partition("[")[0] + "[]"


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


_LONGEST = 600  # characters of an instruction


def explanation(file: DumpFile, about: tuple[str, str]) -> str:
    """The sentences about a word, or the text of an instruction in ``, Markdown; may be empty."""
    (kind, _, owner), name = about[0].partition(" "), about[1]
    words = vocabulary()
    if kind == "line":
        return _of_line(file, int(owner), name)
    if kind == "opcode":
        opcode = words.opcode(name)
        return "" if opcode is None else _of_opcode(opcode)
    if kind in {"attribute", "header"}:
        found = words.attribute(name, owner) if kind == "attribute" else words.header.get(name)
        return "" if found is None else of_attribute(found)
    if kind == "key":
        holder = words.attribute(owner) or words.header.get(owner)
        return "" if holder is None else holder.keys.get(name, "")
    if kind == "type":
        return words.element_types[name].text if name in words.element_types else ""
    if kind == "table":
        return words.tables[name].text if name in words.tables else ""
    return words.keywords.get(name, "") if kind == "keyword" else ""


def of_attribute(attribute: Attribute) -> str:
    """What an attribute says, with an example."""
    return f"{attribute.text}\n\nExample: `{attribute.name}={attribute.example}`"


def _of_opcode(opcode: Opcode) -> str:
    required = [" or ".join(f"`{name}`" for name in group) for group in opcode.required]
    return opcode.text + (f"\n\nRequired: {', '.join(required)}." if required else "")


def _of_line(file: DumpFile, line: int, name: str) -> str:
    """An instruction or a computation; nothing if the text has changed so that it is elsewhere."""
    record = file.records.at(line) if line < len(file.lines) else None
    if isinstance(record, ComputationLine) and record.name == name:
        return f"`{name} {signature(file, record)}`"
    if isinstance(record, InstructionLine) and record.name == name:
        text = " ".join(record.text.split())
        return f"`{text if len(text) <= _LONGEST else text[:_LONGEST] + ' ...'}`"
    return ""
