r"""Text that outputs show and never interpret: one function for each format.

Names in dumps and names of files can contain any characters: control sequences of terminals, lines
that are commands for a system that runs a check, links, images, HTML, and formulas. Every text that
contains one goes through a function of this module. Characters without a shape, and line ends
inside of a name, become escapes such as ``\x1b``.
"""

import csv
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from typing import Any

Json = dict[str, Any]
"""An object of JSON."""

# Control characters, characters that end a line for some reader, and those that have no shape or
# change the direction of text. Blanks and tabs are kept, as are the joiners and the selectors in
# the scripts and the pictures that need them.
_HIDDEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_HIDDEN_CHARACTER = re.compile(f"[{_HIDDEN}]")
_HIDDEN_OR_LINE_END = re.compile(f"[\n{_HIDDEN}]")
_IGNORED = f"[{_HIDDEN}\u200c\u200d\ufe0e\ufe0f]*"
# What GitHub Actions (ActionCommand.cs of actions/runner), Azure Pipelines, and TeamCity take for
# commands in the output of a step: two colons after any blanks at the start of a line, and two
# hashes with a bracket anywhere. The first two ignore characters without a shape. Colors at the
# start of a line are ignored too, because some systems remove them first.
_WORKFLOW_COMMAND = re.compile(
    rf"(?:^|\r)(?:[^\S\n]|\x1b\[[0-9;]*m|[{_HIDDEN}\u200c\u200d\ufe0e\ufe0f])*:{_IGNORED}(:)"
    rf"|#{_IGNORED}#(?:\w|[{_HIDDEN}\u200c\u200d\ufe0e\ufe0f])*(\[)",
    re.MULTILINE,
)


def printable(text: str) -> str:
    r"""Return a text in one line that a terminal, an editor, or a CI system only shows."""
    return without_commands(_HIDDEN_OR_LINE_END.sub(_escaped, text))


def printable_lines(text: str) -> str:
    """Return a text as ``printable`` does, with its lines."""
    return without_commands(_HIDDEN_CHARACTER.sub(_escaped, text))


def without_commands(text: str, start: int = 0) -> str:
    """Return the lines of a text without those that a CI system runs as commands.

    The last character of such a command becomes an escape.

    Args:
        text: The lines.
        start: The number of characters that are already printed; the result is what follows.
    """
    parts: list[str] = []
    end = start
    for match in _WORKFLOW_COMMAND.finditer(text):
        at = match.end() - 1
        if at >= start:
            parts += (text[end:at], f"\\x{ord(text[at]):02x}")
            end = at + 1
    return "".join([*parts, text[end:]])


