"""What an output of each format contains if the names in it only act as text."""

import csv
import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from html.parser import HTMLParser
from io import StringIO
from typing import Any

from markdown_it import MarkdownIt

# Control characters and others without a shape. Blanks, tabs, and line feeds are allowed.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\U000e0000-\U000e0fff]"
)
# The rules of ActionCommand.cs, where `\s` is more than TrimStart removes.
_COMMAND = re.compile(r"^\s*::|##\w*\[", re.MULTILINE)
_BROKEN_LINE = re.compile(r"^[\s#>*+|`-]*BREAK", re.MULTILINE)
_OWN_COMMAND = re.compile(r"::(?:error|warning|notice) file=[^:]*::")
_ACTIVE = re.compile(r'(?:<(?:img|script)|(?:href|src)="(?!file:|#)).*')
_RENDERER = MarkdownIt("gfm-like", {"linkify": False})
# Keys of answers to editors whose strings are not shown: places, edits, and texts of files.
_UNSHOWN_KEYS = frozenset(
    {
        *("uri", "target", "targetUri", "path", "paths", "files", "data", "arguments", "edit"),
        *("text", "texts", "href", "newText", "insertText", "filterText", "textEdit"),
    }
)


def problems_of_lines(text: str) -> Iterator[str]:
    """Yield what acts in the lines of a terminal, of a CI system, or of an agent."""
    for expression in (_HIDDEN, _COMMAND, _BROKEN_LINE):
        match = expression.search(text)
        if match is not None:
            yield text[max(match.start() - 60, 0) : match.end() + 60]


def problems_of_exact_text(text: str) -> Iterator[str]:
    """Yield the commands in a text that is otherwise exact."""
    yield from (match[0] for match in _COMMAND.finditer(text))


def problems_of_wrapped_lines(text: str) -> Iterator[str]:
    """Yield what acts in lines that also end inside of names."""
    yield from problems_of_exact_text(text)
    yield from _HIDDEN.findall(text)


def problems_of_github(text: str) -> Iterator[str]:
    """Yield what acts in the output for GitHub, apart from its commands."""
    for line in text.splitlines():
        yield from problems_of_lines(_OWN_COMMAND.sub("", line, count=1))


def problems_of_markdown(text: str) -> Iterator[str]:
    """Yield what acts in Markdown whose links lead to files."""
    yield from problems_of_lines(text)
    yield from re.findall(
        r'(?:<(?:img|script)|(?:href|src)="(?!file:|#)).*', _RENDERER.render(text)
    )
    if "<img" in re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)|\\.", "", text, flags=re.DOTALL):
        yield "HTML outside of code"


def problems_of_json(text: str) -> Iterator[str]:
    """Yield what acts in JSON, whose strings are exact."""
    json.loads(text)
    yield from problems_of_lines(text)


def problems_of_csv(text: str) -> Iterator[str]:
    """Yield what acts in a table."""
    yield from problems_of_lines(text)
    for row in csv.reader(StringIO(text)):
        yield from (cell for cell in row if cell.startswith(("=", "+", "-", "@")))


def problems_of_html(text: str) -> Iterator[str]:
    """Yield the elements of a page that are not its own."""
    reader = _Elements()
    reader.feed(text)
    yield from reader.foreign
    if text.count("</script") != text.count("<script"):
        yield "the end of a script"
    yield from _HIDDEN.findall(text)


class _Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.foreign: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        is_own = re.fullmatch(r"#program-\d+", dict(attributes).get("href") or "") is not None
        is_link = tag in {"img", "iframe", "a"} and not is_own
        if is_link or any(name.startswith("on") for name, _ in attributes):
            self.foreign.append(self.get_starttag_text() or tag)


@cache
def _known_problems(find: Callable[[str], Iterator[str]], text: str) -> tuple[str, ...]:
    return tuple(find(text))  # many answers have the same texts


def problems_of_answer(result: Any, key: str = "") -> Iterator[str]:
    """Yield what acts in the strings of an answer to an editor that it shows."""
    if isinstance(result, str):
        yield from (f"{key}: {problem}" for problem in _known_problems(problems_of_lines, result))
    elif isinstance(result, list):
        for item in result:
            yield from problems_of_answer(item, key)
    elif isinstance(result, dict):
        is_markdown = result.get("kind") == "markdown"
        for name, item in result.items():
            if name == "markdown" or (is_markdown and name == "value"):
                yield from _known_problems(problems_of_markdown, item)
            elif name not in _UNSHOWN_KEYS:
                yield from problems_of_answer(item, name)
