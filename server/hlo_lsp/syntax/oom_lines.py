"""The lines and sentences of an out-of-memory message, by the rules of ``out_of_memory.lark``."""

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from re import Match, Pattern

from hlo_lsp.syntax.grammar import load_grammar
from hlo_lsp.syntax.log_lines import LogLine

MAX_OOM_LINE_LENGTH = 200_000  # the longest real lines have 9,000 characters

# The sentences that begin a message and contain sizes.
HEADER_RULES = (
    "space_exceeded",
    "total_exceeded",
    "cores_exceeded",
    "replicas_exceeded",
    "sparse_core_exceeded",
    "on_chip_exceeded",
    "stack_exceeded",
    "memory_exceeded",
    "cpu_exhausted",
    "device_exhausted",
    "host_exhausted",
    "host_driver_exhausted",
    "host_status_exhausted",
    "budget_exceeded",
    "pool_exhausted",
    "allocator_exhausted",
    "free_exceeded",
    "free_unknown",
    "request_exceeded",
    "driver_exhausted",
    "program_exceeded",
    "region_exceeded",
    "rematerialization_exceeded",
)
# A file of a dump begins with one of these lines.
_LIST_STARTS = ("Program hbm requirement ", "Largest program allocations in hbm:")
# With the lines of listed buffers, as the head of a message may be cut off.
_DECISIVE_PART = re.compile(
    "|".join([*map(re.escape, _LIST_STARTS), "XLA [Ll]abel: ", "Entry Parameter Subshape: "])
)
_LIST_LINE = re.compile(r"\bSize: [0-9]|\bTotal \w{1,80} usage >= [0-9]")
_UNREAD_ROW = re.compile(
    r"[A-Za-z][^0-9]{0,200}[\s:]-?[0-9]{1,20}(?:\.[0-9]{1,3})?(?:[KMGTPE]|i?B)"
)
_MAX_DETECTION_LENGTH = 2000
# The first words of lines with a whole rule each.
_LINE_RULES = {
    "Total ": "usage_line",
    "HBM capacity ": "capacity_line",
    "Heap ": "heap_label",
    "Persistent ": "persistent_label",
    "Program ": "requirement_line",
    "Output ": "output_line",
    "BufferAssignment ": "statistics_label",
    "Largest program al": "allocations_label",
    "Largest program ar": "interface_label",
    "Peak ": "peak_buffers_label",
    "Buffer ": "buffer_line",
    "Size:": "size_line",
    "Operator:": "operator_line",
    "Shape:": "shape_line",
    "Entry ": "parameter_shape_line",
    "Unpadded ": "unpadded_line",
    "Extra ": "padding_line",
    "XLA ": "label_line",
    "Allocation ": "type_line",
    "====": "ruler_line",
    "Stats:": "pool_row",
    "Limit:": "pool_row",
    "InUse:": "pool_row",
    "LargestFreeBlock:": "pool_row",
}
# Words of each sentence; without one of them no expression is tried.
_HEADER_WORDS = (
    "memory", "Hbm usage", "llocat", "failed to alloc", "That was not possible"
)  # fmt: skip
# The first words of a sentence that may go on in the next line.
_HEADER_STARTS = (
    "Ran out of", "TPU TensorCore Hbm", "Scoped allocation with", "Allocation (size=",
    "Out of memory while", "Out of memory allocating", "Out of host memory while",
    "current allocation offset upper", "No viable logical replica count",
    "failed to allocate host memory",
    "Shared memory size limit", "Tensor memory size limit",
    "Not enough PA budget", "Attempting to allocate", "Attempting to reserve",
    "Failed to allocate request", "Aborting compilation early",
    "Could not allocate", "Can't reduce memory use",
)  # fmt: skip
# The first line of a listed buffer; the head of the message may be cut off.
_ENTRY_START = re.compile(r"(?:Buffer [0-9]{1,9}:|[0-9]{1,9}\. Size: [0-9.]+[KMGTP]?i?B?)\s*$")
_MAX_ENTRY_START = 100  # characters at the end of a line
_MESSAGE_STARTS = (*_HEADER_STARTS, *_LIST_STARTS)


@cache
def _expression(rule: str) -> Pattern[str]:
    return load_grammar("out_of_memory").expression(rule)


def find_rule(rule: str, text: str) -> Match[str] | None:
    """Return the first part of a text that a rule matches."""
    return _expression(rule).search(text)


def find_rules(rule: str, text: str) -> Iterator[Match[str]]:
    """Yield all parts of a text that a rule matches."""
    return _expression(rule).finditer(text)


