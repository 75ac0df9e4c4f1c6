"""``hlo.explainRule``: the text about a rule."""

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path

from hlo_lsp.checks.explanations import Explanation, explanations
from hlo_lsp.features.client import Client
from hlo_lsp.features.rules_page import rule_lines, rules_page

COMMAND = "hlo.explainRule"


async def explain(server: LanguageServer, client: Client, code: str) -> None:
    """Open the page of all rules at one of them, or say in a message what it is about.

    Some clients open no documents for a server, and some installations have no page.
    """
    told = explanations().get(code)
    if told is None:
        _say(server, f"There is no rule `{code}`.")
        return
    if not (client.shows_documents and await _open(server, code)):
        _say(server, _in_short(told))


async def _open(server: LanguageServer, code: str) -> bool:
    path, line = rules_page(), rule_lines().get(code)
    uri = None if path is None else from_fs_path(str(path))
    if uri is None or line is None:
        return False
    start = types.Position(line, 0)
    params = types.ShowDocumentParams(uri, take_focus=True, selection=types.Range(start, start))
    try:
        return (await server.window_show_document_async(params)).success
    except JsonRpcException:
        return False


def _in_short(told: Explanation) -> str:
    parts = [f"{told.code}: {told.what}", told.why, told.remedy]
    return "\n\n".join(filter(None, parts))


def _say(server: LanguageServer, text: str) -> None:
    server.window_show_message(types.ShowMessageParams(types.MessageType.Info, text))
