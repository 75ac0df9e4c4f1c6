"""The extent of statements in module text that is split into several lines.

XLA prints each instruction on one line, but its parser accepts any white space. A statement ends
when its brackets are closed, and at the latest before a line that begins another statement: a
missing bracket affects only its own statement.
"""

import re
from collections.abc import Iterator, Sequence
from re import Match

from hlo_lsp.hlo.vocabulary import CALL_ATTRIBUTES

_NAME = r"%?[A-Za-z_][\w.\-]*"
_INSTRUCTION = re.compile(rf"\s*(?:ROOT\s+)?({_NAME})\s*=(?:\s|$)|\s*ROOT\b")
_COMPUTATION_HEAD = re.compile(rf"\s*(?:ENTRY\b|{_NAME}\s*(?:\(.*|\{{.*|$))")
_BODY_ON_HEAD_LINE = re.compile(rf"\{{\s*(?:ROOT\s+)?{_NAME}\s+=\s")
_ONLY_NAME = re.compile(rf"\s*(?:ROOT\s+)?{_NAME}\s*$")
_ONLY_ROOT = re.compile(r"\s*ROOT\s*$")
_NAME_OR_ASSIGNMENT = re.compile(rf"\s*{_NAME}\s*(?:=|$)")
_UP_TO_OPERANDS = re.compile(  # a tuple shape also has a parenthesis, but no opcode before it
    rf"\s*(?:ROOT\s+)?{_NAME}\s*=(?:[^\"]*[\s)}}\]]|\s*)[a-z][\w\-]*\s*\("
)
_OPCODE_OR_SHAPE = re.compile(
    r"\s*(?:[a-z][\w\-]*\s*\(|b?\(*[a-z]\w*\[|\()"
)  # an opcode, or a shape first
_MODULE_HEADER = re.compile(r"\s*HloModule\b")
_TOP_LEVEL_LINE = re.compile(
    r"\s*(?:ENTRY|HloModule)\b|(?:FileNames|FunctionNames|FileLocations|StackFrames)\s*$"
    rf"|{_NAME}\s*(?:\((?=.*\)\s*->).*)?\{{\s*$"
)
_ENDS_WITH_CALL_ATTRIBUTE = re.compile(rf"\b(?:{'|'.join(sorted(CALL_ATTRIBUTES))})=$")
_WHITESPACE_OR_COMMENT = re.compile(r"(?:\s|/\*(?:[^*]|\*(?!/))*\*/)*")
_TUPLE_START = re.compile(rf"\{{{_WHITESPACE_OR_COMMENT.pattern}[{{}}]")
# Brackets with plain text or such brackets between are one token, because a module header of 250 KB
# has 20,000 pairs.
_PLAIN_TEXT = r'[^()\[\]{}"/\\]*'
_PLAIN_PAIR = rf"[(\[{{]{_PLAIN_TEXT}[)\]}}]"
_PAIR = rf"[(\[{{]{_PLAIN_TEXT}(?:{_PLAIN_PAIR}{_PLAIN_TEXT})*[)\]}}]"
# An escaped quote is a token of its own outside of strings. Otherwise each quote of a run of them
# would be taken for the beginning of a string up to the end of the line.
_TOKENS = re.compile(rf'"(?:[^"\\]|\\.)*"|\\"|/\*.*?\*/|/\*.*|//.*|{_PAIR}|[(\[{{]|[)\]}}]')
# Characters before a brace to search for the attribute; a header has 10,000 braces.
_MAX_CALL_ATTRIBUTE_LENGTH = 32

# A line with a mark of an instruction, perhaps damaged; unlike a setting such as `grid_x = 1`.
has_instruction_mark = re.compile(
    r"\s*(?:ROOT\b|%[\w.\-]+\s*=|[A-Za-z_][\w.\-]*\s*=\s*\(*[a-z]\w*\[[0-9,]*\])"
).match
_MAX_QUOTED_LINES = 1000
_INLINE_COMPUTATION = "inline computation"
_DATA_LINES = "data lines"  # a brace at the end of a line, such as that of a JSON object
_BRACES = frozenset({"{", _DATA_LINES})
_CONTINUED_LINE_ENDS = (",", "=", "(", "[", "{")
PLAIN_PREFIXES = ("  %", "  ROOT ")  # how XLA begins the line of an instruction
_PREFIXES_AFTER_PLAIN = (*PLAIN_PREFIXES, "}")


