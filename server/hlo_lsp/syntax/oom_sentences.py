"""The sentences that begin out-of-memory messages, which terminals and editors break into lines."""

import re
from collections.abc import Iterator
from itertools import pairwise
from re import Match

from hlo_lsp.syntax.log_lines import LogLine
from hlo_lsp.syntax.oom_lines import find_header, find_rule

_MAX_LINES = 40
_MAX_LENGTH = 20_000
# A blank was at a line break after these characters.
_ENDS_WORD = re.compile(r"[=:;)}\"]$|(?<![0-9])[.,]$")
_DETAIL_RULES = {"memory_exceeded": "allocation_detail", "stack_exceeded": "stack_label"}

_MODULE_FOLLOWS = ". HLO module: "

Header = tuple[str, Match[str]]


class Sentence:
    """A sentence that begins on one line and may go on in the next ones."""

    def __init__(self, *lines: LogLine) -> None:
        self.lines = list(lines)
        self._length = sum(len(line.raw) for line in lines)
        self.text, self.header = self._read()

    @property
    def is_full(self) -> bool:
        """True if the sentence is longer than any sentence of XLA."""
        return len(self.lines) == _MAX_LINES or self._length > _MAX_LENGTH

    @property
    def is_complete(self) -> bool:
        """True if the sentence does not go on in the next line."""
        if self.header is None or self.header[0] == "space_exhausted":
            return False
        rule, match = self.header
        if match.end() == len(self.text):
            return False  # the last number may go on
        rest = self.text[match.end() :]
        if rule == "total_exceeded" and _MODULE_FOLLOWS.startswith(rest):
            return False
        is_detailed = rule == "memory_exceeded" and rest.startswith(" ::")
        return not is_detailed or find_rule("allocation_detail", rest.replace("\\", "")) is not None

    def add(self, line: LogLine) -> None:
        """Add the next line."""
        self.lines.append(line)
        self._length += len(line.raw)
        self.text, self.header = self._read()

    def _read(self) -> tuple[str, Header | None]:
        """Return the text with the longest match of all ways to join the lines."""
        best: tuple[int, str, Header | None] = (-1, "", None)
        for text in self._texts():
            header = find_header(text)
            length = _matched_length(text, header)
            if length > best[0]:
                best = length, text, header
        return best[1], best[2]

    def _texts(self) -> Iterator[str]:
        widths = {line.width for line in self.lines[:-1]}
        if len(self.lines) > 2 and len(widths) == 1:  # a terminal
            yield "".join(line.raw for line in self.lines).strip()
        yield self._joined(" ")
        if len(self.lines) > 1:
            yield self._joined("")

    def _joined(self, between_words: str) -> str:
        parts = [self.lines[0].text]
        for line, following in pairwise(self.lines):
            blank = line.raw[-1:].isspace() or following.raw[:1].isspace()
            is_word = blank or _ENDS_WORD.search(line.text) is not None
            if not is_word and line.text[-1:].isalnum() and following.text[:1].isalpha():
                parts.append(between_words)
            elif is_word or following.text[:1] == "%":
                parts.append(" ")
            parts.append(following.text)
        return "".join(parts)


def _matched_length(text: str, header: Header | None) -> int:
    if header is None:
        return 0
    rule, match = header
    detail = find_rule(_DETAIL_RULES[rule], text) if rule in _DETAIL_RULES else None
    # A sentence without sizes is only the begin of one.
    length = 1 if rule == "space_exhausted" else len(match[0])
    return length + (0 if detail is None else len(detail[0]))
