"""The entries of the lists in out-of-memory messages."""

from re import Match

from hlo_lsp.model.out_of_memory import EntryList, OomEntry, PrintedSize, unescaped_fields
from hlo_lsp.syntax.oom_lines import is_open, operator_fields

_MAX_WRAPPED_LENGTH = 20_000
_MAX_NOTES = 20
_WRAPPED_FIELDS = ("source_file=", "source_line=", "stack_frame_id=", "op_name=", "op_type=")


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
        self._is_ended = False

    def read(self, rule: str, match: Match[str], line: int) -> None:
        """Read a line that a rule matches."""
        fields = match.groupdict()
        self._last = line
        self._wrapped = None
        if rule in {"entry_line", "size_line"}:
            self.size = PrintedSize.of(fields["BYTES"])
        elif rule == "unpadded_line":
            self._unpadded = PrintedSize.of(fields["BYTES"])
        elif fields.get("TEXT") is not None:
            self._texts[rule] = fields["TEXT"]
            self._wrapped = rule
            if rule == "label_line":
                self.label = fields["TEXT"]

    def continues(self, text: str, line: int) -> bool:
        """Add a line that no rule matches: the rest of a wrapped line, or a note."""
        if not text:
            self._is_ended = True
            return False
        if self._wrapped is not None and self._append(self._wrapped, text):
            self._last = line
            return True
        if self._is_ended or len(self._notes) == _MAX_NOTES:
            return False
        self._notes.append(text)
        self._last = line
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

    def _append(self, rule: str, text: str) -> bool:
        """Append the rest of a wrapped line; return whether the text is one."""
        known = self._texts[rule]
        if len(known) + len(text) > _MAX_WRAPPED_LENGTH:
            return False
        if not is_open(known):
            if rule != "operator_line" or not text.startswith(_WRAPPED_FIELDS):
                return False
            joined = f"{known} {text}"
        else:
            # A terminal breaks lines anywhere, also inside of a word.
            joined = known + ("" if rule == "shape_line" else " ") + text
        self._texts[rule] = joined
        if rule == "label_line":
            self.label = joined
        return True