def is_plain_instruction(line: str, following: str) -> bool:
    """Return True if an instruction is complete on this line and has no inline computation.

    The check is fast and conservative: False means that the line needs a full parse.
    """
    last = line[-1]
    return (
        (last in ')}"' or last.isalnum())
        and following.startswith(_PREFIXES_AFTER_PLAIN)
        and "//" not in line
        and ("/*" not in line or line.count("/*") == line.count(INDEX_MARK))
        and line.count(" =") == 1
    )


def begins_statement(line: str) -> bool:
    """Return True if a line looks like the beginning of a statement or a comment."""
    begins = _INSTRUCTION.match(line) or _COMPUTATION_HEAD.match(line) or _MODULE_HEADER.match(line)
    return begins is not None or line.lstrip().startswith("/")


# What people put in place of text, and XLA in place of operands (`compact_operands`).
DOTS = re.compile(r"\.\.\.(?:\(\+[0-9]{1,9}\))?|…")


def is_dots(part: str) -> bool:
    """Return True if a part consists of the dots that people put in place of text."""
    return bool(DOTS.fullmatch(part))


def defined_name(line: str) -> str | None:
    """Return the name that a line defines, even if the rest cannot be parsed."""
    found = defined_name_columns(line)
    return None if found is None else line[slice(*found)]


def defined_name_columns(line: str) -> tuple[int, int] | None:
    """Return the columns of the name that a line defines, without ``%``."""
    match = _INSTRUCTION.match(line)
    if match is None or match[1] is None:
        return None
    return match.start(1) + match[1].startswith("%"), match.end(1)


def read_statement(lines: Sequence[str], at: int) -> tuple[int, str]:
    """Return the number of lines of the statement that begins on line ``at``, and its text.

    Blanks replace comments in the text. An unclosed comment extends to the end of the file.
    """
    open_brackets = _OpenBrackets()
    clean = [open_brackets.read_line(lines[at])]
    while at + len(clean) < len(lines):
        following = lines[at + len(clean)]
        if open_brackets.innermost in _BRACES and following.strip() == '"':
            clean += _quoted_lines(lines, at + len(clean))
            continue
        if not open_brackets.in_comment and _statement_ends(
            clean, open_brackets.innermost, following
        ):
            break
        clean.append(open_brackets.read_line(following))
    return len(clean), "\n".join(clean)


def _quoted_lines(lines: Sequence[str], at: int) -> Sequence[str]:
    """Return the lines from one with only a quote to the next one, or that line alone.

    XLA prints such a module in ``origin_recovery_table``, with its strings as they are.
    """
    end = min(at + _MAX_QUOTED_LINES, len(lines))
    last = next((row for row in range(at + 1, end) if lines[row].strip() == '"'), at)
    return lines[at : last + 1]


class _OpenBrackets:
    """The brackets and comments that are open after the lines read so far."""

    def __init__(self) -> None:
        self.in_comment = False
        self._brackets: list[str] = []
        self._before = ""  # the end of the lines so far

    @property
    def innermost(self) -> str | None:
        """The innermost open bracket."""
        return self._brackets[-1] if self._brackets else None

    def read_line(self, line: str) -> str:
        """Read the next line, and return it with blanks in place of comments."""
        start = 0
        if self.in_comment:
            start = line.find("*/") + 2
            if start < 2:
                return " " * len(line)
            self.in_comment = False
        parts = [" " * start]
        end = start
        for match in _TOKENS.finditer(line, start):
            sign = match[0]
            if sign[0] == "/" and not sign.startswith(INDEX_MARK):
                parts += [line[end : match.start()], " " * len(sign)]
                end = match.end()
                self.in_comment = sign[1] == "*" and not (len(sign) > 3 and sign.endswith("*/"))
            elif sign in "([{":
                self._brackets.append(self._kind_of_bracket(sign, line, match))
            elif sign in ")]}" and self._brackets:
                self._brackets.pop()
        clean = "".join([*parts, line[end:]])
        if not clean.isspace():
            self._before = clean[-_MAX_CALL_ATTRIBUTE_LENGTH:]
        return clean

    def _kind_of_bracket(self, sign: str, line: str, match: Match[str]) -> str:
        if sign == "{" and self._begins_inline_computation(line, match.start()):
            return _INLINE_COMPUTATION
        is_last = sign == "{" and not line[match.end() :].strip()
        return _DATA_LINES if is_last else sign

    def _begins_inline_computation(self, line: str, at: int) -> bool:
        """Return True if the brace at a column begins an inline computation or a list of them."""
        before = line[max(at - _MAX_CALL_ATTRIBUTE_LENGTH, 0) : at].rstrip()
        before = before or self._before.rstrip()
        if before.endswith(("{", ",")):
            return self.innermost == _INLINE_COMPUTATION
        return before.endswith("=") and _ENDS_WITH_CALL_ATTRIBUTE.search(before) is not None


