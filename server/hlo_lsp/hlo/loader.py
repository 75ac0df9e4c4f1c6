"""From the TOML files of this package to entries."""

import sys
from collections.abc import Mapping
from dataclasses import replace
from importlib.resources import files
from typing import Any

from hlo_lsp.hlo.entries import (
    Attribute,
    AttributeKind,
    ElementType,
    Opcode,
    Operand,
    Table,
)

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Tree = Mapping[str, Any]
_FLAGS = ("true", "false")


def read(name: str) -> Tree:
    """The content of ``name.toml`` in this package."""
    return tomllib.loads(files(__package__).joinpath(f"{name}.toml").read_text("utf-8"))


def attribute(name: str, entry: Tree, keys: Tree | None = None) -> Attribute:
    """An attribute.

    Raises:
        KeyError: text, kind or example are missing.
        ValueError: the kind is none of AttributeKind.
    """
    kind = AttributeKind(entry["kind"])
    values = _FLAGS if kind is AttributeKind.FLAG else tuple(entry.get("values", ()))
    return Attribute(name, entry["text"], kind, values, entry["example"], keys or {})


def attributes(entries: Tree, keys: Tree) -> dict[str, Attribute]:
    """Attributes by their names, each with the keys that belong inside its braces."""
    return {name: attribute(name, entry, keys.get(name)) for name, entry in entries.items()}


def variants(entries: Tree, plain: Mapping[str, Attribute]) -> dict[tuple[str, str], Attribute]:
    """What attributes mean to an opcode, by (attribute, opcode), where that is something special.

    Raises:
        TypeError: what is different is no field of an attribute.
        ValueError: the kind is none of AttributeKind.
    """
    return {
        (name, opcode): replace(plain[name], **_fields(other))
        for name, entry in entries.items()
        for opcode, other in entry.get("on", {}).items()
    }


def opcode(name: str, entry: Tree, known: Mapping[str, Attribute]) -> Opcode:
    """An opcode. Its arity follows from its operands.

    Raises:
        KeyError: text or operands are missing, or an attribute is not known.
    """
    operands = tuple(map(_operand, entry["operands"].split()))
    exact = not any(operand.repeated or operand.optional for operand in operands)
    found = Opcode(
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
    return replace(found, calls=calls(found.attributes, known))


def calls(names: tuple[str, ...], known: Mapping[str, Attribute]) -> tuple[str, ...]:
    """Those of the attributes that name computations."""
    return tuple(name for name in names if known[name].kind.names_computations)


def element_types(entries: Tree) -> dict[str, ElementType]:
    """Element types by their names."""
    return {name: ElementType(name, **entry) for name, entry in entries.items()}


def tables(entries: Tree) -> dict[str, Table]:
    """Tables by their names."""
    return {name: Table(name, **entry) for name, entry in entries.items()}


def _operand(text: str) -> Operand:
    return Operand(text.rstrip("*?"), text.endswith("*"), text.endswith("?"))


def _fields(other: Tree) -> dict[str, Any]:
    fields = dict(other)
    if "kind" in fields:
        fields["kind"] = AttributeKind(fields["kind"])
    if "values" in fields:
        fields["values"] = tuple(fields["values"])
    return fields
