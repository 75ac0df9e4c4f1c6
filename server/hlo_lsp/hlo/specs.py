"""What is known of one word of HLO."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum


class AttributeKind(Enum):
    """How the value of an attribute is written."""

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
    BRACES = "braces"  # a notation of its own, in braces
    TEXT = "text"  # a notation of its own, not always in braces

    @property
    def names_computations(self) -> bool:
        """Whether the value names computations."""
        return self in {AttributeKind.COMPUTATION, AttributeKind.COMPUTATIONS}


@dataclass(frozen=True, slots=True)
class AttributeSpec:
    """An attribute of instructions, of the module or of a computation.

    ``values`` are the words that may stand there, of a flag ``true`` and ``false``. ``keys`` are
    the words inside its braces with what they mean.
    """

    name: str
    text: str
    kind: AttributeKind
    values: tuple[str, ...] = ()
    example: str = ""
    keys: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OperandSpec:
    """A place in the operand list. A repeated one takes any number of operands, also none."""

    name: str
    repeated: bool = False
    optional: bool = False


@dataclass(frozen=True, slots=True)
class OpcodeSpec:
    """What an opcode does and takes.

    ``arity`` is the number of operands, None where XLA allows any. ``required`` are groups of
    attributes: of each group at least one must be there. ``optional`` are further attributes of its
    own, without those that every instruction may have. ``calls`` are the attributes among both that
    name computations. ``elementwise`` means that the result has the dimensions of every operand and
    that each element comes from the elements in the same place.
    """

    name: str
    text: str
    arity: int | None
    operands: tuple[OperandSpec, ...]
    required: tuple[tuple[str, ...], ...]
    optional: tuple[str, ...]
    elementwise: bool
    calls: tuple[str, ...]

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes of its own, required ones first, each once."""
        return tuple(dict.fromkeys([name for group in self.required for name in group]
                                   + list(self.optional)))  # fmt: skip


@dataclass(frozen=True, slots=True)
class ElementType:
    """A type of array elements and the bits of one value; 0 of a token."""

    name: str
    bits: int
    text: str


@dataclass(frozen=True, slots=True)
class TableSpec:
    """A table in front of the computations and the keys of its rows."""

    name: str
    text: str
    keys: Mapping[str, str] = field(default_factory=dict)