def _statement_ends(clean: list[str], innermost: str | None, following: str) -> bool:
    """Return True if a statement ends before the following line."""
    last = next((line.rstrip() for line in reversed(clean) if not line.isspace()), "")
    if not last:  # only a comment
        return True
    first = next(line for line in clean if line and not line.isspace())
    # If the operands begin on the first line, the other lines (up to thousands) are not joined.
    begun = first if _UP_TO_OPERANDS.match(first) else "\n".join(clean)
    if _INSTRUCTION.match(begun):
        if not _UP_TO_OPERANDS.match(begun) and _instruction_continues(begun, following):
            return False
        return _instruction_ends(first, last, innermost, following)
    if _ONLY_NAME.match(begun) and following.lstrip().startswith("="):
        return False
    if innermost in _BRACES and _COMPUTATION_HEAD.match(first) and _BODY_ON_HEAD_LINE.search(first):
        return bool(_TOP_LEVEL_LINE.match(following))
    is_header = _MODULE_HEADER.match(first) is not None
    # XLA prints tables such as `debug_attributes` with the brace on a line of its own.
    closes_table = is_header and innermost in _BRACES and following.startswith("}")
    if _starts_new_item(following) and not closes_table:
        return True
    if is_header:
        return innermost is None and not last.endswith(",")
    if _COMPUTATION_HEAD.match(first):
        return _head_ends(clean, last, innermost, following)
    return True


def _instruction_ends(first: str, last: str, innermost: str | None, following: str) -> bool:
    if innermost == _INLINE_COMPUTATION:
        return bool(_TOP_LEVEL_LINE.match(following)) and not _INSTRUCTION.match(following)
    if innermost in _BRACES:
        if following.startswith("}"):
            # jaxlib 0.8 prints the cost estimate of a kernel with each key on a separate line.
            return innermost == "{" and first[0].isspace() and not last.startswith('"')
        return bool(has_instruction_mark(following) or _TOP_LEVEL_LINE.match(following))
    if _starts_new_item(following):
        return True
    if innermost is not None or last.endswith(_CONTINUED_LINE_ENDS):
        return False
    if following.lstrip().startswith((",", "}")):
        return following.lstrip().startswith("}")
    return last.endswith((")", "}", '"')) or last[-1].isalnum() or not following.strip()


def _instruction_continues(begun: str, following: str) -> bool:
    """Return True if the following line continues an instruction that has no operands yet."""
    if _ONLY_ROOT.match(begun):
        return bool(_NAME_OR_ASSIGNMENT.match(following))
    return bool(_OPCODE_OR_SHAPE.match(following)) and not _starts_new_item(following)


def _head_ends(clean: list[str], last: str, innermost: str | None, following: str) -> bool:
    """Return True if a computation head ends before the following line.

    A head ends with the brace that opens the body, and includes a body on the same line.
    """
    if last.endswith("{"):
        return True
    if innermost is not None:
        return False
    opened = any("{" in line for line in clean)
    return opened or not following.strip() or not following.lstrip().startswith(("{", "(", "->"))


def _starts_new_item(line: str) -> bool:
    """Return True if a line begins a new statement regardless of open brackets."""
    return bool(_INSTRUCTION.match(line) or _TOP_LEVEL_LINE.match(line)) or line.startswith("}")


