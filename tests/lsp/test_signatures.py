"""Tests for signature help in the protocol."""

from lsprotocol import types

from hlo_lsp.lsp.client import Client
from hlo_lsp.lsp.completion import signature_help
from lsp.opened import at, context
from lsp.test_completion import TEXT


async def test_label_offsets_and_markdown_are_used_if_supported() -> None:
    client = Client(has_parameter_offsets=True, can_show_signatures_in_markdown=True)
    found = signature_help(await context(TEXT, client), at(TEXT, "  %q", "%po"))
    assert found is not None
    [signature] = found.signatures
    assert (signature.label, found.active_parameter) == ("add(lhs, rhs)", 1)
    assert signature.parameters is not None
    assert [parameter.label for parameter in signature.parameters] == [(4, 7), (9, 12)]
    assert signature.documentation == types.MarkupContent(
        types.MarkupKind.Markdown, "Sum of two arrays, element by element; logical or for `pred`."
    )


async def test_minimal_client_gets_plain_text() -> None:
    found = signature_help(await context(TEXT, Client()), at(TEXT, "  %q", "%p,"))
    assert found is not None
    [first, second] = found.signatures[0].parameters or ()
    assert (first.label, second.label) == ("lhs", "rhs")
    assert first.documentation == "The left operand. Current operand: p: f32[4]{0}."


async def test_no_signature_outside_of_a_call() -> None:
    assert signature_help(await context(TEXT), types.Position(0, 0)) is None
