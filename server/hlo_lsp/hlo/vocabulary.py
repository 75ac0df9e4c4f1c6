"""The vocabulary of HLO: opcodes, attributes, element types and keywords.

The data are in the TOML files of this package.
"""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cache, lru_cache
from itertools import chain
from pkgutil import get_data
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TomlTable = Mapping[str, Any]
# Attributes that an asynchronous form, such as `slice-start`, adds to those of its opcode.
_ASYNC_START_ATTRIBUTES = ("async_execution_thread", "output_to_operand_aliasing")
_ASYNC_STEP_ATTRIBUTES = ("async_execution_thread",)
_FLAG_VALUES = ("true", "false")


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


class ResultKind(Enum):
    """The ways in which a part of a result comes from elsewhere, in the words of the file."""

    OPERAND = ""  # the operand or an element of it, in its buffer
    ELEMENT = "element of "  # the element that the attribute `index` selects, in its buffer
    BITCAST = "bitcast of "  # the bytes of the operand, in its buffer
    TUPLE = "tuple of "  # all operands, in their buffers
    COPY = "copy of "  # the operand, in another buffer
    REARRANGED = "rearranged "  # the data of the operand in another order or form
    ROOT = "root"  # the result of a called computation
    ARGUMENT = "argument"  # what the caller of the computation passes


class OperandReading(Enum):
    """The parts of its operands that an instruction reads."""

    ALL = "all"
    TABLE = "table"  # of a tuple, the pointers to its elements
    NOTHING = "nothing"


class OperandPassing(Enum):
    """The ways in which operands become parameters of called computations."""

    NONE = "none"
    POSITIONS = "positions"  # operand k is parameter k
    LOOP = "loop"  # the only operand, and then the root of the body
    BRANCHES = "branches"  # operand k + 1 is the parameter of branch k


class CostRule(Enum):
    """The cost of each element of a result in XLA's cost analysis."""

    ELEMENTWISE = "elementwise"  # a FLOP
    TRANSCENDENTAL = "transcendental"
    DATA = "data"  # nothing, but the bytes of operands and result
    FREE = "free"  # nothing


class SendRule(Enum):
    """The bytes that each of n devices sends for a collective, by a ring algorithm."""

    NONE = ""  # not a collective
    UNKNOWN = "unknown"  # they are known when it runs
    OPERANDS = "operands"
    RESULT = "result"
    OPERANDS_TO_OTHERS = "(n - 1) operands"
    PIECES_TO_OTHERS = "(n - 1)/n of operands"
    PIECES_TO_OTHERS_TWICE = "2(n - 1)/n of operands"


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
class ResultPart:
    """A part of a result that comes from elsewhere.

    ``at`` is its shape index in the result. ``operand`` is the number of the first operand that it
    comes from; if ``is_repeated``, each of several operands is an element of the part. ``element``
    is the shape index in the operand. ``attribute`` names the called computations, all if empty.
    """

    at: tuple[int, ...]
    kind: ResultKind
    operand: int = 0
    is_repeated: bool = False
    element: tuple[int, ...] = ()
    attribute: str = ""


