"""Validation and conversion of JSON-RPC messages."""

from types import NoneType
from typing import Any

from lsprotocol import types


def adapt_converter(converter: Any) -> None:
    """Make the converter of pygls refuse wrong strings, and omit what older clients refuse.

    It stops at the first wrong value. The report on all of them, which is not shown to anyone,
    takes 13 s and 500 MB for 100,000 characters where a list belongs.
    """
    converter.detailed_validation = False
    for kind in (types.SignatureInformation, types.SignatureHelp):  # the inner type first
        _omit_none(converter, kind)
    converter.register_structure_hook(str, _structure_text)


def is_message(data: Any) -> bool:
    """Return True for a request, a notification, or a response of JSON-RPC 2.0."""
    if not isinstance(data, dict) or data.get("jsonrpc") != "2.0":
        return False
    if "method" in data:
        return isinstance(data["method"], str) and type(data.get("id", 0)) in {int, str}
    return "id" in data and bool(data.keys() & {"result", "error"})


_TOKENS = ("workDoneToken", "partialResultToken", "token", "id")


def has_valid_tokens(params: Any) -> bool:
    """Return True if all tokens and ids in the parameters are numbers or strings.

    The converter takes any value for them, because they have two types.
    """
    if not isinstance(params, dict):
        return True
    return all(type(params.get(name, "")) in {int, str, NoneType} for name in _TOKENS)


def _structure_text(value: Any, _: type[str]) -> str:
    """Return a string of a message; the converter would take the text of any value instead."""
    if not isinstance(value, str):
        raise TypeError("not a string")
    return value


def _omit_none(converter: Any, kind: type[Any]) -> None:
    """Omit fields that are None; lsprotocol writes null, which older clients do not accept."""
    write = converter.get_unstructure_hook(kind)
    converter.register_unstructure_hook(
        kind, lambda value: {name: item for name, item in write(value).items() if item is not None}
    )
