"""The client: its capabilities as flags, and positions, edits, and diagnostics in its form."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.capabilities import get_capability
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.checks.framework.finding import Finding
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import Place
from hlo_lsp.text.document import Encoding
from hlo_lsp.text.inert import printable

Json = dict[str, Any]
TextPoint = tuple[int, int]  # line and code point
MAX_FULL_ANSWER_LINES = 50_000  # answers about longer texts leave out instructions
# A client command; its arguments are a document, a position, and locations.
SHOW_PLACES_COMMAND = "hlo.showPlaces"
SHOW_SUMMARY_COMMAND = "hlo.memorySummary"  # its arguments are a document and a line
SHOW_TIME_COMMAND = "hlo.timeSummary"  # the same
COMPILE_COMMAND = "hlo.compile"  # its arguments are a document and, optional, changes
# Its arguments are the URIs of both sides, of which the first is null for a new dump alone, and the
# name of the module.
SHOW_COMPILED_COMMAND = "hlo.showCompiled"
SUMMARY_SCHEME = "hlo-memory-summary"  # of documents whose text is a memory summary
_DEFAULT_MAX_FOLDS = 100_000


@dataclass(frozen=True, slots=True)
class Client:
    """The capabilities of the client, read once at initialization."""

    encoding: Encoding = Encoding.UTF16
    can_render_markdown: bool = True
    can_nest_symbols: bool = True
    can_pull_diagnostics: bool = False
    can_refresh_diagnostics: bool = False
    has_eager_lenses: bool = False
    can_show_places: bool = False
    can_show_summary: bool = False
    can_show_time: bool = False
    can_open_summary: bool = False
    can_compile: bool = False
    can_show_related: bool = True
    can_link_rules: bool = True
    can_fade_unnecessary: bool = True
    max_folding_ranges: int = _DEFAULT_MAX_FOLDS
    can_insert_snippets: bool = False
    can_insert_or_replace: bool = False
    can_show_label_details: bool = False
    can_complete_in_markdown: bool = False
    can_show_signatures_in_markdown: bool = False
    has_parameter_offsets: bool = False
    can_version_edits: bool = False
    can_create_files: bool = False
    can_apply_edits: bool = False
    can_show_code_actions: bool = False
    can_prefer_actions: bool = False
    can_resolve_edits: bool = False
    can_show_documents: bool = False
    can_refresh_tokens: bool = False
    can_refresh_hints: bool = False
    can_refresh_lenses: bool = False

    @classmethod
    def from_capabilities(
        cls, capabilities: types.ClientCapabilities, encoding: str, options: object = None
    ) -> "Client":
        """Read the capabilities that the client sent at initialization.

        Args:
            capabilities: those of ``initialize``.
            encoding: the position encoding that was negotiated.
            options: the initialization options. ``{"lensTexts": "at once"}`` is for clients
                that would otherwise resolve every lens of a file in a request of its own.
                ``{"commands": [...]}`` names client commands that the server may use.
        """
        has: Callable[..., Any] = partial(get_capability, capabilities)
        named = options.get("commands") if isinstance(options, dict) else None
        edits, refreshes = "workspace.workspace_edit.", "workspace.{}.refresh_support"
        action, item = "text_document.code_action.", "text_document.completion.completion_item."
        signature = "text_document.signature_help.signature_information."
        # Up to LSP 3.17, the flags of publishDiagnostics also apply to pulled diagnostics.
        kinds = ("text_document.publish_diagnostics", "text_document.diagnostic")
        tags = [tag for kind in kinds for tag in has(f"{kind}.tag_support.value_set", ())]
        can_pull = has("text_document.diagnostic") is not None
        can_version_edits = bool(has(edits + "document_changes"))
        operations = has(edits + "resource_operations", ())
        markdown = types.MarkupKind.Markdown
        return cls(
            encoding=Encoding(str(getattr(encoding, "value", encoding))),
            can_render_markdown=markdown in has("text_document.hover.content_format", ()),
            can_nest_symbols=bool(
                has("text_document.document_symbol.hierarchical_document_symbol_support")
            ),
            can_pull_diagnostics=can_pull,
            can_refresh_diagnostics=can_pull and bool(has(refreshes.format("diagnostics"))),
            has_eager_lenses=isinstance(options, dict) and options.get("lensTexts") == "at once",
            can_show_places=isinstance(named, list) and SHOW_PLACES_COMMAND in named,
            can_show_summary=isinstance(named, list) and SHOW_SUMMARY_COMMAND in named,
            can_show_time=isinstance(named, list) and SHOW_TIME_COMMAND in named,
            can_compile=isinstance(named, list) and COMPILE_COMMAND in named,
            can_open_summary=has("workspace.text_document_content") is not None
            and bool(has("window.show_document.support"))
            and not (isinstance(named, list) and SHOW_SUMMARY_COMMAND in named),
            can_show_related=any(has(f"{kind}.related_information") for kind in kinds),
            can_link_rules=any(has(f"{kind}.code_description_support") for kind in kinds),
            can_fade_unnecessary=types.DiagnosticTag.Unnecessary in tags,
            max_folding_ranges=has("text_document.folding_range.range_limit") or _DEFAULT_MAX_FOLDS,
            can_insert_snippets=bool(has(item + "snippet_support")),
            can_insert_or_replace=bool(has(item + "insert_replace_support")),
            can_show_label_details=bool(has(item + "label_details_support")),
            can_complete_in_markdown=markdown in has(item + "documentation_format", ()),
            can_show_signatures_in_markdown=markdown in has(signature + "documentation_format", ()),
            has_parameter_offsets=bool(
                has(signature + "parameter_information.label_offset_support")
            ),
            can_version_edits=can_version_edits,
            can_create_files=can_version_edits and types.ResourceOperationKind.Create in operations,
            can_apply_edits=bool(has("workspace.apply_edit")),
            can_show_code_actions=bool(has(action + "code_action_literal_support")),
            can_prefer_actions=bool(has(action + "is_preferred_support")),
            can_resolve_edits=bool(has(action + "data_support"))
            and "edit" in has(action + "resolve_support.properties", ()),
            can_show_documents=bool(has("window.show_document.support")),
            can_refresh_tokens=bool(has(refreshes.format("semantic_tokens"))),
            can_refresh_hints=bool(has(refreshes.format("inlay_hint"))),
            can_refresh_lenses=bool(has(refreshes.format("code_lens"))),
        )

    def point(self, file: DumpFile, position: types.Position) -> TextPoint:
        """Return line and code point of a position, clamped to the text."""
        lines = file.lines
        requested = position.line - file.first_line
        line = min(requested, len(lines) - 1)
        if line < requested:
            return line, len(lines[line])
        return line, self.encoding.column(lines[line], position.character)

    def position(self, file: DumpFile, point: TextPoint) -> types.Position:
        """Return the position of a line and code point of a file."""
        return types.Position(**self.position_json(file, point))

    def position_json(self, file: DumpFile, point: TextPoint) -> Json:
        """Return a position as JSON."""
        line, column = point
        units = self.encoding.units(file.lines[line], column)
        return {"line": file.first_line + line, "character": units}

    def range(self, place: Place) -> types.Range:
        """Return the range of a place."""
        start, end = (place.line, place.start), (place.line, place.end)
        return types.Range(self.position(place.file, start), self.position(place.file, end))

    def range_json(self, file: DumpFile, start: TextPoint, end: TextPoint) -> Json:
        """Return a range as JSON."""
        return {"start": self.position_json(file, start), "end": self.position_json(file, end)}

    def place_range_json(self, place: Place) -> Json:
        """Return the range of a place as JSON."""
        return self.range_json(place.file, (place.line, place.start), (place.line, place.end))

    def lines_range(self, file: DumpFile, first: int, count: int) -> Json:
        """Return the range of whole lines as JSON, without the line break of the last."""
        last = min(first + count, len(file.lines)) - 1
        return self.range_json(file, (first, 0), (last, len(file.lines[last])))

    def location(self, place: Place) -> types.Location:
        """Return the location of a place."""
        return types.Location(place.file.uri, self.range(place))

    def locations(self, places: Iterable[Place]) -> list[Json]:
        """Return the locations of places as JSON."""
        return [{"uri": place.file.uri, "range": self.place_range_json(place)} for place in places]

    def workspace_edit(
        self,
        edits: Mapping[str, Sequence[types.TextEdit]],
        version_of: Callable[[str], int | None] = lambda _: None,
    ) -> types.WorkspaceEdit:
        """Return a workspace edit of files, whose version in the client is None if closed."""
        if not self.can_version_edits:
            return types.WorkspaceEdit(changes=edits)
        return types.WorkspaceEdit(
            document_changes=[
                types.TextDocumentEdit(
                    types.OptionalVersionedTextDocumentIdentifier(uri, version_of(uri)),
                    list(file_edits),
                )
                for uri, file_edits in edits.items()
            ]
        )


def path_of(uri: str) -> Path | None:
    """Return the path of a ``file:`` URI, or None for other URIs."""
    path = _path(uri)
    return path if path is not None and path.name else None


def workspace_folders(server: LanguageServer) -> list[Path]:
    """Return the workspace folders in the order of the client, or its root folder."""
    workspace = server.workspace
    uris = list(workspace.folders) or [workspace.root_uri]
    paths = (_path(uri) for uri in uris if uri)
    return [path for path in paths if path is not None]


def _path(uri: str) -> Path | None:
    try:
        path = to_fs_path(uri) if uri.startswith("file:") else None
        os.fsencode(path or "")
    except ValueError:  # brackets without a valid address, or a lone surrogate
        return None
    return None if not path or "\0" in path else Path(path)


@cache
def rule_places() -> Mapping[str, tuple[str, int]]:
    """Return the page of each rule and the line (from 0) on it, none without a page.

    The page is in the package if installed from a wheel, and next to ``server/`` in a checkout.
    """
    parents = Path(__file__).resolve().parents
    pages = (parent / "docs" / "rules.md" for parent in (parents[1], parents[3]))
    page = next(filter(Path.is_file, pages), None)
    lines = [] if page is None else page.read_text("utf-8").split("\n")
    return {
        line.removeprefix("### "): (page.as_uri(), number)
        for number, line in enumerate(lines)
        if page is not None and line.startswith("### ")
    }


SOURCE = "hlo-lsp"


def diagnostics_json(client: Client, findings: Iterable[Finding]) -> list[Json]:
    """Return the diagnostics for findings."""
    found = []
    for finding in findings:
        checkpoint()
        found.append(diagnostic_json(client, finding))
    return found


def shown_message(text: str) -> str:
    """Return a message or a title as editors show it: plain text, so without the marks of names."""
    return printable(text).replace("`", "")


def diagnostic_json(client: Client, finding: Finding) -> Json:
    """Return the diagnostic for a finding, with the fields that the client supports."""
    result: Json = {
        "range": client.place_range_json(finding.place),
        "message": shown_message(finding.message),
        "severity": types.DiagnosticSeverity[finding.severity.name.capitalize()].value,
        "code": finding.code,
        "source": SOURCE,
    }
    page, line = rule_places().get(finding.code, ("", 0))
    if page and client.can_link_rules:
        # Editors open the page themselves and support no other anchors in a file.
        result["codeDescription"] = {"href": f"{page}#L{line + 1}"}
    if client.can_show_related and finding.related:
        places = client.locations(other.place for other in finding.related)
        result["relatedInformation"] = [
            {"location": location, "message": shown_message(other.message)}
            for location, other in zip(places, finding.related, strict=True)
        ]
    if client.can_fade_unnecessary and any(fix.drops for fix in finding.fixes):
        result["tags"] = [types.DiagnosticTag.Unnecessary.value]
    return result
