"""Nothing is said to an editor that it has not said it can take: what pytest-lsp does not check.

A recorded editor, and one that says nothing of what it can do, are asked everything.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.protocol import default_converter
from pytest_lsp import client_capabilities

from e2e.compiles import copy_dump
from e2e.wire import Json
from hlo_lsp.lsp.server import create_server
from lsp.protocol.local_wire import LocalWire
from lsp.protocol.replies import REFRESHES, Replies, all_replies

EDITORS = ("emacs@v29.1", "nothing")
# What may have nothing to say about the place that is asked about.
EMPTY = {
    "textDocument/formatting", "textDocument/rangeFormatting", "textDocument/typeDefinition",
    "textDocument/documentLink", "textDocument/implementation", "workspace/executeCommand",
}  # fmt: skip
ABLE = {
    "publishDiagnostics": {"relatedInformation": True, "codeDescriptionSupport": True},
    "diagnostic": None,
}
Rule = Callable[[Replies], Iterator[str]]


def replies_to(capabilities: Json, corpus: Path, folder: Path) -> Replies:
    """Return all that a new server says to a client with these capabilities."""
    wire = LocalWire()
    try:
        found = all_replies(wire, capabilities, copy_dump(corpus, "tpu", folder))
        assert wire.log == ""
    finally:
        wire.close()
    return found


def offered_requests() -> set[str]:
    """Return the methods of all requests that are registered."""
    manager = create_server().protocol.fm
    known = {*manager.features, *manager.builtin_features}
    no_requests = {
        method for method in known
        if method in types.METHOD_TO_TYPES and types.METHOD_TO_TYPES[method][1] is None
    }  # fmt: skip
    return known - no_requests - {types.SHUTDOWN}


def formats(replies: Replies) -> Iterator[str]:
    wanted = replies.able("textDocument", "hover", "contentFormat") or ["plaintext"]
    kind = replies.answers["textDocument/hover"]["contents"]["kind"]
    if kind not in wanted:
        yield f"a hover in {kind}"
    item = replies.answers["completionItem/resolve"]
    path = ("textDocument", "completion", "completionItem", "documentationFormat")
    yield from _documentation(item, replies.able(*path), "an item")
    path = ("textDocument", "signatureHelp", "signatureInformation", "documentationFormat")
    for one in replies.answers["textDocument/signatureHelp"]["signatures"]:
        yield from _documentation(one, replies.able(*path), "a signature")


def _documentation(item: Json, wanted: Any, what: str) -> Iterator[str]:
    said = item.get("documentation")
    if isinstance(said, dict) and said["kind"] not in (wanted or []):
        yield f"{what} in {said['kind']}"


def symbols(replies: Replies) -> Iterator[str]:
    path = ("textDocument", "documentSymbol", "hierarchicalDocumentSymbolSupport")
    is_nested = "selectionRange" in replies.answers["textDocument/documentSymbol"][0]
    if is_nested != bool(replies.able(*path)):
        yield "symbols in the other form"


def links(replies: Replies) -> Iterator[str]:
    for name in ("definition", "declaration", "typeDefinition", "implementation"):
        found = replies.answers[f"textDocument/{name}"] or []
        listed = found if isinstance(found, list) else [found]
        if not replies.able("textDocument", name, "linkSupport"):
            yield from (f"a link for {name}" for one in listed if "targetUri" in one)
    if not replies.able("textDocument", "documentLink", "tooltipSupport"):
        found = replies.answers["textDocument/documentLink"] or []
        yield from ("a tooltip of a link" for one in found if "tooltip" in one)


def edits(replies: Replies) -> Iterator[str]:
    actions = replies.answers["textDocument/codeAction"] or []
    resolved = [replies.answers["codeAction/resolve"] or {}]
    found = [replies.answers["textDocument/rename"]]
    found += [one["edit"] for one in (*actions, *resolved) if one.get("edit")]
    is_versioned = replies.able("workspace", "workspaceEdit", "documentChanges")
    operations = replies.able("workspace", "workspaceEdit", "resourceOperations") or []
    for edit in found:
        if ("documentChanges" in edit) != bool(is_versioned):
            yield "an edit in the other form"
        for change in edit.get("documentChanges", ()):
            if "kind" in change and change["kind"] not in operations:
                yield f"the operation {change['kind']}"
        if "changeAnnotations" in edit:
            yield "annotations"


def actions(replies: Replies) -> Iterator[str]:
    able = ("textDocument", "codeAction")
    for one in replies.answers["textDocument/codeAction"] or []:
        is_command = isinstance(one.get("command"), str)
        if is_command == bool(replies.able(*able, "codeActionLiteralSupport")):
            yield "an action in the other form"
        if is_command:
            continue
        if "isPreferred" in one and not replies.able(*able, "isPreferredSupport"):
            yield "a preferred action"
        if "disabled" in one and not replies.able(*able, "disabledSupport"):
            yield "a disabled action"
        if "data" in one and not replies.able(*able, "dataSupport"):
            yield "an action with data"
        lazily = replies.able(*able, "resolveSupport", "properties") or []
        if "edit" not in one and "command" not in one and "edit" not in lazily:
            yield "an action that does nothing"


def folds(replies: Replies) -> Iterator[str]:
    found = replies.answers["textDocument/foldingRange"]
    limit = replies.able("textDocument", "foldingRange", "rangeLimit")
    if limit and len(found) > limit:
        yield "too many folds"
    if replies.able("textDocument", "foldingRange", "lineFoldingOnly"):
        yield from ("a column of a fold" for one in found if "startCharacter" in one)
    if not replies.able("textDocument", "foldingRange", "foldingRange", "collapsedText"):
        yield from ("a text of a fold" for one in found if "collapsedText" in one)


def completion(replies: Replies) -> Iterator[str]:
    able = ("textDocument", "completion", "completionItem")
    found = replies.answers["textDocument/completion"]
    if "itemDefaults" in found and not replies.able(
        "textDocument", "completion", "completionList", "itemDefaults"
    ):
        yield "defaults of items"
    for one in found["items"]:
        if one.get("insertTextFormat") == 2 and not replies.able(*able, "snippetSupport"):
            yield "a snippet"
        if "insert" in one.get("textEdit", {}) and not replies.able(*able, "insertReplaceSupport"):
            yield "an edit that inserts or replaces"
        if "labelDetails" in one and not replies.able(*able, "labelDetailsSupport"):
            yield "details of a label"
        if "commitCharacters" in one and not replies.able(*able, "commitCharactersSupport"):
            yield "characters that commit"
        tags = replies.able(*able, "tagSupport", "valueSet") or []
        yield from (f"tag {tag} of an item" for tag in one.get("tags", ()) if tag not in tags)
        if one.get("preselect") and not replies.able(*able, "preselectSupport"):
            yield "a selected item"


def signatures(replies: Replies) -> Iterator[str]:
    able = ("textDocument", "signatureHelp", "signatureInformation")
    for one in replies.answers["textDocument/signatureHelp"]["signatures"]:
        if "activeParameter" in one and not replies.able(*able, "activeParameterSupport"):
            yield "an active parameter of a signature"
        offsets = replies.able(*able, "parameterInformation", "labelOffsetSupport")
        for parameter in one.get("parameters", ()):
            if isinstance(parameter["label"], list) and not offsets:
                yield "a parameter by its place"


def tokens(replies: Replies) -> Iterator[str]:
    """Yield the names of token types, which the specification does not restrict."""
    able = ("textDocument", "semanticTokens")
    wanted = replies.able(*able, "formats")
    if wanted is not None and "relative" not in wanted:
        yield "tokens by difference"
    data = replies.answers["textDocument/semanticTokens/full"]["data"]
    legend = replies.offered["semanticTokensProvider"]["legend"]
    end = 0
    for first in range(0, len(data), 5):
        line, start, length, kind, modifiers = data[first : first + 5]
        if line == 0 and start < end and not replies.able(*able, "overlappingTokenSupport"):
            yield "tokens over each other"
        end = length
        if kind >= len(legend["tokenTypes"]) or modifiers >> len(legend["tokenModifiers"]):
            yield "a token of no type"


def diagnostics(replies: Replies) -> Iterator[str]:
    pushed = replies.said("textDocument/publishDiagnostics")
    pulls = replies.able("textDocument", "diagnostic")
    if pulls is not None and pushed:
        yield "diagnostics that it asks for itself"
    told = [each for each in (replies.able("textDocument", "publishDiagnostics"), pulls) if each]
    found = replies.answers["textDocument/diagnostic"]["items"]
    found += [one for params in pushed for one in params["diagnostics"]]
    found += [
        one
        for report in replies.answers["workspace/diagnostic"]["items"]
        for one in report.get("items", ())
    ]
    tags = {tag for each in told for tag in (each.get("tagSupport") or {}).get("valueSet", ())}
    for one in found:
        if "relatedInformation" in one and not any(each.get("relatedInformation") for each in told):
            yield "related information"
        if "codeDescription" in one and not any(
            each.get("codeDescriptionSupport") for each in told
        ):
            yield "a description of a code"
        if "data" in one and not any(each.get("dataSupport") for each in told):
            yield "data of a diagnostic"
        yield from (f"tag {tag}" for tag in one.get("tags", ()) if tag not in tags)


def renaming(replies: Replies) -> Iterator[str]:
    offer = replies.offered["renameProvider"]
    prepares = replies.able("textDocument", "rename", "prepareSupport")
    if isinstance(offer, dict) and not prepares:
        yield "an offer to prepare a rename"


def windows(replies: Replies) -> Iterator[str]:
    shown = replies.said("window/showDocument")
    if shown and not replies.able("window", "showDocument", "support"):
        yield "a document to be shown"
    progress = replies.said("window/workDoneProgress/create") or replies.said("$/progress")
    if progress and not replies.able("window", "workDoneProgress"):
        yield "progress"


def registrations(replies: Replies) -> Iterator[str]:
    for params in replies.said("client/registerCapability"):
        for one in params["registrations"]:
            group, _, name = one["method"].partition("/")
            if not replies.able(group, name, "dynamicRegistration"):
                yield f"a registration of {one['method']}"


def refreshes(replies: Replies) -> Iterator[str]:
    for method, path in {
        **REFRESHES, "workspace/diagnostic/refresh": ("diagnostics", "refreshSupport")
    }.items():  # fmt: skip
        if replies.said(method) and not replies.able("workspace", *path):
            yield method


def questions(replies: Replies) -> Iterator[str]:
    if replies.said("workspace/configuration") and not replies.able("workspace", "configuration"):
        yield "a question for settings"
    if replies.said("workspace/applyEdit") and not replies.able("workspace", "applyEdit"):
        yield "an edit to be applied"


def encodings(replies: Replies) -> Iterator[str]:
    wanted = replies.able("general", "positionEncodings") or ["utf-16"]
    if replies.offered["positionEncoding"] not in wanted:
        yield replies.offered["positionEncoding"]


RULES: tuple[Rule, ...] = (
    formats, symbols, links, edits, actions, folds, completion, signatures, tokens, diagnostics,
    renaming, windows, registrations, refreshes, questions, encodings,
)  # fmt: skip


@pytest.mark.parametrize("name", EDITORS)
def test_editor_gets_only_what_it_supports(name: str, corpus_small: Path, tmp_path: Path) -> None:
    capabilities: Json = {}
    if name != "nothing":
        capabilities = default_converter().unstructure(client_capabilities(name))
    replies = replies_to(capabilities, corpus_small, tmp_path)
    assert set(replies.answers) == offered_requests()
    assert set(replies.refused) == {"hlo/compile"}  # of a text that is not open
    empty = {method for method, result in replies.answers.items() if not result}
    assert empty - set(replies.refused) <= EMPTY
    assert [message for rule in RULES for message in rule(replies)] == []
    if name == "nothing":
        assert replies.asked == []
        assert {one["method"] for one in replies.told} <= {
            "textDocument/publishDiagnostics", "window/showMessage",
        }  # fmt: skip


def test_rules_find_unsupported_replies(corpus_small: Path, tmp_path: Path) -> None:
    """What a capable client gets is too much for one without capabilities."""
    capabilities = default_converter().unstructure(client_capabilities("neovim@v0.11.0"))
    capabilities["textDocument"].update(ABLE)
    capabilities["workspace"]["workspaceEdit"]["documentChanges"] = True
    capabilities["workspace"]["didChangeWatchedFiles"] = {"dynamicRegistration": True}
    said = replies_to(capabilities, corpus_small, tmp_path)
    assert [each for rule in RULES for each in rule(said)] == []
    said.capabilities = {}
    silent = {rule for rule in RULES if not list(rule(said))}
    assert silent == {links, folds, tokens}  # these are the same for everyone
