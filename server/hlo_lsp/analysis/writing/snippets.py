"""Snippets in the notation of the protocol: what is left to fill in, numbered in order."""

import re

from hlo_lsp.vocabulary.entries import Attribute, AttributeKind, Opcode
from hlo_lsp.vocabulary.vocabulary import Vocabulary

_SPECIAL = re.compile(r"[\\$}]")
_CHOICES = {AttributeKind.FLAG, AttributeKind.ENUM}
# Names in an example are of another module: what to say instead, and whether it is in braces.
_NAMES = {
    AttributeKind.COMPUTATION: ("computation", False),
    AttributeKind.COMPUTATIONS: ("computations", True),
    AttributeKind.INSTRUCTIONS: ("instructions", True),
}


def stop(number: int, text: str) -> str:
    """A place to fill in that shows a text."""
    return f"${{{number}:{_SPECIAL.sub(_escaped, text)}}}"


def of_opcode(opcode: Opcode, vocabulary: Vocabulary, literal: str = "") -> str:
    """An opcode with its operands and the attributes that it cannot be without.

    ``literal`` stands in the parentheses of an opcode that takes no operands.
    """
    names = [operand.name for operand in opcode.operands if not operand.optional]
    number = 0
    operands = []
    for name in names or ([literal] if literal else []):
        number += 1
        operands.append(stop(number, name))
    text = f"{opcode.name}({', '.join(operands)})"
    for name in dict.fromkeys(group[0] for group in opcode.required):
        attribute = vocabulary.attribute(name, opcode.name)
        if attribute is not None:
            number += 1
            text += f", {name}={of_value(attribute, number)}"
    return text


def of_value(attribute: Attribute, number: int) -> str:
    """The value of an attribute: a choice of words, or the example to be written over."""
    if attribute.kind in _CHOICES and attribute.values:
        return f"${{{number}|{','.join(attribute.values)}|}}"
    if attribute.kind in _NAMES:
        name, in_braces = _NAMES[attribute.kind]
        return f"{{{stop(number, name)}}}" if in_braces else stop(number, name)
    example = attribute.example
    for opening, end in (("{", "}"), ('"', '"')):
        if example.startswith(opening) and example.endswith(end) and len(example) > 2:
            return opening + stop(number, example[1:-1]) + end
    return stop(number, example)


def _escaped(match: re.Match[str]) -> str:
    return "\\" + match[0]
