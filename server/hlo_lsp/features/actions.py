"""textDocument/codeAction and codeAction/resolve."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lsprotocol import types

from hlo_lsp.checks.finding import Finding
from hlo_lsp.checks.fix import Fix, together
from hlo_lsp.features import explain
from hlo_lsp.features.checking import findings
from hlo_lsp.features.edits import VersionOf, workspace_edit
from hlo_lsp.features.session import Asked
from hlo_lsp.features.silence import silence_edit, silence_title
from hlo_lsp.model.bundle import Part
from hlo_lsp.model.place import Place

FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.hlo"
APPLY = "hlo.applyEdit"  # for clients that know commands, but no edits in a list of actions
OPTIONS = types.CodeActionOptions(
    code_action_kinds=[types.CodeActionKind.QuickFix, types.CodeActionKind.SourceFixAll],
    resolve_provider=True,
)
Actions = list[types.CodeAction | types.Command]


async def code_actions(
    asked: Asked, params: types.CodeActionParams, version_of: VersionOf
) -> Actions:
    """What can be done about the findings in a range, the best first; then about all of the file.

    Edits that are costly to find, or only of use when they are chosen, come with ``resolve``.
    """
    found = await findings(asked)
    desk = _Desk(asked, params, version_of)
    actions: list[types.CodeAction] = []
    if desk.wants(types.CodeActionKind.QuickFix):
        here = [one for one in found if desk.is_here(one.place)]
        actions += [action for one in here for action in desk.fixes(one)]
        actions += desk.about_rules(here)
    if desk.wants(FIX_ALL):
        actions += desk.fix_all(found)
    if asked.client.takes_code_actions:
        return [*actions]
    return [command for action in actions for command in _as_command(asked, action)]


async def resolve(
    asked: Asked | None, action: types.CodeAction, version_of: VersionOf
) -> types.CodeAction:
    """Give an action its edit; one that is about a text that is gone stays without."""
    data = action.data if isinstance(action.data, dict) else {}
    if asked is None:
        return action
    if "silence" in data:
        action.edit = _silence(asked, str(data["silence"]))
    else:
        fixes = _sure(await findings(asked))
        action.edit = workspace_edit(asked.client, asked.convert, together(fixes), version_of)
    return action


@dataclass(frozen=True, slots=True)
class _Desk:
    """Makes the actions that a client asks for."""

    asked: Asked
    params: types.CodeActionParams
    version_of: VersionOf

    def wants(self, kind: str) -> bool:
        """Whether actions of a kind are asked for: it is named, or one above it."""
        only = self.params.context.only
        names = None if only is None else [str(getattr(each, "value", each)) for each in only]
        text = kind.value if isinstance(kind, types.CodeActionKind) else kind
        return names is None or any(f"{text}.".startswith(f"{name}.") or not name for name in names)

    def is_here(self, place: Place) -> bool:
        """Whether a place touches the range."""
        span, wanted = self.asked.convert.range(place), self.params.range
        return span.start <= wanted.end and wanted.start <= span.end

    def fixes(self, finding: Finding) -> Iterator[types.CodeAction]:
        """What puts a finding right."""
        for number, fix in enumerate(finding.fixes):
            action = self._action(fix.title, [finding])
            action.edit = workspace_edit(
                self.asked.client, self.asked.convert, fix.edits, self.version_of
            )
            if self.asked.client.prefers_actions and not number and fix.is_sure:
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
        path = self.asked.file.path
        if path is None or isinstance(self.asked.file, Part):
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
        if not self.asked.client.resolves_edits:
            edit = workspace_edit(
                self.asked.client, self.asked.convert, together(fixes), self.version_of
            )
        yield self._later(action, edit, {})

    def _later(
        self, action: types.CodeAction, edit: types.WorkspaceEdit | None, data: dict[str, str]
    ) -> types.CodeAction:
        """An action whose edit comes when it is chosen, if the client can wait for it."""
        if self.asked.client.resolves_edits:
            file = self.asked.file
            action.data = {"uri": file.uri, "line": self.params.range.start.line, **data}
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
    path = asked.file.path
    return None if path is None else silence_edit(asked.client, asked.convert, path, code)


def _as_command(asked: Asked, action: types.CodeAction) -> Iterator[types.Command]:
    if action.command is not None:
        yield action.command
    elif action.edit is not None and asked.client.applies_edits:
        yield types.Command(action.title, APPLY, arguments=[action.edit])