def find_header(text: str) -> tuple[str, Match[str]] | None:
    """Return the rule and the match of the first sentence that begins a message.

    ``space_exhausted`` is a sentence without sizes, or the beginning of one.
    """
    if not any(word in text for word in _HEADER_WORDS):
        return None
    best: tuple[str, Match[str]] | None = None
    for rule in HEADER_RULES:
        match = _expression(rule).search(text)
        if match is not None and (best is None or match.start() < best[1].start()):
            best = rule, match
    if best is None:
        match = _expression("space_exhausted").search(text)
        best = None if match is None else ("space_exhausted", match)
    return best


def begins_header(text: str) -> bool:
    """Return True if a sentence that begins a message may begin in a text."""
    return any(start in text for start in _HEADER_STARTS)


def message_start(text: str) -> int:
    """Return where a sentence, a list, or its entry may begin in a text, else -1."""
    first = -1
    for start in _MESSAGE_STARTS:
        place = text.find(start)
        if place >= 0 and (first < 0 or place < first):
            first = place
    if first < 0 and (match := _ENTRY_START.search(text[-_MAX_ENTRY_START:])):
        first = max(0, len(text) - _MAX_ENTRY_START) + match.start()
    return first


def contains_list_line(text: str) -> bool:
    """Return True if the size of a listed buffer, or a total, is in a text."""
    return _LIST_LINE.search(text) is not None


def begins_oom_message(line: str) -> bool:
    """Return True if an out-of-memory message or a list of its buffers begins on a line."""
    if (
        "emory" not in line
        and "hbm" not in line
        and "Hbm" not in line
        and "possible" not in line
        and "lloc" not in line
        and "XLA " not in line
        and "Subshape" not in line
    ):
        return False
    if _DECISIVE_PART.search(line) is not None:
        return True
    found = find_header(line[:_MAX_DETECTION_LENGTH])
    return found is not None


def read_line(text: str) -> tuple[str, Match[str]] | None:
    """Return the rule of a table or list that matches a whole line, and the match."""
    for opening, rule in _LINE_RULES.items():
        if text.startswith(opening):
            text = " ".join(text.split()) if rule == "pool_row" else text  # aligned columns
            match = _expression(rule).fullmatch(text)
            return None if match is None else (rule, match)
    if text[:1].isdigit():
        match = _expression("entry_line").fullmatch(text)
        return None if match is None else ("entry_line", match)
    return None


def is_unread_row(text: str) -> bool:
    """Return True if a text looks like a row of a table, but has an unknown form."""
    return _UNREAD_ROW.match(text) is not None


def read_usage_row(text: str) -> Match[str] | None:
    """Return the match of a row of a table."""
    return _expression("usage_row").fullmatch(text)


_MAX_LINES = 40
_MAX_LENGTH = 20_000
# A blank was at a line break after these characters.
_ENDS_WORD = re.compile(r"[=:;)}\"]$|(?<![0-9])[.,]$")
_DETAIL_RULES = {"memory_exceeded": "allocation_detail", "stack_exceeded": "stack_label"}

_CONTEXT_FOLLOWS = ", context: ["
_MODULE_FOLLOWS = ". HLO module: "
# The beginning of what may follow free memory.
_BEHIND_FREE = re.compile(r",[ ,0-9.KMGTPEiBa-z]{0,40}|\.(?: (?:D[a-z ,]*|T[a-z ]*))?")
# Sentences that are also the beginning of one with more sizes.
_WITHOUT_LIMIT = ("space_exhausted", "free_unknown")

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
        if self.header is None or self.header[0] in _WITHOUT_LIMIT:
            return False
        rule, match = self.header
        if match.end() == len(self.text):
            return False  # the last number may go on
        rest = self.text[match.end() :]
        if rule == "total_exceeded" and _MODULE_FOLLOWS.startswith(rest):
            return False
        if rule == "free_exceeded" and not (match["RESERVABLE"] or match["CONTIGUOUS"]):
            return _BEHIND_FREE.fullmatch(rest) is None
        if rule == "on_chip_exceeded":
            is_context_cut = match["CONTEXT"] is None and _CONTEXT_FOLLOWS.startswith(
                rest[: len(_CONTEXT_FOLLOWS)]
            )
            return match["LIMIT"] is not None and not is_context_cut
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
            end, start = line.text[-1:], following.text[:1]
            is_boundary = end.isalnum() and start.isalnum() and not (end + start).isdigit()
            if not is_word and is_boundary:
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
    length = 1 if rule in _WITHOUT_LIMIT else len(match[0])
    return length + (0 if detail is None else len(detail[0]))