@dataclass(frozen=True, slots=True)
class OpcodeSpec:
    """An opcode with its operands and attributes.

    ``arity`` is the number of operands, None if XLA allows any. ``required`` lists groups of
    attributes; at least one of each group is mandatory. ``optional`` lists the other attributes,
    except those of every instruction. ``calls`` lists the attributes that name computations.
    ``elementwise`` opcodes compute each element from the operand elements at the same index.
    ``result`` lists the parts of the result that come from elsewhere. If an opcode
    ``runs_callees``, the instructions of its called computations are in the schedule. ``cost`` is
    the rule for opcodes without a formula in ``cost/formulas.py``. ``sends`` is the rule for the
    network.
    """

    name: str
    text: str
    arity: int | None
    operands: tuple[OperandSpec, ...]
    required: tuple[tuple[str, ...], ...]
    optional: tuple[str, ...]
    elementwise: bool = False
    calls: tuple[str, ...] = ()
    result: tuple[ResultPart, ...] = ()
    reads: OperandReading = OperandReading.ALL
    passes: OperandPassing = OperandPassing.NONE
    runs_callees: bool = False
    cost: CostRule = CostRule.DATA
    sends: SendRule = SendRule.NONE

    @property
    def returns(self) -> ResultKind | None:
        """The relation of the whole result to an operand, a callee, or the caller; None without."""
        whole = (part.kind for part in self.result if not part.at and not part.element)
        return next(whole, None)

    @property
    def fewest(self) -> int:
        """The number of operands without the repeated and the optional ones."""
        return sum(not (one.repeated or one.optional) for one in self.operands)

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes of this opcode, required ones first, without duplicates."""
        return tuple(dict.fromkeys(chain(*self.required, self.optional)))


@dataclass(frozen=True, slots=True)
class ElementType:
    """An element type of arrays and the bits of one value; 0 for a token.

    ``narrower`` is the type with half of the bits that programs use in its place, if there is one.
    """

    name: str
    bits: int
    text: str
    narrower: str | None = None


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Specifications by name.

    ``common`` lists the attributes of every instruction in the order of printing. ``header`` holds
    the attributes of the module. ``tables`` and ``keywords`` describe the tables before the
    computations, and ``HloModule``, ``ENTRY`` and ``ROOT``.
    """

    opcodes: Mapping[str, OpcodeSpec]
    attributes: Mapping[str, AttributeSpec]
    variants: Mapping[tuple[str, str], AttributeSpec]
    common: tuple[str, ...]
    header: Mapping[str, AttributeSpec]
    tables: Mapping[str, str]
    keywords: Mapping[str, str]
    element_types: Mapping[str, ElementType]

    def opcode(self, name: str) -> OpcodeSpec | None:
        """Return the opcode of a name, or None if it is unknown.

        ``slice-start`` and the like are known, too: XLA prints an ``async-start`` of a computation
        with a single instruction OP as ``OP-start``, unless that is an opcode itself
        (hlo_parser.cc, ParseOpcode).
        """
        return self.opcodes.get(name) or self.async_form(name)

    def async_form(self, name: str) -> OpcodeSpec | None:
        """Return ``OP-start`` as the ``async-start`` of an OP, also if it is an opcode itself."""
        wrapped, _, step = name.rpartition("-")
        base = self.opcodes.get(wrapped)
        if base is None or wrapped.startswith("async-"):
            return None
        if step == "start":
            return self._async_start(base)
        return self._update_or_done(base, step) if step in {"update", "done"} else None

    def attribute(self, name: str, opcode: str = "") -> AttributeSpec | None:
        """Return the attribute of this name, with the meaning for the opcode if one is given."""
        of_opcode = self.variants.get((name, opcode))
        if of_opcode is None and opcode.endswith("-start"):
            of_opcode = self.variants.get((name, opcode.removesuffix("-start")))
        return of_opcode or self.attributes.get(name)

    def _async_start(self, base: OpcodeSpec) -> OpcodeSpec:
        text = f"Begins the `{base.name}` that runs beside other instructions until its "
        return replace(
            base,
            name=f"{base.name}-start",
            text=f"{text}`{base.name}-done`. {base.text}",
            optional=tuple(dict.fromkeys((*base.optional, *_ASYNC_START_ATTRIBUTES))),
            elementwise=False,
            result=(
                ResultPart((0,), ResultKind.TUPLE),
                *(replace(part, at=(1, *part.at)) for part in base.result),
            ),
        )

    @staticmethod
    def _update_or_done(base: OpcodeSpec, step: str) -> OpcodeSpec:
        text = (
            f"Waits for an asynchronous `{base.name}` and gives its result."
            if step == "done"
            else f"A step of an asynchronous `{base.name}` between its start and its done."
        )
        operands = (OperandSpec(f"{base.name.replace('-', '_')}_start"),)
        part = ResultPart((), ResultKind.OPERAND, element=(1,) if step == "done" else ())
        name, attributes = f"{base.name}-{step}", _ASYNC_STEP_ATTRIBUTES
        return OpcodeSpec(name, text, 1, operands, (), attributes, result=(part,))


@cache
def vocabulary() -> Vocabulary:
    """Return the vocabulary, read once."""
    keys, header = read_toml("keys"), read_toml("header")
    entries = dict(read_toml("attributes"))
    common = tuple(entries.pop("common"))
    attributes = {name: _attribute_spec(name, entry, keys) for name, entry in entries.items()}
    return Vocabulary(
        {name: _opcode_spec(name, each, attributes) for name, each in read_toml("opcodes").items()},
        attributes,
        {
            (name, opcode): _attribute_spec(name, {**entry, **other}, keys)
            for name, entry in entries.items()
            for opcode, other in entry.get("on", {}).items()
        },
        common,
        {name: _attribute_spec(name, entry, keys) for name, entry in header["attributes"].items()},
        header["tables"],
        header["keywords"],
        {name: ElementType(name, **entry) for name, entry in read_toml("element_types").items()},
    )