def _escaped(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode()


_OPENING_QUOTE = re.compile(r"(?:^|(?<=[\s(]))`")
_CLOSING_QUOTE = re.compile(r"`(?=[\s,:;.)|]|$)")


def split_quoted_names(text: str) -> Iterator[tuple[bool, str]]:
    """Yield (is_name, part) for the parts of a text in order.

    Names are in backticks after a blank or a bracket. A backtick inside of a word is literal.
    """
    end = 0
    while (opening := _OPENING_QUOTE.search(text, end)) is not None:
        closing = _CLOSING_QUOTE.search(text, opening.end() + 1)
        if closing is None:
            break
        if opening.start() > end:
            yield False, text[end : opening.start()]
        yield True, text[opening.end() : closing.start()]
        end = closing.end()
    if end < len(text):
        yield False, text[end:]


# Shapes, and other words with an index in brackets, are code: Neovim hides the brackets of other
# words, and shows the backslashes before them.
_INDEXED_WORD = re.compile(
    r"((?<![\w.%])[\w.%]*\[[^\s\[\]`|]*\](?:[\w.]|\[[^\s\[\]`|]*\]|\{[^\s{}`|]*\})*)"
)
# For the same reason, signs are escaped only where Markdown reads them as such: a bracket belongs
# to a link only before a target in parentheses, because no text defines the target of a label,
# which would be at the start of a line. Underscores inside of words are literal.
# VS Code renders text between dollar signs as formulas, and addresses without markup as links.
_MARKDOWN_SIGNS = re.compile(
    r"\\(?=[!-/:-@\[-`{-~]|$)|[`$~]|\*(?!(?<=\s\*)\s)|<(?=[A-Za-z/!?]|$)|&(?=#?\w)|\](?=\()"
    r"|:(?=//)|(?<=www)\.|(?<=\w)@(?=\w)|(?<![A-Za-z0-9])_+|_+(?![A-Za-z0-9])"
)
_SIGNS_IN_LINKS = re.compile(rf"[\[\]]|{_MARKDOWN_SIGNS.pattern}")
# Headings, quotations, items and tasks of lists, definitions of labels, and lines below a heading
# or between paragraphs.
_MARKDOWN_LINE_START = re.compile(
    r"^(\s*)(?=#{1,6}(?:\s|$)|>|[-+*](?:\s|$)|\[|(?:=+|(?:-\s*)+)\s*$)"
)
_MARKDOWN_NUMBER = re.compile(r"^(\s*\d{1,9})(?=[.)](?:\s|$))")
_BACKTICKS = re.compile(r"`+")


def markdown_text(text: str) -> str:
    """Return a text in one line with names and shapes as code, and everything else as it is."""
    found = _with_code(text, _MARKDOWN_SIGNS)
    return _MARKDOWN_NUMBER.sub(r"\1\\", _MARKDOWN_LINE_START.sub(r"\1\\", found))


def markdown_link_text(text: str) -> str:
    """Return a text for a link, with names and shapes as code."""
    return _with_code(text, _SIGNS_IN_LINKS)


def _with_code(text: str, signs: re.Pattern[str]) -> str:
    return "".join(
        markdown_code(part) if is_code else signs.sub(_with_backslashes, part)
        for is_name, name in split_quoted_names(printable(text))
        for is_code, part in ([(True, name)] if is_name else _split_indexed_words(name))
    )


def _split_indexed_words(text: str) -> Iterator[tuple[bool, str]]:
    """Yield (is_word, part) for the parts of a text in order."""
    for number, part in enumerate(_INDEXED_WORD.split(text)):
        if part:
            yield number % 2 == 1, part


def markdown_lines(text: str) -> str:
    """Return the lines of a text as Markdown."""
    return "\n".join(map(markdown_text, text.split("\n")))


def markdown_code(name: str) -> str:
    """Return a name as code."""
    name = printable(name)
    if "`" not in name:
        return f"`{name}`"
    fence = "`" * (max(map(len, _BACKTICKS.findall(name))) + 1)
    return f"{fence} {name} {fence}"


def escape_markdown(text: str) -> str:
    """Return a text for a link, without names in backticks."""
    return _SIGNS_IN_LINKS.sub(_with_backslashes, printable(text))


def _with_backslashes(match: re.Match[str]) -> str:
    return "".join(f"\\{sign}" for sign in match[0])


_IN_LINK_TARGETS = str.maketrans({sign: f"%{ord(sign):02X}" for sign in " ()<>\\`"})


def markdown_link(text: str, uri: str | None) -> str:
    """Return a Markdown text as a link, or as it is without a URI."""
    return text if not text or uri is None else f"[{text}]({uri.translate(_IN_LINK_TARGETS)})"


_CELL_END = re.compile(r"(\\*)\|")


def markdown_row(*cells: str) -> str:
    """Return a row of a table; the cells are Markdown."""
    escaped = (_CELL_END.sub(_cell_bar, cell.replace("\n", " ")) for cell in cells)
    return f"| {' | '.join(escaped)} |"


def _cell_bar(match: re.Match[str]) -> str:
    # GitHub pairs backslashes from the left, also in code, where the bar would then end the cell.
    return f"{match[1]}\\x7c" if len(match[1]) % 2 else f"{match[1]}\\|"


def markdown_block(lines: Iterable[str]) -> list[str]:
    """Return lines as a fenced code block whose fence does not occur in the lines."""
    shown = [printable(line) for line in lines]
    runs = [run for line in shown for run in _BACKTICKS.findall(line)]
    fence = "`" * max(3, 0, *(len(run) + 1 for run in runs))
    return [f"{fence}text", *shown, fence]


def html_text(text: str) -> str:
    """Return a text in one line as HTML, also for an attribute in quotes."""
    from html import escape  # noqa: PLC0415  # reads the names of all characters

    return escape(printable(text))


def json_text(content: object, *, indent: int | None = None, is_compact: bool = False) -> str:
    """Return JSON in ASCII; its strings are exact, and no CI system takes one for a command."""
    separators = (",", ":") if is_compact else None
    text = json.dumps(content, indent=indent, separators=separators)
    return text.replace("##", "#\\u0023").replace("\x7f", "\\u007f")


_EXACT_KEYS = frozenset({"path", "location"})  # and those that contain "uri"


def printable_json(content: Any) -> Any:
    """Return JSON for a view: its texts are printable, its paths and places are exact."""
    if isinstance(content, str):
        return printable(content)
    if isinstance(content, (list, tuple)):
        return [printable_json(item) for item in content]
    if isinstance(content, dict):
        return {
            key: item if key in _EXACT_KEYS or "uri" in key.lower() else printable_json(item)
            for key, item in content.items()
        }
    return content


def notification_text(text: str) -> str:
    """Return a text in one line for a notification; VS Code would make links of Markdown in it."""
    return printable(text).replace("](", "] (")


def script_json(content: object) -> str:
    """Return JSON for a script element of HTML."""
    return json_text(content, is_compact=True).replace("<", "\\u003c")


def csv_text(rows: Iterable[Sequence[str]]) -> str:
    """Return rows as CSV. Cells that a spreadsheet computes begin with an apostrophe."""
    written = StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerows([_csv_cell(printable(cell)) for cell in row] for row in rows)
    return written.getvalue()


# A spreadsheet with a Japanese keyboard takes wide signs for narrow ones.
_FORMULA_STARTS = tuple("=+-@\t\uff1d\uff0b\uff0d\uff20")


def _csv_cell(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text


_IN_PROPERTIES = str.maketrans({"%": "%25", ":": "%3A", ",": "%2C"})


def workflow_command(name: str, properties: dict[str, str], message: str) -> str:
    """Return a command of GitHub Actions."""
    listed = ",".join(
        f"{key}={printable(text).translate(_IN_PROPERTIES)}" for key, text in properties.items()
    )
    escaped = printable(message).replace("%", "%25")
    return f"::{name} {listed}::{escaped}"


# A link in a message of SARIF; other brackets are literal.
_SARIF_LINK = re.compile(r"\](?=\()")


def sarif_text(text: str) -> str:
    """Return a message of SARIF without links and placeholders."""
    text = printable(text).replace("{", "{{").replace("}", "}}")
    return _SARIF_LINK.sub(r"\\]", text)
