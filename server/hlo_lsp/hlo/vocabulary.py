"""The vocabulary of HLO: everything that is known of its words, in one place."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from hlo_lsp.hlo import reading
from hlo_lsp.hlo.entries import Attribute, ElementType, Opcode, Operand, Table

# Attributes that the sugar of an asynchronous computation adds to those of its opcode.
_OF_STARTS = ("async_execution_thread", "output_to_operand_aliasing")
_OF_OTHERS = ("async_execution_thread",)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Words of HLO by their names.

    ``common`` are the attributes that every instruction may have, in the order in which they are
    printed; ``header`` those of the module and ``of_computations`` those behind the closing brace
    of a computation. ``keywords`` are ``HloModule``, ``ENTRY`` and ``ROOT`` with their meaning.
    """

    opcodes: Mapping[str, Opcode]
    attributes: Mapping[str, Attribute]
    variants: Mapping[tuple[str, str], Attribute]
    common: tuple[str, ...]
    header: Mapping[str, Attribute]
    of_computations: Mapping[str, Attribute]
    tables: Mapping[str, Table]
    keywords: Mapping[str, str]
    element_types: Mapping[str, ElementType]

    def opcode(self, name: str) -> Opcode | None:
        """The opcode, also a sugared asynchronous one such as ``slice-start``; None if unknown.

        XLA's printer writes ``async-start`` of a computation with a single instruction OP as
        ``OP-start``, likewise update and done, where the OP has no such opcode of its own
        (hlo_parser.cc, ParseOpcode).
        """
        found = self.opcodes.get(name)
        if found is not None:
            return found
        wrapped, _, step = name.rpartition("-")
        base = self.opcodes.get(wrapped)
        if base is None or wrapped.startswith("async-"):
            return None
        if step == "start":
            return self._start(base)
        return self._later(base, step) if step in {"update", "done"} else None

    def attribute(self, name: str, opcode: str = "") -> Attribute | None:
        """What an attribute of an instruction means, to this opcode if one is given."""
        of_opcode = self.variants.get((name, opcode))
        if of_opcode is None and opcode.endswith("-start"):
            of_opcode = self.variants.get((name, opcode.removesuffix("-start")))
        return of_opcode or self.attributes.get(name)

    def knows(self, opcode: Opcode, attribute: str) -> bool:
        """Whether an instruction with this opcode may print the attribute."""
        return attribute in self.common or attribute in opcode.attributes

    def _start(self, base: Opcode) -> Opcode:
        optional = (*base.optional, *(name for name in _OF_STARTS if name not in base.optional))
        return Opcode(
            f"{base.name}-start",
            f"Begins the `{base.name}` that runs beside other instructions until its "
            f"`{base.name}-done`. {base.text}",
            base.arity,
            base.operands,
            base.required,
            optional,
            elementwise=False,
            calls=base.calls,
        )

    @staticmethod
    def _later(base: Opcode, step: str) -> Opcode:
        text = (
            f"Waits for an asynchronous `{base.name}` and gives its result."
            if step == "done"
            else f"A step of an asynchronous `{base.name}` between its start and its done."
        )
        operands = (Operand(f"{base.name.replace('-', '_')}_start"),)
        return Opcode(f"{base.name}-{step}", text, 1, operands, (), _OF_OTHERS, False, ())


@cache
def vocabulary() -> Vocabulary:
    """The vocabulary, read once."""
    keys = reading.read("keys")
    entries = dict(reading.read("attributes"))
    common = tuple(entries.pop("common"))
    header = reading.read("header")
    attributes = reading.attributes(entries, keys)
    return Vocabulary(
        {name: reading.opcode(name, entry, attributes)
         for name, entry in reading.read("opcodes").items()},
        attributes,
        reading.variants(entries, attributes),
        common,
        reading.attributes(header["attributes"], keys),
        reading.attributes(header["computation_attributes"], keys),
        reading.tables(header["tables"]),
        header["keywords"],
        reading.element_types(reading.read("element_types")),
    )  # fmt: skip


def operand_text(name: str, opcode: str) -> str:
    """A sentence about an operand of an opcode; empty for a name that is not known.

    The operand of ``OP-done`` and ``OP-update`` where XLA has no such opcode is ``OP_start``.
    """
    entry = _operands().get(name)
    if entry is not None:
        return str(entry.get("on", {}).get(opcode, entry["text"]))
    started = name.removesuffix("_start")
    return "" if started == name else f"The `{started.replace('_', '-')}-start` to wait for."


@cache
def _operands() -> reading.Tree:
    return reading.read("operands")
