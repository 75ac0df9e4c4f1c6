"""textDocument/codeAction and codeAction/resolve: fixes, rule texts, and ignored rules."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from lsprotocol import types

from hlo_lsp.checks.config_file import (
    CONFIG_FILE_NAME,
    MAX_CONFIG_BYTES,
    find_config_file,
    with_ignored_code,
)
from hlo_lsp.checks.framework.finding import Finding, Fix, together
from hlo_lsp.checks.run import sort_findings
from hlo_lsp.lsp.client import COMPILE_COMMAND, SOURCE, Client, shown_message
from hlo_lsp.lsp.commands import EXPLAIN_RULE_COMMAND
from hlo_lsp.lsp.findings import all_findings, check_text, join_check, known_findings
from hlo_lsp.lsp.session import RequestContext, Session
from hlo_lsp.memory.donated_arguments import DonationState, donated_arguments
from hlo_lsp.model.stdout_dump import SectionFile
from hlo_lsp.text.remote import is_remote

_START = types.Position(0, 0)
_DONATION_RULE = "unused-donation"


def _ignore_edit(context: RequestContext, code: str) -> types.WorkspaceEdit | None:
    """Add a code to ``ignore`` in the ``hlo-lsp.toml`` of a dump, or create the file.

    Returns None where the file cannot be edited, or where the client cannot create files.
    """
    client, file = context.client, _text_path(context)
    if file is None:
        return None
    known = find_config_file(file.parent)
    if is_remote(known or file):
        return None
    if known is None:
        if not client.can_create_files:
            return None
        uri = (file.parent / CONFIG_FILE_NAME).absolute().as_uri()
        text = f'ignore = ["{code}"]\n'
        creation = client.workspace_edit({uri: [types.TextEdit(types.Range(_START, _START), text)]})
        options = types.CreateFileOptions(ignore_if_exists=True)
        changes = [types.CreateFile(uri, options=options), *(creation.document_changes or ())]
        return types.WorkspaceEdit(document_changes=changes)
    try:
        with known.open("rb") as read_file:
            data = read_file.read(MAX_CONFIG_BYTES + 1)
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError):
        return None
    new_text = None if len(data) > MAX_CONFIG_BYTES else with_ignored_code(text, code)
    if new_text is None:
        return None
    last = text.rpartition("\n")[2]
    end = types.Position(text.count("\n"), client.encoding.units(last, len(last)))
    edit = types.TextEdit(types.Range(_START, end), new_text)
    return client.workspace_edit({known.absolute().as_uri(): [edit]})


FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.hlo"
APPLY_COMMAND = "hlo.applyEdit"  # for clients that accept commands but no code actions
CODE_ACTION_OPTIONS = types.CodeActionOptions(
    code_action_kinds=[types.CodeActionKind.QuickFix, types.CodeActionKind.SourceFixAll],
    resolve_provider=True,
)
Actions = list[types.CodeAction | types.Command]


async def code_actions(session: Session, params: types.CodeActionParams) -> Actions | None:
    """Return the actions for the findings in a range, then those for the whole text.

    A complete check can take seconds in a large compile. There, the findings that the client names
    are enough; if it names none, the known findings are. The known findings are also enough when
    the editor requests actions on its own, as the cursor moves. None for a text without dumps.
    """
    document = params.text_document
    known, is_enough = await session.answer_text(document, partial(_known_actions, params=params))
    if is_enough:
        return known
    early: asyncio.Future[Actions] = asyncio.Future()

    def listener(context: RequestContext, found: list[Finding], _: frozenset[str]) -> None:
        builder = _CodeActionBuilder(context, params)
        if builder.needs_named_findings and not early.done() and builder.has_named(found):
            early.set_result(builder.actions(sort_findings(found), is_whole=False))

    with join_check(session, document, listener) as check:
        await asyncio.wait((check, early), return_when=asyncio.FIRST_COMPLETED)
    if early.done():
        return early.result()
    check.result()  # raises the error of a check that failed
    return await session.answer_text(document, partial(_all_actions, params=params))


def _known_actions(
    contexts: Sequence[RequestContext], params: types.CodeActionParams
) -> tuple[Actions | None, bool]:
    """Return the actions without a check, and whether they are enough."""
    if not contexts:
        return None, True
    builder = _CodeActionBuilder(contexts[0], params)
    known = [known_findings(context) for context in contexts]
    found = [one for each in known for one in each or ()]
    if None not in known:
        return builder.actions(found, is_whole=True), True
    by_itself = params.context.trigger_kind is types.CodeActionTriggerKind.Automatic
    is_large = any(context.is_large for context in contexts)
    is_enough = (
        builder.is_requested(types.CodeActionKind.QuickFix)
        and (by_itself or is_large)
        and not params.context.diagnostics
    )
    return builder.actions(found, is_whole=False) if is_enough else None, is_enough


def _all_actions(
    contexts: Sequence[RequestContext], params: types.CodeActionParams
) -> Actions | None:
    if not contexts:
        return None
    return _CodeActionBuilder(contexts[0], params).actions(all_findings(contexts), is_whole=True)


async def resolve(session: Session, action: types.CodeAction) -> types.CodeAction:
    """Add the edit to an action, unless it has one, or is about a closed text.

    Neovim also resolves actions with an edit, because they have no command.
    """
    if action.edit is not None:
        return action
    data = action.data if isinstance(action.data, dict) else {}
    document = types.TextDocumentIdentifier(str(data.get("uri")))

    def edit(contexts: Sequence[RequestContext]) -> types.WorkspaceEdit | None:
        if not contexts:
            return None
        if "ignore" in data:
            return _ignore_edit(contexts[0], str(data["ignore"]))
        return contexts[0].workspace_edit(together(_derivable_fixes(all_findings(contexts))))

    if "ignore" not in data:
        await check_text(session, document)  # shared with other requests
    action.edit = await session.answer_text(document, edit)
    return action


@dataclass(frozen=True, slots=True)
class _CodeActionBuilder:
    """The code actions for one request; ``context`` is one of the files in the text."""

    context: RequestContext
    params: types.CodeActionParams

    @property
    def client(self) -> Client:
        """The client of the request."""
        return self.context.client

    @property
    def needs_named_findings(self) -> bool:
        """True if the findings that the client names are enough, and others take seconds."""
        return self.context.is_large and self.is_requested(types.CodeActionKind.QuickFix)

    def actions(self, found: Sequence[Finding], *, is_whole: bool) -> Actions:
        """Return the actions for findings, which may be those of the whole text."""
        actions: list[types.CodeAction] = []
        if self.is_requested(types.CodeActionKind.QuickFix):
            in_range = [one for one in found if self.concerns(one)]
            actions += [action for one in in_range for action in self.fixes(one)]
            actions += [action for one in in_range for action in self.trials(one)]
            actions += self.rule_actions(in_range)
        if self.is_requested(FIX_ALL) and is_whole:
            actions += self.fix_all(found)
        if self.client.can_show_code_actions:
            return [*actions]
        return [command for action in actions for command in _to_commands(self.client, action)]

    def has_named(self, found: list[Finding]) -> bool:
        """Return whether findings include all that the client names."""
        return all(
            any(self._is_about(diagnostic, one) for one in found)
            for diagnostic in self.params.context.diagnostics
            if diagnostic.source in {None, SOURCE}
        )

    def is_requested(self, kind: str) -> bool:
        """Check that the client requests a kind of action: by its name or by a prefix of it."""
        only = self.params.context.only
        names = None if only is None else [str(getattr(each, "value", each)) for each in only]
        text = kind.value if isinstance(kind, types.CodeActionKind) else kind
        return names is None or any(f"{text}.".startswith(f"{name}.") or not name for name in names)

    def concerns(self, finding: Finding) -> bool:
        """Check that a finding touches the range or that the client names it.

        Neovim names the diagnostics of the whole line.
        """
        span, requested_range = self.context.client.range(finding.place), self.params.range
        if span.start <= requested_range.end and requested_range.start <= span.end:
            return True
        return any(
            self._is_about(diagnostic, finding) for diagnostic in self.params.context.diagnostics
        )

    def fixes(self, finding: Finding) -> Iterator[types.CodeAction]:
        """Yield an action for each fix of a finding."""
        for number, fix in enumerate(finding.fixes):
            action = self._action(fix.title, [finding])
            action.edit = self.context.workspace_edit(fix.edits)
            if self.client.can_prefer_actions and not number and fix.is_sure:
                action.is_preferred = True
            yield action

    def trials(self, finding: Finding) -> Iterator[types.CodeAction]:
        """Yield an action that compiles the program with the change that a finding advises."""
        if not self.client.can_compile or finding.code != _DONATION_RULE:
            return
        arguments = donated_arguments(self.context.dump) or ()
        if any(one.state is DonationState.USABLE for one in arguments):
            title = "Compile with the arguments donated that an output can use"
            action = self._action(title, [finding])
            changes = {"donate": list[str]()}
            action.command = types.Command(
                title, COMPILE_COMMAND, arguments=[self.context.file.uri, changes]
            )
            yield action

    def rule_actions(self, in_range: Sequence[Finding]) -> Iterator[types.CodeAction]:
        """Yield two actions for each rule with findings: explain it, and ignore it."""
        by_code: dict[str, list[Finding]] = {}
        for finding in in_range:
            by_code.setdefault(finding.code, []).append(finding)
        for code, found in by_code.items():
            title = f"Explain rule {code}"
            action = self._action(title, found)
            action.command = types.Command(title, EXPLAIN_RULE_COMMAND, arguments=[code])
            yield action
        path = _text_path(self.context)
        if path is None:
            return
        # The action edits the nearest hlo-lsp.toml, so the title names the folder of that file.
        folder = (find_config_file(path.parent) or path).parent
        for code, found in by_code.items():
            edit = _ignore_edit(self.context, code)
            if edit is not None:
                title = f"Ignore `{code}` in folder `{folder.name or folder}`"
                yield self._later(self._action(title, found), edit, {"ignore": code})

    def fix_all(self, found: Sequence[Finding]) -> Iterator[types.CodeAction]:
        """Yield an action that applies all fixes that follow from the rest of the dump."""
        fixes = _derivable_fixes(found)
        if not fixes:
            return
        action = types.CodeAction("Fix all derivable values", FIX_ALL)
        yield self._later(action, self.context.workspace_edit(together(fixes)), {})

    def _later(
        self, action: types.CodeAction, edit: types.WorkspaceEdit | None, data: dict[str, str]
    ) -> types.CodeAction:
        """Defer the edit of an action to ``codeAction/resolve`` if the client supports it."""
        if self.client.can_resolve_edits:
            action.data = {"uri": self.context.file.uri, **data}
        else:
            action.edit = edit
        return action

    def _action(self, title: str, about: Sequence[Finding]) -> types.CodeAction:
        diagnostic = [
            diagnostic
            for diagnostic in self.params.context.diagnostics
            if any(self._is_about(diagnostic, finding) for finding in about)
        ]
        return types.CodeAction(
            shown_message(title), types.CodeActionKind.QuickFix, diagnostics=diagnostic or None
        )

    def _is_about(self, diagnostic: types.Diagnostic, finding: Finding) -> bool:
        shown = finding.code, shown_message(finding.message)
        if (diagnostic.code, diagnostic.message) != shown:
            return False
        return diagnostic.range == self.context.client.range(finding.place)


def _derivable_fixes(found: Sequence[Finding]) -> list[Fix]:
    """Return the first fix of each finding whose fix follows from the rest of the dump."""
    return [fix for one in found for fix in one.fixes[:1] if fix.is_sure and not fix.drops]


def _text_path(context: RequestContext) -> Path | None:
    """Return the path of the text on disk, or None; a section of a stdout dump has a path in it."""
    path = context.file.path
    if path is None or not isinstance(context.file, SectionFile):
        return path
    return path.parent if path.is_absolute() else None


def _to_commands(client: Client, action: types.CodeAction) -> Iterator[types.Command]:
    if action.command is not None:
        yield action.command
    elif action.edit is not None and client.can_apply_edits:
        yield types.Command(action.title, APPLY_COMMAND, arguments=[action.edit])
