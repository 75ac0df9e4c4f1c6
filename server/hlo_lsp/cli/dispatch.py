"""The command that a list of arguments means: a path is enough, and old names are known."""

import os
import sys
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from hlo_lsp.cli.answers import other_answers
from hlo_lsp.cli.errors import CommandError
from hlo_lsp.cli.help_text import commands_of
from hlo_lsp.cli.shared_options import dump_path
from hlo_lsp.text.remote import is_url

_MIN_LIKENESS = 0.75  # of a word that was mistyped
_OLD_NAMES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "donation": ("summary --donation", ("summary", "--donation")),
    "padding": ("summary --padding", ("summary", "--padding")),
    "timeline": ("summary --timeline", ("summary", "--timeline")),
    "overlap": ("cost --collectives", ("cost", "--collectives")),
    "hosts": ("modules --hosts", ("modules", "--hosts")),
    "why": ("inspect PATH NAME", ("inspect",)),
    "rule": ("check --explain", ("check", "--explain")),
    "export": ("report -o FILE", ("report",)),
    "pull": ("text -o DIR URL", ("text",)),
}
"""The form of today to show, and its first arguments."""
_EXPORT_FORMS = {
    "--pprof": "pprof",
    "--folded": "folded",
    "--perfetto": "perfetto",
    "--kernels": "csv",
}
_MEANINGS: Mapping[str, str] = {
    **dict.fromkeys(("memory", "mem", "peak", "who", "owner", "owners", "hbm"), "summary PATH"),
    **dict.fromkeys(("time", "flops", "flop", "roofline", "least"), "cost PATH"),
    **dict.fromkeys(("leak", "alive", "explain", "value", "buffer"), "inspect PATH NAME"),
    **dict.fromkeys(("donate", "donated", "alias"), "summary --donation PATH"),
    **dict.fromkeys(("pad", "padded", "waste"), "summary --padding PATH"),
    **dict.fromkeys(("collective", "collectives", "communication", "async"),
                    "cost --collectives PATH"),
    **dict.fromkeys(("recompile", "recompiles", "list", "compiles"), "modules PATH"),
    **dict.fromkeys(("host", "pod", "pods"), "modules --hosts PATH"),
    **dict.fromkeys(("compare", "changes", "regression"), "diff BEFORE AFTER"),
    **dict.fromkeys(("measured", "slow", "slower", "xplane"), "profile PROFILE"),
    **dict.fromkeys(("map", "html", "page", "share"), "report PATH"),
    **dict.fromkeys(("pprof", "folded", "flamegraph", "perfetto", "trace", "kernels"),
                    "report PATH -o FILE"),
    **dict.fromkeys(("rules", "codes"), "check --explain"),
    **dict.fromkeys(("lint", "verify", "validate", "budget"), "check PATH"),
    **dict.fromkeys(("download", "copy", "convert", "proto", "print"), "text PATH"),
    **dict.fromkeys(("lsp", "server", "start"), "serve"),
    **dict.fromkeys(("passes", "pass"), "history PATH"),
}  # fmt: skip


def with_command(arguments: Sequence[str], commands: Collection[str]) -> list[str]:
    """Return arguments that begin with a command, unless they are only options.

    Args:
        arguments: Those of the command line.
        commands: The names of the commands.

    Raises:
        CommandError: They name neither a command nor a file.
    """
    if not arguments or arguments[0] in {*commands, "help"}:
        return list(arguments)
    numbers = _operand_numbers(arguments)
    words = [arguments[number] for number in numbers]
    others = [one for number, one in enumerate(arguments) if number not in numbers]
    if not words:
        return others
    if any(map(_imports_code, others)):  # such as a file in a folder: `hlo-lsp *`
        raise CommandError("--executor and --import-from follow a command, such as summary")
    first = words[0]
    if first in {*commands, "help"} | _OLD_NAMES.keys():
        given = [one for number, one in enumerate(arguments) if number != numbers[0]]
        if first not in _OLD_NAMES:
            return [first, *given]
        print(f"hlo-lsp: `{first}` is now `{_OLD_NAMES[first][0]}`", file=sys.stderr)
        return _new_form(first, given)
    answer = next(
        (one for one in commands for name in other_answers(one) if f"--{name}" in others), None
    )
    if answer is not None:
        return [answer, *others, *words]
    paths = [one for one in words if _is_path(one)]
    names = [one for one in words if one not in paths]
    if not paths or len(names) > 1:
        raise CommandError(_unknown(names[0], commands), rows=["hlo-lsp --help lists the commands"])
    command, *operands = _command_of(paths) if not names else ["inspect", *paths, *names]
    return [command, *others, *operands]


def _operand_numbers(arguments: Sequence[str]) -> list[int]:
    """Return the indexes of the arguments that are neither options nor values of options."""
    # A late import, because it is of no use if a command comes first.
    from hlo_lsp.cli.options import argument_parser  # noqa: PLC0415

    parser = argument_parser()
    with_value = {
        option
        for one in (parser, *commands_of(parser).values())
        for action in one._actions
        if action.nargs != 0
        for option in action.option_strings
    }
    found = []
    before, is_rest = "", False
    for number, word in enumerate(arguments):
        is_operand = is_rest or word == "-" or not word.startswith("-")
        if is_operand and (is_rest or before not in with_value):
            found.append(number)
        is_rest = is_rest or word == "--"
        before = word
    return found


def _imports_code(option: str) -> bool:
    name = option.partition("=")[0]
    return len(name) > len("--") and any(
        one.startswith(name) for one in ("--executor", "--import-from")
    )


