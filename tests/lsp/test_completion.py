"""Tests for completion items in the protocol."""

from lsprotocol import types

from hlo_lsp.lsp.client import Client
from hlo_lsp.lsp.completion import completion, empty_file_completion, resolve
from hlo_lsp.lsp.session import RequestContext, Session
from lsp.opened import context, item

TEXT = """\
HloModule m

%neg (x: f32[4]) -> f32[4] {
  %x = f32[4]{0} parameter(0)
  ROOT %y = f32[4]{0} negate(%x)
}

ENTRY %main (p: f32[4]) -> f32[4] {
  %p = f32[4]{0} parameter(0)
  %q = f32[4]{0} add(%p, %po), metadata={op_name="π"}
  ROOT %r = f32[4]{0} call(%p), to_apply=
}
"""
FULL_CLIENT = Client(
    can_insert_snippets=True, can_insert_or_replace=True, can_show_label_details=True
)


async def complete(line: int, column: int, client: Client, text: str = TEXT) -> tuple[
    RequestContext, dict[str, types.CompletionItem]
]:  # fmt: skip
    """Return the request context, and the items at a position by label."""
    found = await context(text, client)
    params = types.CompletionParams(
        types.TextDocumentIdentifier(found.file.uri), types.Position(line, column)
    )
    items = completion(found, params)
    return found, {} if items is None else {item.label: item for item in items.items}


def line_range(start: int, end: int, line: int = 9) -> types.Range:
    return types.Range(types.Position(line, start), types.Position(line, end))


async def test_client_with_insert_replace_support_gets_both_ranges() -> None:
    _, items = await complete(9, 27, FULL_CLIENT)
    found = items["%p"]
    assert found.text_edit == types.InsertReplaceEdit("%p", line_range(25, 27), line_range(25, 28))
    assert found.label_details == types.CompletionItemLabelDetails(description="f32[4]{0}")
    assert (found.kind, found.detail) == (types.CompletionItemKind.Variable, "f32[4]{0}")


async def test_minimal_client_gets_plain_edits() -> None:
    _, items = await complete(9, 27, Client())
    assert items["%p"].text_edit == types.TextEdit(line_range(25, 28), "%p")
    assert items["%p"].label_details is None
    assert {item.insert_text_format for item in items.values()} == {
        types.InsertTextFormat.PlainText
    }


async def test_names_match_with_and_without_percent_sign() -> None:
    signed, plain = (await complete(9, 26, FULL_CLIENT))[1], (await complete(9, 25, FULL_CLIENT))[1]
    assert (signed["%p"].filter_text, plain["%p"].filter_text) == ("%p", "p")
    assert signed["%p"].sort_text == "0000"


async def test_snippet_is_omitted_before_existing_operands() -> None:
    _, items = await complete(9, 20, FULL_CLIENT)
    assert items["subtract"].text_edit == types.InsertReplaceEdit(
        "subtract", line_range(17, 20), line_range(17, 20)
    )
    text = TEXT.replace('add(%p, %po), metadata={op_name="π"}', "add")
    _, items = await complete(9, 20, FULL_CLIENT, text)
    edit = items["subtract"].text_edit
    assert edit is not None
    assert edit.new_text == "subtract(${1:lhs}, ${2:rhs})"
    assert items["subtract"].insert_text_format is types.InsertTextFormat.Snippet


async def test_selected_item_has_documentation() -> None:
    client = Client(can_complete_in_markdown=True)
    found, items = await complete(10, 41, client)
    documentation = resolve(found, items["%neg"]).documentation
    assert documentation == types.MarkupContent(
        types.MarkupKind.Markdown, "`neg (x: f32[4]{0}) -> f32[4]{0}`"
    )
    found, items = await complete(9, 25, Client())
    assert resolve(found, items["%p"]).documentation == "%p = f32[4]{0} parameter(0)"
    found, items = await complete(9, 18, Client())
    assert resolve(found, items["add"]).documentation == (
        "Sum of two arrays, element by element; logical or for pred."
    )


async def test_resolvable_items_have_documentation() -> None:
    places = [(9, 7), (9, 18), (9, 25), (9, 31), (9, 40), (10, 41)]
    for line, column in places:
        found, items = await complete(line, column, FULL_CLIENT)
        assert items
        for completion_item in items.values():
            if completion_item.data is not None:
                assert resolve(found, completion_item).documentation, completion_item.label


async def test_unknown_items_are_returned_unchanged() -> None:
    found = await context(TEXT)
    cases: list[types.LSPAny] = [
        None,
        7,
        {},
        {"about": []},
        {"about": ["opcode", "zorg"]},
        {"about": ["line 999", "x"]},
    ]
    for data in cases:
        unknown_item = types.CompletionItem("x", data=data)
        assert resolve(found, unknown_item) == types.CompletionItem("x", data=data)


async def test_list_is_not_automatic_at_line_start() -> None:
    found = await context(TEXT.replace("  %q", "  \n  %q"))
    params = types.CompletionParams(
        types.TextDocumentIdentifier(found.file.uri), types.Position(9, 2)
    )
    assert completion(found, params) is not None
    params.context = types.CompletionContext(types.CompletionTriggerKind.TriggerCharacter, " ")
    assert completion(found, params) is None


async def test_empty_file_completes_the_module_header() -> None:
    session = Session()
    session.client = FULL_CLIENT
    session.open(item("untitled:new", "x\nHl\n"))
    document = types.TextDocumentIdentifier("untitled:new")
    params = types.CompletionParams(document, types.Position(1, 2))
    found = empty_file_completion(session, params)
    assert found is None
    session.open(item("untitled:new", "Hl\n"))
    found = empty_file_completion(session, types.CompletionParams(document, types.Position(0, 2)))
    assert found is not None
    edit = found.items[0].text_edit
    assert edit == types.InsertReplaceEdit(
        "HloModule ${1:name}", line_range(0, 2, 0), line_range(0, 2, 0)
    )
    other = types.TextDocumentIdentifier("untitled:other")
    assert (
        empty_file_completion(session, types.CompletionParams(other, types.Position(0, 0))) is None
    )
