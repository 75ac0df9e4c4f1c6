"""Tests for call hierarchies in the protocol."""

from pathlib import Path

from lsprotocol import types

from hlo_lsp.lsp import navigation
from hlo_lsp.lsp.client import Client
from hlo_lsp.lsp.navigation import CallItem
from hlo_lsp.lsp.session import Session
from hlo_lsp.text.document import Encoding
from lsp.opened import at, context_in, item

MODULE = """\
HloModule jit_f

%body (t: f32[4]) -> f32[4] {
  %t = f32[4]{0} parameter(0)
  ROOT %neg = f32[4]{0} negate(%t)
}

ENTRY %main (x: f32[4]) -> f32[4] {
  %x = f32[4]{0} parameter(0)
  ROOT %call = f32[4]{0} call(%x), to_apply=%body, metadata={op_name="é"}
}
"""
URI = "untitled:module"


async def prepare_item(session: Session, uri: str, text: str, line: str, word: str) -> CallItem:
    context = await context_in(session, types.TextDocumentIdentifier(uri))
    assert context is not None
    call_items = navigation.prepare_calls(context, at(text, line, word))
    assert call_items is not None
    (call_item,) = call_items
    return call_item


def open_session(text: str = MODULE, client: Client | None = None) -> Session:
    session = Session()
    session.client = client or Client()
    session.open(item(URI, text))
    return session


async def incoming_calls(
    session: Session, callee: CallItem
) -> list[types.CallHierarchyIncomingCall] | None:
    params = types.CallHierarchyIncomingCallsParams(callee)
    return await navigation.incoming_calls(session, params)


async def outgoing_calls(
    session: Session, caller: CallItem
) -> list[types.CallHierarchyOutgoingCall] | None:
    params = types.CallHierarchyOutgoingCallsParams(caller)
    return await navigation.outgoing_calls(session, params)


def range_text(span: types.Range, text: str = MODULE) -> str:
    lines = text.split("\n")[span.start.line : span.end.line + 1]
    lines[-1] = lines[-1][: span.end.character]
    return "\n".join(lines)[span.start.character :]


async def test_computation_item_is_a_function() -> None:
    session = open_session()
    entry = await prepare_item(session, URI, MODULE, "ENTRY", "main")
    assert (entry.name, entry.kind, entry.detail) == ("main", types.SymbolKind.Function, "ENTRY")
    assert range_text(entry.range).startswith("ENTRY %main")
    assert range_text(entry.range).endswith("}")
    assert range_text(entry.selection_range) == "main"
    callee = await prepare_item(session, URI, MODULE, "  ROOT %call", "body")
    assert (callee.name, callee.detail) == ("body", None)


async def test_item_columns_use_client_encoding() -> None:
    session = open_session(client=Client(Encoding.UTF8))
    call = await prepare_item(session, URI, MODULE, "  ROOT %call", "call")
    length = len(
        '  ROOT %call = f32[4]{0} call(%x), to_apply=%body, metadata={op_name="é"}'.encode()
    )
    assert call.range.end.character == length


async def test_incoming_and_outgoing_calls_match() -> None:
    session = open_session()
    body = await prepare_item(session, URI, MODULE, "%body", "body")
    (caller,) = await incoming_calls(session, body) or []
    assert (caller.from_.name, [range_text(span) for span in caller.from_ranges]) == (
        "main",
        ["body"],
    )
    (callee,) = await outgoing_calls(session, caller.from_) or []
    assert (callee.to, callee.from_ranges) == (body, caller.from_ranges)


async def test_item_survives_edits_until_it_is_deleted() -> None:
    session = open_session()
    neg = await prepare_item(session, URI, MODULE, "  ROOT %neg", "neg")
    change = types.TextDocumentContentChangeWholeDocument

    def edit(text: str) -> None:
        document = types.VersionedTextDocumentIdentifier(2, URI)
        session.edit(types.DidChangeTextDocumentParams(document, [change(text)]))

    edit(MODULE.replace("\n\n", "\n\n\n\n"))
    (operand,) = await incoming_calls(session, neg) or []
    assert operand.from_.selection_range.start.line == 5
    edit(MODULE.replace("%neg", "%other"))
    assert await incoming_calls(session, neg) is None
    assert await outgoing_calls(session, neg) is None


async def test_unknown_items_have_no_calls() -> None:
    session = open_session()
    whole = types.Range(types.Position(0, 0), types.Position(0, 0))
    cases: list[tuple[str, types.LSPAny]] = [
        (URI, None),
        (URI, {"name": 3}),
        (URI, []),
        ("untitled:nowhere", {"name": "x"}),
    ]
    for uri, data in cases:
        unknown_item = CallItem("x", types.SymbolKind.Variable, uri, whole, whole, data=data)
        assert await incoming_calls(session, unknown_item) is None


async def test_memory_file_leads_to_closed_module_text(tmp_path: Path) -> None:
    stem = tmp_path / "module_0001.jit_f.after_optimizations"
    module = Path(f"{stem}.txt")
    module.write_text(MODULE, "utf-8")
    value = " value: <1 x @0> (size=16,offset=0): f32[4]{0}"
    text = f"BufferAssignment:\nallocation 0: size 16:\n{value}\n"
    uri = Path(f"{stem}-buffer-assignment.txt").as_uri()
    session = Session()
    session.open(item(uri, text))
    x = await prepare_item(session, uri, text, " value: <1 x", "x @0")
    assert (x.uri, range_text(x.selection_range)) == (module.as_uri(), "x")
    (user,) = await outgoing_calls(session, x) or []
    assert (user.to.uri, user.to.name) == (module.as_uri(), "call")
    assert [call.from_.name for call in await incoming_calls(session, user.to) or []] == ["x"]
