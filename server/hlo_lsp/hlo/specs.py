"""Specifications of HLO opcodes, attributes, element types and tables."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from itertools import chain


class AttributeKind(Enum):
    """The notation of an attribute value."""

    FLAG = "flag"  # true or false
    INTEGER = "integer"
    NUMBER = "number"  # a decimal
    INTEGERS = "integers"  # {0,1}
    ENUM = "enum"  # one of some words
    ENUMS = "enums"  # some words in braces
    COMPUTATION = "computation"  # its name, or the computation itself in braces
    COMPUTATIONS = "computations"  # names in braces
    INSTRUCTIONS = "instructions"  # names in braces
    STRING = "string"  # in quotes
    BRACES = "braces"  # a notation of this attribute, in braces
    TEXT = "text"  # a notation of this attribute, with or without braces

    @property
    def names_computations(self) -> bool:
        """True if the value names computations."""
        return self in {AttributeKind.COMPUTATION, AttributeKind.COMPUTATIONS}


@dataclass(frozen=True, slots=True)
class AttributeSpec:
    """An attribute of instructions, of the module or of a computation.

    ``values`` are the allowed words, for a flag ``true`` and ``false``. ``keys`` describes the
    words inside the braces.
    """

    name: str
    text: str
    kind: AttributeKind
    values: tuple[str, ...] = ()
    example: str = ""
    keys: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OperandSpec:
    """A position in the operand list; a repeated one takes zero or more operands."""

    name: str
    repeated: bool = False
    optional: bool = False


@dataclass(frozen=True, slots=True)
class OpcodeSpec:
    """An opcode with its operands and attributes.

    ``arity`` is the number of operands, None if XLA allows any. ``required`` lists groups of
    attributes; at least one of each group is mandatory. ``optional`` lists the other attributes,
    except those of every instruction. ``calls`` lists the attributes that name computations.
    ``elementwise`` opcodes compute each element from the operand elements at the same index.
    """

    name: str
    text: str
    arity: int | None
    operands: tuple[OperandSpec, ...]
    required: tuple[tuple[str, ...], ...]
    optional: tuple[str, ...]
    elementwise: bool = False
    calls: tuple[str, ...] = ()

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes of this opcode, required ones first, without duplicates."""
        return tuple(dict.fromkeys(chain(*self.required, self.optional)))


@dataclass(frozen=True, slots=True)
class ElementType:
    """An element type of arrays and the bits of one value; 0 for a token."""

    name: str
    bits: int
    text: str


@dataclass(frozen=True, slots=True)
class TableSpec:
    """A table before the computations, and the keys of its rows."""

    name: str
    text: str
    keys: Mapping[str, str] = field(default_factory=dict)