_STRINGS_AND_COMMENTS = r'"(?:[^"\\\n]|\\.)*"|\\"|/\*[\s\S]*?(?:\*/|\Z)|//[^\n]*'
_NESTING_TOKENS = re.compile(rf'{_STRINGS_AND_COMMENTS}|[(\[{{]|[)\]}}]|,|"')
# No value ends before the devices of a mesh: `replica_groups=mesh['x'=4], device_ids=(...) {'x'}`.
_COMMA = r",(?! device_ids=\()"
_PAIRED_TOKENS = re.compile(rf'{_STRINGS_AND_COMMENTS}|{_PAIR}|[(\[{{]|[)\]}}]|{_COMMA}|"')
STRAY_QUOTES = frozenset({'"', '\\"'})  # tokens that begin or end no string
_COMMENTS = re.compile(_STRINGS_AND_COMMENTS)
INDEX_MARK = "/*index="
_CHARACTER = re.compile(r"[^\n]")
_OPENING = frozenset("([{")
_CLOSING = frozenset(")]}")


def top_level_commas(text: str, at: int, end: int | None = None) -> Iterator[int]:
    """Yield the columns of commas outside of brackets and strings, from ``at``."""
    depth = 0
    # `tokens_with_depth` takes twice as long in long headers.
    for match in _PAIRED_TOKENS.finditer(text, at, len(text) if end is None else end):
        sign = match[0]
        if sign == ",":
            if depth == 0:
                yield match.start()
        elif sign in _OPENING:
            depth += 1
        elif sign in _CLOSING:
            depth -= 1


def comma_separated_spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the spans between the commas that are outside of brackets and strings."""
    for comma in top_level_commas(text, start, end):
        yield start, comma
        start = comma + 1
    yield start, end


def comma_separated_texts(text: str, start: int, end: int) -> list[str]:
    """Return the texts between those commas without blanks around; empty for a blank text."""
    found = [text[first:last].strip() for first, last in comma_separated_spans(text, start, end)]
    return found if found != [""] else []


def tuple_sharding_texts(text: str) -> list[str] | None:
    """Return the texts of the leaves of a tuple sharding, or None for other shardings.

    The tuples of a train step have thousands of leaves with few distinct texts.
    """
    close = closing_bracket(text, 0) if _TUPLE_START.match(text) else None
    if close is None or text[close + 1 :].strip():
        return None
    parts = comma_separated_texts(text, 1, close)
    elements = [_WHITESPACE_OR_COMMENT.sub("", part, count=1) for part in parts]
    return [] if elements == [""] else elements


def tokens_with_depth(
    text: str, at: int, end: int | None = None
) -> Iterator[tuple[Match[str], int]]:
    """Yield commas, brackets and strings, each with the depth around it.

    The depth of an opening and of a closing bracket is the depth outside of it.
    """
    depth = 0
    for match in _NESTING_TOKENS.finditer(text, at, len(text) if end is None else end):
        sign = match[0]
        if sign in _CLOSING:
            depth -= 1
        yield match, depth
        if sign in _OPENING:
            depth += 1


def closing_bracket(text: str, at: int) -> int | None:
    """Return the column of the bracket that matches the one at ``at``, or None."""
    depth = 0
    for match in _PAIRED_TOKENS.finditer(text, at):
        sign = match[0]
        if sign in _OPENING:
            depth += 1
        elif sign in _CLOSING:
            depth -= 1
            if depth == 0:
                return match.start()
        elif depth == 0 and sign[0] in _OPENING:
            return match.end() - 1
    return None


def is_balanced(text: str, at: int) -> bool:
    """Return True if all brackets and strings after ``at`` are closed."""
    depth = 0
    for match in _PAIRED_TOKENS.finditer(text, at):
        sign = match[0]
        if sign in STRAY_QUOTES:
            return False
        depth += (sign in _OPENING) - (sign in _CLOSING)
        if depth < 0:
            return False
    return depth == 0


def without_comments(text: str) -> str:
    """Return the text with blanks in place of comments; columns and lines do not change.

    The comments that XLA prints, such as ``/*index=5*/``, remain, as the shape parser accepts them.
    """
    if "//" not in text and text.count("/*") == text.count(INDEX_MARK):
        return text
    return _COMMENTS.sub(_blank_comment, text)


def _blank_comment(match: Match[str]) -> str:
    text = match[0]
    return text if text[0] != "/" or text.startswith(INDEX_MARK) else _CHARACTER.sub(" ", text)
