"""Instructions whose whole text has a known form, recognized by a few expressions.

Nearly all instructions are regular. The others are read part by part, which takes ten times as
long: what is damaged or unknown is in one of them.
"""

import re
from functools import cache, lru_cache

from hlo_lsp.hlo.vocabulary import vocabulary
from hlo_lsp.model.unknown_texts import (
    is_shape,
    is_unknown_line,
    unknown_in_shape,
    words_of_instructions,
)
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.grammar import load_grammar
from hlo_lsp.syntax.instruction_text import OPCODES_WITHOUT_OPERANDS
from hlo_lsp.syntax.used_value import UsedValue, instruction_column

_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_PLAIN = rf'[^()\[\]{{}}"]*(?:{_STRING}[^()\[\]{{}}"]*)*'


def _nested(depth: int) -> str:
    """Return an expression of a pair of brackets with at most ``depth`` levels in it."""
    inner = rf"(?:{_nested(depth - 1)}{_PLAIN})*" if depth else ""
    return rf"[(\[{{]{_PLAIN}{inner}[)\]}}]"


_MAX_DEPTH = 7  # of the JSON in nearly all texts
VALUE = rf'[^,()\[\]{{}}"]*(?:(?:{_STRING}|{_nested(_MAX_DEPTH)})[^,()\[\]{{}}"]*)*'
_ATTRIBUTES = re.compile(rf"\s*(?:,\s*[\w\-]+=\s*(?=[^\s,]){VALUE})*")
_BEGINNING = re.compile(r", ([\w\-]+=.)")
_LITERAL = re.compile(r'[^()\[\]{}"]*\)')
_SHAPE = r"[a-z]\w*\[[^\[\]()]*\](?:\{[^{}]*\})?"
_SHAPES = re.compile(_SHAPE)
# Attributes whose values have a notation of their own, which is read in full.
READ_VALUES = ("sharding", "replica_groups", "control-predecessors")
_READ_BEGINNINGS = frozenset(f"{name}={{" for name in READ_VALUES) | {"replica_groups=["}


@cache
def _operands() -> re.Pattern[str]:
    name = re.sub(r"\?P<\w+>", "?:", load_grammar("module").expression("operand").pattern)
    one = rf"\s*(?:/\*index=[0-9]+\*/\s*)?(?:{_SHAPE}\s+)?{name}\s*"
    return re.compile(rf"(?:{one}(?:,{one})*|\s*)\)")


@cache
def _metadata() -> re.Pattern[str]:
    keys = "|".join(sorted(vocabulary().attributes["metadata"].keys))
    value = rf'(?:{_STRING}|\{{[^{{}}]*\}}|[^\s,"{{}}]+)'
    return re.compile(rf"metadata=\{{\s*(?:(?:{keys})={value}[\s,]*)*\}}")


def is_regular(text: str, opened: int, opcode: str, shape: str) -> bool:
    """Return True if an instruction is neither damaged nor of an unknown form.

    This function is optimized, as it runs for every instruction. False means that the text needs
    to be read part by part.

    Args:
        text: The text, which ends with the instruction.
        opened: The column after the parenthesis of the operands.
        opcode: The opcode.
        shape: The shape; empty if the text omits it.
    """
    if vocabulary().opcode(opcode) is None or (shape and not is_known_shape(shape)):
        return False
    if opcode in OPCODES_WITHOUT_OPERANDS:
        operands = _LITERAL.match(text, opened)
    else:
        operands = _operands().match(text, opened)
    if operands is None:
        return False
    end = operands.end()
    has_shapes = text.find("[", opened, end) >= 0
    if has_shapes and not all(map(is_known_shape, _SHAPES.findall(text, opened, end))):
        return False
    if end == len(text):
        return True
    if _ATTRIBUTES.fullmatch(text, end) is None:
        return False
    beginnings = _BEGINNING.findall(text, end)
    if not words_of_instructions().beginnings.issuperset(beginnings):
        return False
    if not _READ_BEGINNINGS.isdisjoint(beginnings):
        return False
    start = text.find("metadata={", end)
    return start < 0 or _metadata().match(text, start) is not None


def has_regular_instruction(entry: UsedValue) -> bool:
    """Return True if the text after ``from instruction:`` is regular."""
    found = _match_instruction(entry)
    return found is not None and is_regular(
        found.string, found.start("REST"), found["OPCODE"], found["SHAPE"] or ""
    )


def is_unknown_instruction(entry: UsedValue) -> bool:
    """Return True if the text after ``from instruction:`` has an unknown form."""
    line = entry.lines[-1]
    text = line[instruction_column(line) :]
    return _match_instruction(entry) is None and is_unknown_line(FileKind.MODULE, text)


def _match_instruction(entry: UsedValue) -> re.Match[str] | None:
    """Match the text after ``from instruction:``."""
    line = entry.lines[-1]
    return _instruction().match(line, instruction_column(line))


@cache
def _instruction() -> re.Pattern[str]:
    return load_grammar("module").expression("instruction_line")


@lru_cache(maxsize=1 << 13)
def is_known_shape(text: str) -> bool:
    """Return True if a text is a shape of known parts."""
    return unknown_in_shape(text) is None and is_shape(text)