def _is_path(word: str) -> bool:
    return word == "-" or is_url(word) or os.path.lexists(word)


def _new_form(word: str, rest: list[str]) -> list[str]:
    """Return the arguments of today for an old command."""
    if word == "export":
        if not _EXPORT_FORMS.keys() & set(rest):
            raise CommandError(f"one of {', '.join(_EXPORT_FORMS)} is required")
        rest = [
            each
            for one in rest
            for each in (("--as", _EXPORT_FORMS[one]) if one in _EXPORT_FORMS else (one,))
        ]
        if not any(one.startswith(("-o", "--output")) for one in rest):
            rest = ["-o", "-", *rest]
    elif word == "rule" and "--all" in rest:
        rest = ["all" if one == "--all" else one for one in rest]
        if not any(one.startswith("--format") for one in rest):
            rest += ["--format", "markdown"]
    elif word == "pull" and len(operands := _operand_numbers(rest)) > 1:
        rest = ["-o", rest.pop(operands[-1]), *rest]
    return [*_OLD_NAMES[word][1], *rest]


def _unknown(word: str, commands: Collection[str]) -> str:
    if "/" in word or os.sep in word:
        return f"{word}: No such file or directory"
    if "." in word:
        find = f"hlo-lsp find {word} PATH"
        return f"{word}: No such file or directory; `{find}` finds a buffer or a Python line"
    from difflib import get_close_matches  # noqa: PLC0415  # only this message needs it

    near = get_close_matches(word, [*commands, *_MEANINGS], 1, _MIN_LIKENESS)
    meaning = _MEANINGS.get(word.casefold()) or next(
        (_MEANINGS.get(one, one) for one in near), None
    )
    hint = "" if meaning is None else f"; did you mean `hlo-lsp {meaning}`?"
    return f"`{word}` is neither a command nor a file{hint}"


def _command_of(paths: list[str]) -> list[str]:
    """Return the command for paths, and the paths in its order."""
    kinds = {path: _kind(path, is_alone=len(paths) == 1) for path in paths}
    logs, profiles, dumps = (
        [path for path in paths if kinds[path] == kind] for kind in ("log", "profile", "dump")
    )
    if len(logs) == 1 and (len(paths) == 1 or _has_message(logs[0])):
        return ["oom", *logs, *dumps, *profiles]
    if len(profiles) == 2 and not dumps:
        return ["profile", profiles[1], "--compare", profiles[0]]
    if len(profiles) == 1:
        return ["profile", *profiles, *dumps]
    if len(paths) == 2 and not logs and not _are_of_one_compile(*paths):
        return ["diff", *paths]
    return ["summary", *paths]


def _kind(path: str, *, is_alone: bool) -> str:
    """Return ``log``, ``profile``, or ``dump``; beside other paths, a folder is no log.

    Raises:
        CommandError: The path is a Python program.
    """
    if path.endswith(".py") and not os.path.isdir(path):
        from shlex import quote  # noqa: PLC0415  # only this message needs it

        run = f"hlo-lsp run -- python {quote(path)}"
        raise CommandError(f"{path}: a Python program; to see its memory, run it: {run}")
    # Late imports: a command needs none of this.
    from hlo_lsp.protos.names import TRACE_ENDINGS, XPLANE_ENDINGS  # noqa: PLC0415

    endings = XPLANE_ENDINGS + TRACE_ENDINGS
    if path.endswith(endings):
        return "profile"
    if is_url(path):
        return "dump"
    from hlo_lsp.cli.dumps import is_log  # noqa: PLC0415
    from hlo_lsp.model.compile_files import compiles_below  # noqa: PLC0415
    from hlo_lsp.model.file_names import is_dump_file  # noqa: PLC0415
    from hlo_lsp.text.disk import UnreadableError  # noqa: PLC0415

    if not os.path.isdir(path):
        return "log" if is_log(dump_path(path)) else "dump"
    folder = Path(path)
    if is_alone and any(folder.glob("*.oom_*")):  # XLA writes them if a program does not fit
        return "log"
    names = (one.path.name for one in compiles_below(folder))  # the first dump is enough
    if any(is_dump_file(one) and not one.endswith(endings) for one in names):
        if any(name.endswith(endings) for name in os.listdir(folder)):
            shown = f"`hlo-lsp profile {path}` shows the profile in this folder"
            print(f"hlo-lsp: {shown}", file=sys.stderr)
        return "dump"
    from hlo_lsp.profiles.files import profile_run  # noqa: PLC0415  # 60 ms, for protos

    with suppress(UnreadableError):
        profile_run(folder)
        return "profile"
    return "dump"


def _has_message(log: str) -> bool:
    """Return whether a file has an out-of-memory message, and is not any other text."""
    from hlo_lsp.model.oom_reader import read_oom_messages  # noqa: PLC0415  # as above
    from hlo_lsp.text.disk import UnreadableError, read_document  # noqa: PLC0415

    with suppress(UnreadableError):
        return bool(read_oom_messages(read_document(dump_path(log)).lines))
    return False


def _are_of_one_compile(first: str, second: str) -> bool:
    from hlo_lsp.model.compile_files import compiles_below  # noqa: PLC0415

    if os.path.isdir(first) or os.path.isdir(second):
        return False
    stems = {(one.path.parent, one.stem) for path in (first, second)
             for one in compiles_below(Path(path))}  # fmt: skip
    return len(stems) == 1
