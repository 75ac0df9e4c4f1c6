"""Specifications of HLO loaded from the TOML files of this package."""

import sys
from collections.abc import Mapping
from dataclasses import replace
from importlib.resources import files
from typing import Any

from hlo_lsp.hlo.specs import AttributeKind, AttributeSpec, OpcodeSpec, OperandSpec

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


def attribute_variants(entries: TomlTable, keys: TomlTable) -> dict[tuple[str, str], AttributeSpec]:
    """Return attributes with a special meaning for an opcode, by (attribute, opcode)."""
    return {
        (name, opcode): attribute_spec(name, {**entry, **other}, keys.get(name))
        for name, entry in entries.items()
        for opcode, other in entry.get("on", {}).items()
    }


def opcode_spec(name: str, entry: TomlTable, known: Mapping[str, AttributeSpec]) -> OpcodeSpec:
    """Return the specification of an opcode; its arity follows from its operands.

    Raises:
        KeyError: The text or the operands are missing, or an attribute is unknown.
    """
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
    )
    calls = (name for name in found.attributes if known[name].kind.names_computations)
    return replace(found, calls=tuple(calls))
