"""The entries of the lists in out-of-memory messages."""

import re
from re import Match

from hlo_lsp.model.oom_message import EntryList, OomEntry, unescaped_fields
from hlo_lsp.model.printed_size import PrintedSize
from hlo_lsp.syntax.log_lines import LogLine
from hlo_lsp.syntax.oom_lines import BracketReader, operator_fields

_MAX_WRAPPED_LENGTH = 20_000
_MAX_WRAPPED_LINES = 200
_MAX_NOTES = 20
_WRAPPED_FIELDS = ("source_file=", "source_line=", "stack_frame_id=", "op_name=", "op_type=")


# A blank was at a line break after these characters; other lines are broken inside of a word.
_ENDS_WORD = re.compile(r"[^0-9],$| =$|[)}\"]$")


class EntryBuilder:
    """An entry that is being read."""

    def __init__(self, rank: int, section: EntryList, line: int) -> None:
        self.size: PrintedSize | None = None
        self.label: str | None = None
        self._rank = rank
        self._section = section
        self._first = self._last = line
        self._texts: dict[str, str] = {}
        self._unpadded: PrintedSize | None = None
        self._notes: list[str] = []
        self._wrapped: str | None = None  # the rule of the last text, which may go on
        self._brackets = BracketReader()
        self._wrapped_lines = 0
        self._is_indented = False
        self._is_ended = False

    def read(self, rule: str, match: Match[str], line: LogLine) -> None:
        """Read a line that a rule matches."""
        fields = match.groupdict()
        self._last = line.line
        self._is_indented = line.is_indented
        self._wrapped = None
        if rule in {"entry_line", "size_line"}:
            self.size = PrintedSize.of(fields["BYTES"])
        elif rule == "unpadded_line":
            self._unpadded = PrintedSize.of(fields["BYTES"])
        elif fields.get("TEXT") is not None:
            self._texts[rule] = fields["TEXT"]
            self._wrapped = rule
            self._wrapped_lines = 0
            self._brackets = BracketReader()
            self._brackets.read(fields["TEXT"])
            if rule == "label_line":
                self.label = fields["TEXT"]

    def continues(self, line: LogLine) -> bool:
        """Add a line that no rule matches: the rest of a wrapped line, or a note."""
        text = line.text
        if not text:
            self._is_ended = True
            return False
        # A terminal breaks lines without indentation.
        is_broken = self._is_indented and not line.is_indented
        if self._wrapped is not None and self._append(self._wrapped, text, is_broken):
            self._last = line.line
            return True
        if self._is_ended or len(self._notes) == _MAX_NOTES:
            return False
        self._notes.append(text)
        self._last = line.line
        return True

    def build(self) -> OomEntry:
        """Return the entry."""
        texts = self._texts
        shape = texts.get("shape_line") or texts.get("parameter_shape_line")
        operator = dict(operator_fields(texts.get("operator_line", "")))
        return OomEntry(
            self._rank,
            self._section,
            self.size,
            shape,
            self._unpadded,
            unescaped_fields(operator),
            texts.get("label_line"),
            texts.get("type_line"),
            "parameter_shape_line" in texts,
            tuple(self._notes),
            self._first,
            self._last,
        )

    def _append(self, rule: str, text: str, is_broken: bool) -> bool:
        """Append the rest of a wrapped line; return whether the text is one."""
        known = self._texts[rule]
        self._wrapped_lines += 1
        is_long = len(known) + len(text) > _MAX_WRAPPED_LENGTH
        if is_long or self._wrapped_lines > _MAX_WRAPPED_LINES:
            return False
        is_field = rule == "operator_line" and text.startswith(_WRAPPED_FIELDS)
        if not is_broken and not is_field and not self._brackets.is_open:
            return False
        joined = known + (" " if is_field or _ENDS_WORD.search(known) else "") + text
        self._brackets.read(text)
        self._texts[rule] = joined
        if rule == "label_line":
            self.label = joined
        return True