@cache
def read_toml(name: str, package: str = __package__) -> TomlTable:
    """Return the content of ``name.toml`` in a package, by default in this one."""
    data = get_data(package, f"{name}.toml")  # importlib.resources takes 5 ms to import
    assert data is not None
    return tomllib.loads(data.decode())


def _attribute_spec(name: str, entry: TomlTable, keys: TomlTable) -> AttributeSpec:
    kind = AttributeKind(entry["kind"])
    values = _FLAG_VALUES if kind is AttributeKind.FLAG else tuple(entry.get("values", ()))
    return AttributeSpec(name, entry["text"], kind, values, entry["example"], keys.get(name, {}))


def _opcode_spec(name: str, entry: TomlTable, known: Mapping[str, AttributeSpec]) -> OpcodeSpec:
    """Return the specification of an opcode; its arity follows from its operands."""
    operands = tuple(
        OperandSpec(text.rstrip("*?"), text.endswith("*"), text.endswith("?"))
        for text in entry["operands"].split()
    )
    exact = not any(operand.repeated or operand.optional for operand in operands)
    required = (
        (group,) if isinstance(group, str) else tuple(group) for group in entry.get("required", ())
    )
    found = OpcodeSpec(
        name,
        entry["text"],
        len(operands) if exact else None,
        operands,
        tuple(required),
        tuple(entry.get("optional", ())),
        entry.get("elementwise", False),
        result=_result_parts(entry.get("result", {}), operands),
        reads=OperandReading(entry.get("reads", "all")),
        passes=OperandPassing(entry.get("passes", "none")),
        runs_callees=entry.get("runs_callees", False),
        cost=CostRule(entry.get("cost", "elementwise" if entry.get("elementwise") else "data")),
        sends=SendRule(entry.get("sends", "")),
    )
    calls = (name for name in found.attributes if known[name].kind.names_computations)
    return replace(found, calls=tuple(calls))


def _result_parts(
    entry: str | Mapping[str, str], operands: tuple[OperandSpec, ...]
) -> tuple[ResultPart, ...]:
    if not isinstance(entry, str):
        elements = ((int(at), _result_parts(each, operands)) for at, each in entry.items())
        return tuple(replace(part, at=(at,)) for at, parts in elements for part in parts)
    kind = next(kind for kind in reversed(ResultKind) if entry.startswith(kind.value))
    name, _, index = entry.removeprefix(kind.value).rstrip("}").partition("{")
    if kind in {ResultKind.ROOT, ResultKind.ARGUMENT}:
        return (ResultPart((), kind, attribute=name.removeprefix(" of ")),)
    (number,) = (number for number, each in enumerate(operands) if each.name == name)
    element = (int(index),) if index else ()
    return (ResultPart((), kind, number, operands[number].repeated, element),)


@lru_cache(maxsize=1024)  # a text may have any number of unknown opcodes
def opcode_spec(name: str) -> OpcodeSpec:
    """Return the opcode of a name; an unknown one computes its result from all operands."""
    return vocabulary().opcode(name) or OpcodeSpec(name, "", None, (), (), ())


def narrower_type(element_type: str) -> str | None:
    """Return the type with half of the bits that programs use in place of a type, or None."""
    known = vocabulary().element_types.get(element_type)
    return None if known is None else known.narrower


def opcodes_where(holds: Callable[[OpcodeSpec], bool]) -> frozenset[str]:
    """Return the names of the opcodes for which a condition holds."""
    return frozenset(one.name for one in vocabulary().opcodes.values() if holds(one))


CALL_ATTRIBUTES = frozenset(
    one.name for one in vocabulary().attributes.values() if one.kind.names_computations
)
# Each index of these moves a slice; a fusion with one does nothing else.
INDEXED_OPCODES = frozenset({"gather", "scatter"})
PRODUCT_OPCODES = frozenset({"convolution", "dot"})
# The called computations of these are part of the schedule. Those of control flow run in place of
# the instruction, which returns their result.
CALLING_OPCODES = opcodes_where(lambda one: one.runs_callees)
CONTROL_FLOW_OPCODES = opcodes_where(
    lambda one: one.runs_callees and one.returns is ResultKind.ROOT
)


def operand_description(name: str, opcode: str) -> str:
    """Return a sentence about an operand of an opcode, or an empty string for an unknown name.

    ``OP_start`` is the operand of ``OP-done`` and ``OP-update`` if XLA has no such opcode.
    """
    entry = read_toml("operands").get(name)
    if entry is not None:
        return str(entry.get("on", {}).get(opcode, entry["text"]))
    started = name.removesuffix("_start")
    return "" if started == name else f"The `{started.replace('_', '-')}-start` to wait for."
