"""The vocabulary of HLO: opcodes, attributes, element types and keywords."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

from hlo_lsp.hlo import loader as reading
from hlo_lsp.hlo.specs import AttributeSpec, ElementType, OpcodeSpec, OperandSpec, TableSpec

# Attributes that an asynchronous form, such as `slice-start`, adds to those of its opcode.
_ASYNC_START_ATTRIBUTES = ("async_execution_thread", "output_to_operand_aliasing")
_ASYNC_STEP_ATTRIBUTES = ("async_execution_thread",)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Specifications by name.

    ``common`` lists the attributes of every instruction in the order of printing. ``header`` holds
    the attributes of the module. ``keywords`` describes ``HloModule``, ``ENTRY`` and ``ROOT``.
    """

    opcodes: Mapping[str, OpcodeSpec]
    attributes: Mapping[str, AttributeSpec]
    variants: Mapping[tuple[str, str], AttributeSpec]
    common: tuple[str, ...]
    header: Mapping[str, AttributeSpec]
    tables: Mapping[str, TableSpec]
    keywords: Mapping[str, str]
    element_types: Mapping[str, ElementType]

    def opcode(self, name: str) -> OpcodeSpec | None:
        """Return the opcode of a name, or None if it is unknown.

        ``slice-start`` and the like are known, too: XLA prints an ``async-start`` of a computation
        with a single instruction OP as ``OP-start``, unless that is an opcode itself
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
        )

    @staticmethod
    def _update_or_done(base: OpcodeSpec, step: str) -> OpcodeSpec:
        text = (
            f"Waits for an asynchronous `{base.name}` and gives its result."
            if step == "done"
            else f"A step of an asynchronous `{base.name}` between its start and its done."
        )
        operands = (OperandSpec(f"{base.name.replace('-', '_')}_start"),)
        return OpcodeSpec(f"{base.name}-{step}", text, 1, operands, (), _ASYNC_STEP_ATTRIBUTES)


@cache
def vocabulary() -> Vocabulary:
    """Return the vocabulary, read once."""
    keys = reading.read_toml("keys")
    entries = dict(reading.read_toml("attributes"))
    common = tuple(entries.pop("common"))
    header = reading.read_toml("header")
    attributes = reading.attribute_specs(entries, keys)
    opcodes, types = reading.read_toml("opcodes"), reading.read_toml("element_types")
    return Vocabulary(
        {name: reading.opcode_spec(name, entry, attributes) for name, entry in opcodes.items()},
        attributes,
        reading.attribute_variants(entries, keys),
        common,
        reading.attribute_specs(header["attributes"], keys),
        {name: TableSpec(name, **entry) for name, entry in header["tables"].items()},
        header["keywords"],
        {name: ElementType(name, **entry) for name, entry in types.items()},
    )


def operand_description(name: str, opcode: str) -> str:
    """Return a sentence about an operand of an opcode, or an empty string for an unknown name.

    ``OP_start`` is the operand of ``OP-done`` and ``OP-update`` if XLA has no such opcode.
    """
    entry = _operand_entries().get(name)
    if entry is not None:
        return str(entry.get("on", {}).get(opcode, entry["text"]))
    started = name.removesuffix("_start")
    return "" if started == name else f"The `{started.replace('_', '-')}-start` to wait for."


@cache
def _operand_entries() -> reading.TomlTable:
    return reading.read_toml("operands")
