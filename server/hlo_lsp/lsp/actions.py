"""A rule that is to be silent in a folder: an edit of its ``hlo-lsp.toml``."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lsprotocol import types

from hlo_lsp.checks.finding import Finding
from hlo_lsp.checks.fix import Fix, together
from hlo_lsp.checks.wishes.settings_file import NAME, settings_file_of
from hlo_lsp.checks.wishes.silencing import silenced
from hlo_lsp.lsp import commands as explain
from hlo_lsp.lsp.checking import findings_of_all, findings_until, known_findings
from hlo_lsp.lsp.client import Client
from hlo_lsp.lsp.diagnostic import SOURCE
from hlo_lsp.lsp.positions import Converter, VersionOf, workspace_edit
from hlo_lsp.lsp.session import Asked
from hlo_lsp.model.stdout_dump import Part

_START = types.Position(0, 0)


def silence_title(file: Path, code: str) -> str:
    """What the edit does. The nearest settings file is the one that counts, and says how far."""
    known = settings_file_of(file.parent)
    folder = file.parent if known is None else known.parent
    return f"Silence `{code}` in the folder `{folder.name or folder}`"


def silence_edit(
    client: Client, convert: Converter, file: Path, code: str
) -> types.WorkspaceEdit | None:
    """Write a code into the settings file that counts for a dump, or into a new one beside it.

    None where that cannot be done for certain, or the client makes no files.
    """
    known = settings_file_of(file.parent)
    if known is None:
        return _created(file.parent / NAME, code) if client.creates_files else None
    try:
        text = known.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError):
        return None
    insertion = silenced(text, code)
    if insertion is None:
        return None
    units = convert.encoding.units(text.split("\n")[insertion.line], insertion.column)
    place = types.Position(insertion.line, units)
    edit = types.TextEdit(types.Range(place, place), insertion.text)
    uri = known.absolute().as_uri()
    if not client.versions_edits:
        return types.WorkspaceEdit(changes={uri: [edit]})
    return types.WorkspaceEdit(document_changes=[_edited(uri, edit)])


def _created(path: Path, code: str) -> types.WorkspaceEdit:
    uri = path.absolute().as_uri()
    text = f'ignore = ["{code}"]\n'
    return types.WorkspaceEdit(
        document_changes=[
            types.CreateFile(uri, options=types.CreateFileOptions(ignore_if_exists=True)),
            _edited(uri, types.TextEdit(types.Range(_START, _START), text)),
        ]
    )


def _edited(uri: str, edit: types.TextEdit) -> types.TextDocumentEdit:
    return types.TextDocumentEdit(types.OptionalVersionedTextDocumentIdentifier(uri, None), [edit])


FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.hlo"
APPLY = "hlo.applyEdit"  # for clients that know commands, but no edits in a list of actions
OPTIONS = types.CodeActionOptions(
    code_action_kinds=[types.CodeActionKind.QuickFix, types.CodeActionKind.SourceFixAll],
    resolve_provider=True,
)
Actions = list[types.CodeAction | types.Command]


async def code_actions(
    parts: Sequence[Asked], params: types.CodeActionParams, version_of: VersionOf
) -> Actions:
    """What can be done about the findings in a range, the best first; then about all of the text.

    ``parts`` are the files in the text, all of one client: most texts are one file. Edits that are
    costly to find, or only of use when they are chosen, come with ``resolve``.
    """
    desk = _Desk(parts[0], params, version_of)
    is_whole, found = await desk.findings(parts)
    actions: list[types.CodeAction] = []
    if desk.wants(types.CodeActionKind.QuickFix):
        here = [one for one in found if desk.is_asked_about(one)]
        actions += [action for one in here for action in desk.fixes(one)]
        actions += desk.about_rules(here)
    if desk.wants(FIX_ALL) and is_whole:
        actions += desk.fix_all(found)
    if desk.client.takes_code_actions:
        return [*actions]
    return [command for action in actions for command in _as_command(desk.client, action)]


async def resolve(
    parts: Sequence[Asked], action: types.CodeAction, version_of: VersionOf
) -> types.CodeAction:
    """Give an action its edit; one that is about a text that is gone stays without."""
    data = action.data if isinstance(action.data, dict) else {}
    if not parts:
        return action
    client, convert = parts[0].client, parts[0].convert
    if "silence" in data:
        action.edit = _silence(parts[0], str(data["silence"]))
    else:
        fixes = _sure(await findings_of_all(parts))
        action.edit = workspace_edit(client, convert, together(fixes), version_of)
    return action


@dataclass(frozen=True, slots=True)
class _Desk:
    """Makes the actions that a client asks for; ``asked`` is one of the files in the text."""

    asked: Asked
    params: types.CodeActionParams
    version_of: VersionOf

    @property
    def client(self) -> Client:
        """Who asks."""
        return self.asked.client

    async def findings(self, parts: Sequence[Asked]) -> tuple[bool, list[Finding]]:
        """Those of a text, and whether they are all.

        To look for all can take seconds in a large compile. There an editor has those that it
        names; where it names none it shows none, and those that are known are enough. So they are
        in any text when it asks by itself, as the cursor moves.
        """
        known = [one for asked in parts for one in known_findings(asked) or ()]
        is_whole = all(known_findings(asked) is not None for asked in parts)
        by_itself = self.params.context.trigger_kind is types.CodeActionTriggerKind.Automatic
        is_large = any(asked.is_large for asked in parts)
        if is_whole or not self.wants(types.CodeActionKind.QuickFix):
            return True, await findings_of_all(parts)
        if (by_itself or is_large) and not self.params.context.diagnostics:
            return False, known
        if is_large and len(parts) == 1:
            return False, await findings_until(self.asked, self._has_named)
        return True, await findings_of_all(parts)

    def _has_named(self, found: list[Finding]) -> bool:
        """Whether all are found that the client names."""
        named = [told for told in self.params.context.diagnostics if told.source in {None, SOURCE}]
        return all(any(self._is_about(told, one) for one in found) for told in named)

    def wants(self, kind: str) -> bool:
        """Whether actions of a kind are asked for: it is named, or one above it."""
        only = self.params.context.only
        names = None if only is None else [str(getattr(each, "value", each)) for each in only]
        text = kind.value if isinstance(kind, types.CodeActionKind) else kind
        return names is None or any(f"{text}.".startswith(f"{name}.") or not name for name in names)

    def is_asked_about(self, finding: Finding) -> bool:
        """Whether a finding touches the range or is named: Neovim names those of the whole line."""
        span, wanted = self.asked.convert.range(finding.place), self.params.range
        if span.start <= wanted.end and wanted.start <= span.end:
            return True
        return any(self._is_about(told, finding) for told in self.params.context.diagnostics)

    def fixes(self, finding: Finding) -> Iterator[types.CodeAction]:
        """What puts a finding right."""
        for number, fix in enumerate(finding.fixes):
            action = self._action(fix.title, [finding])
            action.edit = workspace_edit(
                self.client, self.asked.convert, fix.edits, self.version_of
            )
            if self.client.prefers_actions and not number and fix.is_sure:
                action.is_preferred = True
            yield action

    def about_rules(self, here: Sequence[Finding]) -> Iterator[types.CodeAction]:
        """For each rule that found something: its text, and silence."""
        by_code: dict[str, list[Finding]] = {}
        for finding in here:
            by_code.setdefault(finding.code, []).append(finding)
        for code, found in by_code.items():
            title = f"Explain the rule `{code}`"
            action = self._action(title, found)
            action.command = types.Command(title, explain.COMMAND, arguments=[code])
            yield action
        path = _path(self.asked)
        if path is None:
            return
        for code, found in by_code.items():
            edit = _silence(self.asked, code)
            if edit is not None:
                action = self._action(silence_title(path, code), found)
                yield self._later(action, edit, {"silence": code})

    def fix_all(self, found: Sequence[Finding]) -> Iterator[types.CodeAction]:
        """All numbers of the file that follow from others."""
        fixes = _sure(found)
        if not fixes:
            return
        count = f"all {len(fixes)} right numbers" if len(fixes) > 1 else "the right number"
        action = types.CodeAction(f"Put in {count}", FIX_ALL)
        edit = None
        if not self.client.resolves_edits:
            edit = workspace_edit(self.client, self.asked.convert, together(fixes), self.version_of)
        yield self._later(action, edit, {})

    def _later(
        self, action: types.CodeAction, edit: types.WorkspaceEdit | None, data: dict[str, str]
    ) -> types.CodeAction:
        """An action whose edit comes when it is chosen, if the client can wait for it."""
        if self.client.resolves_edits:
            action.data = {"uri": self.asked.file.uri, **data}
        else:
            action.edit = edit
        return action

    def _action(self, title: str, about: Sequence[Finding]) -> types.CodeAction:
        told = [
            diagnostic
            for diagnostic in self.params.context.diagnostics
            if any(self._is_about(diagnostic, finding) for finding in about)
        ]
        return types.CodeAction(title, types.CodeActionKind.QuickFix, diagnostics=told or None)

    def _is_about(self, diagnostic: types.Diagnostic, finding: Finding) -> bool:
        if (diagnostic.code, diagnostic.message) != (finding.code, finding.message):
            return False
        return diagnostic.range == self.asked.convert.range(finding.place)


def _sure(found: Sequence[Finding]) -> list[Fix]:
    """The best fix of each finding that has one which follows from the rest of the dump."""
    return [fix for one in found for fix in one.fixes[:1] if fix.is_sure and not fix.drops]


def _silence(asked: Asked, code: str) -> types.WorkspaceEdit | None:
    path = _path(asked)
    return None if path is None else silence_edit(asked.client, asked.convert, path, code)


def _path(asked: Asked) -> Path | None:
    """Where the text lies, None if nowhere; a file in a text of several has a path in it."""
    path = asked.file.path
    if path is None or not isinstance(asked.file, Part):
        return path
    return path.parent if path.is_absolute() else None


def _as_command(client: Client, action: types.CodeAction) -> Iterator[types.Command]:
    if action.command is not None:
        yield action.command
    elif action.edit is not None and client.applies_edits:
        yield types.Command(action.title, APPLY, arguments=[action.edit])
