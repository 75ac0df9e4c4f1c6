"""Specifications of HLO loaded from the TOML files of this package."""

import sys
from collections.abc import Mapping
from dataclasses import replace
from importlib.resources import files
from typing import Any

from hlo_lsp.hlo.specs import (
    AttributeKind,
    AttributeSpec,
    ElementType,
    OpcodeSpec,
    OperandSpec,
    TableSpec,
)

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TomlTable = Mapping[str, Any]
_FLAG_VALUES = ("true", "false")


def read_toml(name: str) -> TomlTable:
    """Return the content of ``name.toml`` in this package."""
    return tomllib.loads(files(__package__).joinpath(f"{name}.toml").read_text("utf-8"))


def attribute_spec(name: str, entry: TomlTable, keys: TomlTable | None = None) -> AttributeSpec:
    """Return the specification of an attribute.

    Raises:
        KeyError: The text, kind or example is missing.
        ValueError: The kind is not an ``AttributeKind``.
    """
    kind = AttributeKind(entry["kind"])
    values = _FLAG_VALUES if kind is AttributeKind.FLAG else tuple(entry.get("values", ()))
    return AttributeSpec(name, entry["text"], kind, values, entry["example"], keys or {})


def attribute_specs(entries: TomlTable, keys: TomlTable) -> dict[str, AttributeSpec]:
    """Return attributes by name, each with the keys inside its braces."""
    return {name: attribute_spec(name, entry, keys.get(name)) for name, entry in entries.items()}


def attribute_variants(
    entries: TomlTable, plain: Mapping[str, AttributeSpec]
) -> dict[tuple[str, str], AttributeSpec]:
    """Return attributes with a special meaning for an opcode, by (attribute, opcode).

    Raises:
        TypeError: A key is not a field of an attribute.
        ValueError: The kind is not an ``AttributeKind``.
    """
    return {
        (name, opcode): replace(plain[name], **_variant_fields(other))
        for name, entry in entries.items()
        for opcode, other in entry.get("on", {}).items()
    }


def opcode_spec(name: str, entry: TomlTable, known: Mapping[str, AttributeSpec]) -> OpcodeSpec:
    """Return the specification of an opcode; its arity follows from its operands.

    Raises:
        KeyError: The text or the operands are missing, or an attribute is unknown.
    """
    operands = tuple(map(_operand_spec, entry["operands"].split()))
    exact = not any(operand.repeated or operand.optional for operand in operands)
    found = OpcodeSpec(
        name,
        entry["text"],
        len(operands) if exact else None,
        operands,
        tuple((group,) if isinstance(group, str) else tuple(group)
              for group in entry.get("required", ())),
        tuple(entry.get("optional", ())),
        entry.get("elementwise", False),
        (),
    )  # fmt: skip
    return replace(found, calls=call_attributes(found.attributes, known))


def call_attributes(names: tuple[str, ...], known: Mapping[str, AttributeSpec]) -> tuple[str, ...]:
    """Return the attributes that name computations."""
    return tuple(name for name in names if known[name].kind.names_computations)


def element_types(entries: TomlTable) -> dict[str, ElementType]:
    """Return element types by name."""
    return {name: ElementType(name, **entry) for name, entry in entries.items()}


def table_specs(entries: TomlTable) -> dict[str, TableSpec]:
    """Return tables by name."""
    return {name: TableSpec(name, **entry) for name, entry in entries.items()}


def _operand_spec(text: str) -> OperandSpec:
    return OperandSpec(text.rstrip("*?"), text.endswith("*"), text.endswith("?"))


def _variant_fields(other: TomlTable) -> dict[str, Any]:
    fields = dict(other)
    if "kind" in fields:
        fields["kind"] = AttributeKind(fields["kind"])
    if "values" in fields:
        fields["values"] = tuple(fields["values"])
    return fields
