"""The vocabulary covers every instruction of the corpus."""

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest

from dumps import FOLDERS, module_files
from hlo_lsp.hlo.vocabulary import AttributeKind, OpcodeSpec, vocabulary
from hlo_lsp.syntax.instruction_text import InstructionText, parse_instruction
from hlo_lsp.text import disk

pytestmark = pytest.mark.corpus

WORDS = vocabulary()
_FOLDERS = [name for name in FOLDERS if name != "samples"]  # which have no modules
_INSTRUCTION = re.compile(r" +(ROOT )?%?[\w.\-]+ = ")
_ARRAY = re.compile(r"\w+\[([^\]]*)\]")
_NAMED = re.compile(r"\s*([\w\-]+)=")
_NESTING = re.compile(r'"(?:[^"\\]|\\.)*"|[(\[{]|[)\]}]|,')
_SPELLED = {
    AttributeKind.INTEGER: re.compile(r"-?\d+"),
    AttributeKind.INTEGERS: re.compile(r"\{(\d+(,\d+)*)?\}"),
    AttributeKind.COMPUTATION: re.compile(r"%?[A-Za-z_][\w.\-]*"),
    AttributeKind.COMPUTATIONS: re.compile(r"\{%?[\w.\-]+(, %?[\w.\-]+)*\}"),
    AttributeKind.INSTRUCTIONS: re.compile(r"\{%?[\w.\-]+(, %?[\w.\-]+)*\}"),
    AttributeKind.STRING: re.compile(r'"([^"\\]|\\.)*"'),
    AttributeKind.BRACES: re.compile(r"\{.*\}"),
    AttributeKind.NUMBER: re.compile(r"[\d.e+-]+"),
    AttributeKind.TEXT: re.compile(r".+"),
}


def _wrong_words(instruction: InstructionText) -> Iterator[str]:
    opcode = WORDS.opcode(instruction.opcode.text)
    if opcode is None:
        yield f"unknown opcode {instruction.opcode.text}"
        return
    count = len(instruction.operands)
    if opcode.arity not in {None, count}:
        yield f"{opcode.name} with {count} operands"
    printed = {attribute.name: attribute.value.text for attribute in instruction.attributes}
    for name in printed:
        if name not in WORDS.common and name not in opcode.attributes:
            yield f"{opcode.name} with {name}"
    for group in opcode.required:
        if printed.keys().isdisjoint(group):
            yield f"{opcode.name} without {' or '.join(group)}"
    for name, value in printed.items():
        if not _may_stand_there(name, opcode, value.strip()):
            yield f"{opcode.name} {name}={value[:80]}"
    for key in instruction.metadata:
        if key not in WORDS.attributes["metadata"].keys:
            yield f"metadata {key}"


def _may_stand_there(name: str, opcode: OpcodeSpec, value: str) -> bool:
    attribute = WORDS.attribute(name, opcode.name)
    if attribute is None:
        return True  # reported already
    spelled = _SPELLED.get(attribute.kind)
    if spelled is not None:
        return spelled.fullmatch(value) is not None
    words = value.strip("{}").split(",") if attribute.kind is AttributeKind.ENUMS else [value]
    return set(words) <= set(attribute.values)


def _instructions(path: Path) -> Iterator[InstructionText]:
    for line in disk.read_document(path).lines:
        if _INSTRUCTION.match(line):
            instruction = parse_instruction(line)
            assert instruction is not None, line[:120]
            yield instruction


def _wrong(path: Path) -> set[str]:
    shapes: dict[str, str] = {}
    wrong: set[str] = set()
    for instruction in _instructions(path):
        wrong.update(_wrong_words(instruction))
        shapes[instruction.name.text.lstrip("%")] = instruction.shape.text
        opcode = WORDS.opcode(instruction.opcode.text)
        if opcode is not None and opcode.elementwise:
            dims = _dims(instruction.shape.text)
            for operand in instruction.operands:
                of_operand = _dims(shapes[operand.text.lstrip("%")])
                if of_operand != dims:
                    wrong.add(f"{opcode.name} of {of_operand} gives {dims}")
    return wrong


def _dims(shape: str) -> list[str]:
    """Return the dimensions of an array or of all arrays of a tuple."""
    return _ARRAY.findall(shape)


def _wrong_header(path: Path) -> set[str]:
    head = disk.read_document(path).lines[0]
    names: list[str] = []
    depth, start = 0, head.index(",") + 1 if "," in head else len(head)
    for sign in chain(_NESTING.finditer(head, start), [None]):
        if sign is None or (sign[0] == "," and depth == 0):
            named = _NAMED.match(head, start)
            names += [named[1]] if named else [f"nothing at {start}"]
            start = sign.end() if sign else start
        else:
            depth += 1 if sign[0] in "([{" else -1 if sign[0] in ")]}" else 0
    return {name for name in names if name not in WORDS.header}


@pytest.mark.parametrize("folder", [*_FOLDERS, "train_l24"])
def test_modules_use_only_known_words(folder: str, request: pytest.FixtureRequest) -> None:
    root: Path = request.getfixturevalue("corpus_small" if folder in _FOLDERS else folder)
    modules = module_files(root / folder if folder in _FOLDERS else root)
    assert modules
    wrong = {path.name: found for path in modules if (found := _wrong(path) | _wrong_header(path))}
    assert wrong == {}
