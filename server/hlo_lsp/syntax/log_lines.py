r"""The lines of a log without the prefixes of loggers.

A message of the compiler can be in the output of a logger (a prefix on each line, the lines of
several hosts interleaved), in a quoted or fenced block, and in the ``repr`` of an exception, where
its lines are joined by ``\n``.

Parts of a prefix with known forms are removed from all lines. Any other prefix is what precedes the
beginning of a message and also begins one of the next lines, with the same or other numbers.
"""

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.text.document import common_prefix_length

_LINES_PER_CHECKPOINT = 2000
_MAX_PREFIX_PARTS = 8  # real lines have at most four
_COLOR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]|(?<!\w)(?:\[[0-9]{1,2}(?:;[0-9]{1,2})*m)+")
_COLOR_AFTER_NUMBER = re.compile(r"^[0-9]+(?=\[[0-9;]{1,5}m)")  # the line number of a web page
_TIME = (
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?(?:Z|[+-][0-9:]{4,6})?"
)
# Parts that differ from line to line of one message.
_VARIABLE_PART = re.compile(
    rf"(?:>[ ]?)+|\[?{_TIME}\]?:?(?:[ ]|$)"
    # glog and TensorFlow: I1120 12:00:00.000000 123 file.cc:1], E    1578 file.cc:76]
    r"|[IWEF](?:[0-9]{4} [0-9]{2}:[0-9]{2}:[0-9.:]+)?[ ]+(?:[0-9]+[ ]+)?[^\s\]]+:[0-9]+\](?:[ ]|$)"
    # logging of Python
    r"|(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)(?::[\w.]*:|[ ]+(?:[0-9-]{5,10} [0-9:.,]{8,15} )?"
    r"\[[^\s\]]+:[0-9]+\](?:[ ]|$))"
)
# Parts that name the host or the process of the line.
_SOURCE_PART = re.compile(
    r"\([\w.\-]+ (?:pid|rank|ip)=[^)]{1,80}\)(?:[ ]|$)"
    r"|\[(?=[\w.:/,\- ]*\d)[\w.:/,\- ]{1,80}\]:?(?:[ ]|$)"
    r"|[\w.\-]{1,80}[ ]*\|(?:[ ]|$)"
    r"|(?:[0-9]{1,5}|(?!E[0-9]{4}:)[A-Za-z][\w.\-/]{0,80}?[0-9][\w.\-/]{0,20}):(?:[ ]|$)"
)
# A line end inside of a string, before what follows a line end in messages of XLA.
_ESCAPED_LINE_END = re.compile(
    r"(?<!\\)(\\+)n(?=\\+[nt]|\s*(?:Total|Program|Largest|Output|Buffer|Peak|See http|Ran out|"
    r"Size:|[0-9]+\. Size:|Shape:|XLA|Allocation type))"
)
_ESCAPE = re.compile(r"(?<!\\)(\\+)([nrt'\"])")
_STRING_END_CHARACTERS = "\\'\")]}>,"
_CONTROL_CHARACTERS = {"n": "\n", "r": "", "t": "\t"}

_LINES_WITH_PREFIX = 4  # after the beginning of a message, to compare with it
_MAX_PREFIX_LENGTH = 200
_MAX_PREFIXES = 8  # of hosts whose lines are interleaved
_NUMBER = re.compile(r"[0-9]+")
_PREFIX = re.compile(r".*(?:[:|>\])]\s?|\S\s)", re.DOTALL)
_CLOCK = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T?|[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?Z?|[0-9]+\.[0-9]{3,}"
)


@dataclass(frozen=True, slots=True)
class LogLine:
    """A line of a message.

    Attributes:
        line: Number of the line in the document, from 0; the same for all lines of a ``repr``.
        source: The host or process that wrote it; empty if unknown.
        raw: The text without prefix.
        width: Length of the whole line in the document.
    """

    line: int
    source: str
    raw: str
    width: int

    @property
    def text(self) -> str:
        """The text without blanks at both ends."""
        return self.raw.strip()

    @property
    def is_indented(self) -> bool:
        """True if blanks precede the text."""
        return self.raw[:1].isspace()


def log_lines(
    lines: Iterable[str], message_start: Callable[[str], int] = lambda _: -1
) -> Iterator[LogLine]:
    """Yield the lines of a log, those of a ``repr`` one by one.

    ``message_start`` returns where in a text a message begins, -1 if none does.
    """
    following = _split_lines(lines)
    window = deque(islice(following, 1 + _LINES_WITH_PREFIX))
    prefixes: deque[str] = deque(maxlen=_MAX_PREFIXES)
    while window:
        line = window.popleft()
        start = message_start(line.raw)
        if start > 0:
            rest = (other.raw for other in window if message_start(other.raw) < 0)
            prefix = _shared_prefix(line.raw[:start], rest)
            if prefix and prefix not in prefixes:
                prefixes.appendleft(prefix)
        source, text = _without_prefix(line, prefixes) if prefixes else (line.source, line.raw)
        parts = unescaped_lines(text)
        if parts == [line.raw]:
            yield line
        else:
            yield from (LogLine(line.line, source, part, line.width) for part in parts)
        window.extend(islice(following, 1))


def _split_lines(lines: Iterable[str]) -> Iterator[LogLine]:
    """Yield the lines without parts of prefixes that have a known form."""
    for number, line in enumerate(lines):
        if number % _LINES_PER_CHECKPOINT == 0:
            checkpoint()
        source, text = split_prefix(_without_colors(line))
        if not text.startswith("```"):
            yield LogLine(number, source, text, len(line))


def _shape(text: str) -> str:
    """Return the beginning of a text with equal numbers."""
    return _NUMBER.sub("0", text[:_MAX_PREFIX_LENGTH])


def _shared_prefix(before: str, others: Iterable[str]) -> str:
    """Return the shape of the longest prefix that a text shares with one of others."""
    shape = _shape(before)
    shared = max((common_prefix_length(shape, _shape(other), 1) for other in others), default=0)
    match = _PREFIX.match(shape, 0, shared)
    return "" if match is None else match[0]


def _without_prefix(line: LogLine, prefixes: Iterable[str]) -> tuple[str, str]:
    """Return the source and the text of a line without the longest of some prefixes."""
    shape = _shape(line.raw)
    found = max((one for one in prefixes if f"{shape} ".startswith(one)), key=len, default="")
    if not found:
        return line.source, line.raw
    end = len(found)
    for number in _NUMBER.finditer(line.raw):
        if number.start() >= end:
            break
        end += len(number[0]) - 1
    source = _CLOCK.sub("", line.raw[:end]).strip()
    return line.source + source, line.raw[end:]


def begins_with_prefix(line: str) -> bool:
    """Return True if a line begins with a part that only loggers and quotes print."""
    return _VARIABLE_PART.match(line) is not None


def split_prefix(line: str) -> tuple[str, str]:
    """Split a line into its source and its text."""
    start = 0
    source = ""
    for _ in range(_MAX_PREFIX_PARTS):
        match = _VARIABLE_PART.match(line, start)
        if match is None:
            match = _SOURCE_PART.match(line, start)
            if match is None:
                break
            source += match[0].strip()
        start = match.end()
    return source, line[start:]


def unescaped_lines(text: str) -> list[str]:
    r"""Return the lines of a text whose line ends may be written as ``\n``.

    In the ``repr`` of a ``repr`` they are ``\\n``: the shortest run of backslashes ends a line.
    """
    runs = [len(match[1]) for match in _ESCAPED_LINE_END.finditer(text)]
    if not runs:
        return [text]
    level = min(runs)

    def replacement(match: re.Match[str]) -> str:
        count, character = len(match[1]), match[2]
        if count <= level:
            return _CONTROL_CHARACTERS.get(character, character)
        return "\\" * (count // (2 * level)) + character

    lines = _ESCAPE.sub(replacement, text).split("\n")
    lines[-1] = _without_string_end(lines[-1])
    return lines


def _without_string_end(line: str) -> str:
    """Return a line without the quote at its end, and without the brackets after the quote."""
    end = len(line.rstrip(_STRING_END_CHARACTERS))
    quotes = [at for quote in "'\"" if (at := line.find(quote, end)) >= 0]
    return line[: min(quotes)].rstrip("\\") if quotes else line


def _without_colors(line: str) -> str:
    if "[" not in line or "m" not in line:
        return line
    return _COLOR.sub("", _COLOR_AFTER_NUMBER.sub("", line))
