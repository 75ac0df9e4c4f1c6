"""A valid request of each kind that the server answers, about a random place."""

import random
from collections.abc import Callable, Sequence
from typing import Any

from lsp.protocol.texts import Json, OpenText

_SEVERITIES = (1, 2, 3, 4)
Question = Callable[[random.Random, OpenText], Json]


def _document(_: random.Random, text: OpenText) -> Json:
    return {"textDocument": {"uri": text.uri}}


def _place(rng: random.Random, text: OpenText) -> Json:
    return {"textDocument": {"uri": text.uri}, "position": text.position(rng)}


def _range(lines: int) -> Question:
    return lambda rng, text: {"textDocument": {"uri": text.uri}, "range": text.range(rng, lines)}


def _item(rng: random.Random, text: OpenText) -> Json:
    span = text.range(rng, 2)
    data = {"name": rng.choice(("main", "add.1", "")), "home": None, "asked": text.uri}
    return {
        "item": {
            "name": "main", "kind": rng.choice((12, 13)), "uri": text.uri, "range": span,
            "selectionRange": span, "data": data,
        }
    }  # fmt: skip


def _data(rng: random.Random, text: OpenText) -> Any:
    known = {"uri": text.uri, "line": rng.randint(0, 500)}
    return rng.choice((known, {**known, "kind": "steps"}, {"uri": 5}, {}, [], 1, None, "x"))


def _diagnostic(rng: random.Random, text: OpenText) -> Json:
    return {
        "range": text.range(rng, 0), "message": "m", "severity": rng.choice(_SEVERITIES),
        "code": rng.choice(("size-mismatch", "schedule-order", "no-such-rule")),
        "source": "hlo-lsp",
    }  # fmt: skip


def _actions(rng: random.Random, text: OpenText) -> Json:
    found = [_diagnostic(rng, text) for _ in range(rng.randint(0, 2))]
    context: Json = {"diagnostics": found}
    if rng.random() < 0.5:
        context["only"] = [rng.choice(("quickfix", "source.fixAll", "source.fixAll.hlo", "x"))]
    return {**_range(3)(rng, text), "context": context}


def _command(rng: random.Random, text: OpenText) -> Json:
    name, arguments = rng.choice(
        (
            ("hlo.explainRule", ["size-mismatch"]),
            ("hlo.explainRule", ["no-such-rule"]),
            ("hlo.server.inspect", [text.uri, text.position(rng)]),
            ("hlo.server.check", [text.uri]),
            ("hlo.server.restartIndex", []),
            ("hlo.applyEdit", [{"changes": {text.uri: []}}]),
        )
    )
    return {"command": name, "arguments": arguments}


_FORMAT = {"tabSize": 2, "insertSpaces": True}
QUESTIONS: Sequence[tuple[int, str, Question]] = (  # how often, what, and its parameters
    (20, "textDocument/hover", _place),
    (6, "textDocument/definition", _place),
    (3, "textDocument/declaration", _place),
    (3, "textDocument/typeDefinition", _place),
    (3, "textDocument/implementation", _place),
    (
        5,
        "textDocument/references",
        lambda rng, text: {
            **_place(rng, text), "context": {"includeDeclaration": rng.random() < 0.5}
        },
    ),
    (5, "textDocument/documentHighlight", _place),
    (4, "textDocument/documentSymbol", _document),
    (3, "textDocument/foldingRange", _document),
    (2, "textDocument/documentLink", _document),
    (3, "textDocument/codeLens", _document),
    (2, "textDocument/semanticTokens/full", _document),
    (
        3,
        "textDocument/semanticTokens/full/delta",
        lambda rng, text: {
            **_document(rng, text), "previousResultId": rng.choice(("", "1", "x"))
        },
    ),
    (5, "textDocument/semanticTokens/range", _range(60)),
    (5, "textDocument/inlayHint", _range(60)),
    (
        4,
        "textDocument/selectionRange",
        lambda rng, text: {
            **_document(rng, text), "positions": [text.position(rng) for _ in range(3)]
        },
    ),
    (3, "textDocument/linkedEditingRange", _place),
    (2, "textDocument/formatting", lambda rng, text: {**_document(rng, text), "options": _FORMAT}),
    (
        2,
        "textDocument/rangeFormatting",
        lambda rng, text: {**_range(20)(rng, text), "options": _FORMAT},
    ),
    (5, "textDocument/completion", _place),
    (4, "textDocument/signatureHelp", _place),
    (4, "textDocument/prepareRename", _place),
    (
        3,
        "textDocument/rename",
        lambda rng, text: {
            **_place(rng, text), "newName": rng.choice(("renamed", "%a.1", "", "a b", "é"))
        },
    ),
    (4, "textDocument/codeAction", _actions),
    (3, "textDocument/diagnostic", _document),
    (3, "textDocument/prepareCallHierarchy", _place),
    (3, "callHierarchy/incomingCalls", _item),
    (3, "callHierarchy/outgoingCalls", _item),
    (
        3,
        "codeLens/resolve",
        lambda rng, text: {"range": text.range(rng, 0), "data": _data(rng, text)},
    ),
    (
        3,
        "inlayHint/resolve",
        lambda rng, text: {
            "position": text.position(rng), "label": "x", "data": _data(rng, text)
        },
    ),
    (3, "completionItem/resolve", lambda rng, text: {"label": "add", "data": _data(rng, text)}),
    (2, "codeAction/resolve", lambda rng, text: {"title": "t", "data": _data(rng, text)}),
    (
        2,
        "workspace/symbol",
        lambda rng, _: {"query": rng.choice(("", "add", "fusion 3", "main", "é", "." * 200))},
    ),
    (1, "workspace/diagnostic", lambda _, __: {"previousResultIds": []}),
    (1, "workspace/executeCommand", _command),
    (
        2,
        "hlo/window",
        lambda rng, text: {"uri": text.uri, "line": rng.choice((0, 5, 10**6, -1))},
    ),
)  # fmt: skip
_WEIGHTS = [weight for weight, _, _ in QUESTIONS]


def question(rng: random.Random, texts: Sequence[OpenText]) -> tuple[str, Json]:
    """Return a method, and parameters for it."""
    ((_, method, make),) = rng.choices(QUESTIONS, _WEIGHTS)
    return method, make(rng, rng.choice(texts))
