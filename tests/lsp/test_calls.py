"""Call hierarchies as the protocol has them."""

from pathlib import Path

from lsprotocol import types

from hlo_lsp.lsp import navigation
from hlo_lsp.lsp.client import Client
from hlo_lsp.lsp.navigation import CallItem
from hlo_lsp.lsp.session import Session
from hlo_lsp.text.document import Encoding
from lsp.opened import at, item

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


async def prepared(session: Session, uri: str, text: str, line: str, word: str) -> CallItem:
    context = await session.context(types.TextDocumentIdentifier(uri))
    assert context is not None
    found = navigation.prepare_calls(context, at(text, line, word))
    assert found is not None
    (one,) = found
    return one


def opened(text: str = MODULE, client: Client | None = None) -> Session:
    session = Session()
    session.client = client or Client()
    session.open(item(URI, text))
    return session


async def incoming(
    session: Session, called: CallItem
) -> list[types.CallHierarchyIncomingCall] | None:
    params = types.CallHierarchyIncomingCallsParams(called)
    return await navigation.incoming_calls(session, params)


async def outgoing(
    session: Session, caller: CallItem
) -> list[types.CallHierarchyOutgoingCall] | None:
    params = types.CallHierarchyOutgoingCallsParams(caller)
    return await navigation.outgoing_calls(session, params)


def covered(span: types.Range, text: str = MODULE) -> str:
    lines = text.split("\n")[span.start.line : span.end.line + 1]
    lines[-1] = lines[-1][: span.end.character]
    return "\n".join(lines)[span.start.character :]


async def test_a_computation() -> None:
    session = opened()
    found = await prepared(session, URI, MODULE, "ENTRY", "main")
    assert (found.name, found.kind, found.detail) == ("main", types.SymbolKind.Function, "ENTRY")
    assert covered(found.range).startswith("ENTRY %main")
    assert covered(found.range).endswith("}")
    assert covered(found.selection_range) == "main"
    called = await prepared(session, URI, MODULE, "  ROOT %call", "body")
    assert (called.name, called.detail) == ("body", None)


async def test_columns_are_those_of_the_client() -> None:
    session = opened(client=Client(Encoding.UTF8))
    found = await prepared(session, URI, MODULE, "  ROOT %call", "call")
    length = len(
        '  ROOT %call = f32[4]{0} call(%x), to_apply=%body, metadata={op_name="é"}'.encode()
    )
    assert found.range.end.character == length


async def test_calls_both_ways() -> None:
    session = opened()
    body = await prepared(session, URI, MODULE, "%body", "body")
    (caller,) = await incoming(session, body) or []
    assert (caller.from_.name, [covered(span) for span in caller.from_ranges]) == ("main", ["body"])
    (called,) = await outgoing(session, caller.from_) or []
    assert (called.to, called.from_ranges) == (body, caller.from_ranges)


async def test_item_survives_edits_until_it_is_deleted() -> None:
    session = opened()
    neg = await prepared(session, URI, MODULE, "  ROOT %neg", "neg")
    change = types.TextDocumentContentChangeWholeDocument

    def edit(text: str) -> None:
        document = types.VersionedTextDocumentIdentifier(2, URI)
        session.edit(types.DidChangeTextDocumentParams(document, [change(text)]))

    edit(MODULE.replace("\n\n", "\n\n\n\n"))
    (operand,) = await incoming(session, neg) or []
    assert operand.from_.selection_range.start.line == 5
    edit(MODULE.replace("%neg", "%other"))
    assert await incoming(session, neg) is None
    assert await outgoing(session, neg) is None


async def test_items_of_others_are_gone() -> None:
    session = opened()
    whole = types.Range(types.Position(0, 0), types.Position(0, 0))
    cases: list[tuple[str, types.LSPAny]] = [
        (URI, None),
        (URI, {"name": 3}),
        (URI, []),
        ("untitled:nowhere", {"name": "x"}),
    ]
    for uri, data in cases:
        strange = CallItem("x", types.SymbolKind.Variable, uri, whole, whole, data=data)
        assert await incoming(session, strange) is None


async def test_memory_file_leads_to_closed_module_text(tmp_path: Path) -> None:
    stem = tmp_path / "module_0001.jit_f.after_optimizations"
    module = Path(f"{stem}.txt")
    module.write_text(MODULE, "utf-8")
    value = " value: <1 x @0> (size=16,offset=0): f32[4]{0}"
    text = f"BufferAssignment:\nallocation 0: size 16:\n{value}\n"
    uri = Path(f"{stem}-buffer-assignment.txt").as_uri()
    session = Session()
    session.open(item(uri, text))
    x = await prepared(session, uri, text, " value: <1 x", "x @0")
    assert (x.uri, covered(x.selection_range)) == (module.as_uri(), "x")
    (user,) = await outgoing(session, x) or []
    assert (user.to.uri, user.to.name) == (module.as_uri(), "call")
    assert [call.from_.name for call in await incoming(session, user.to) or []] == ["x"]
