"""Where a statement of module text ends, for text that somebody has broken into lines.

XLA prints each instruction on one line, but reads any white space. A statement ends where its
brackets are closed, and at the latest where the next line begins something new: a bracket that is
missing costs this statement and no other.
"""

import re
from collections.abc import Iterator, Sequence
from re import Match

_NAME = r"%?[A-Za-z_][\w.\-]*"
_INSTRUCTION = re.compile(rf"\s*(?:ROOT\s+)?({_NAME})\s*=(?:\s|$)|\s*ROOT\b")
_COMPUTATION_HEAD = re.compile(rf"\s*(?:ENTRY\b|{_NAME}\s*(?:\(.*|\{{.*|$))")
_BODY_ON_HEAD_LINE = re.compile(rf"\{{\s*(?:ROOT\s+)?{_NAME}\s+=\s")
_ONLY_NAME = re.compile(rf"\s*(?:ROOT\s+)?{_NAME}\s*$")
_ONLY_ROOT = re.compile(r"\s*ROOT\s*$")
_NAME_OR_ASSIGNMENT = re.compile(rf"\s*{_NAME}\s*(?:=|$)")
_UP_TO_OPERANDS = re.compile(  # a shape may be a tuple: what opens behind a lower-case word counts
    rf"\s*(?:ROOT\s+)?{_NAME}\s*=(?:[^\"]*[\s)}}\]]|\s*)[a-z][\w\-]*\s*\("
)
_OPCODE_OR_SHAPE = re.compile(
    r"\s*(?:[a-z][\w\-]*\s*\(|b?\(*[a-z]\w*\[|\()"
)  # an opcode, or a shape first
_MODULE_HEADER = re.compile(r"\s*HloModule\b")
_TOP_LEVEL_LINE = re.compile(
    r"\s*(?:ENTRY|HloModule)\b|(?:FileNames|FunctionNames|FileLocations|StackFrames)\s*$"
    rf"|{_NAME}\s*(?:\(.*\)\s*->.*)?\{{\s*$"
)
_ENDS_WITH_CALL_ATTRIBUTE = re.compile(
    r"\b(?:calls|to_apply|body|condition|select|scatter|true_computation|false_computation"
    r"|branch_computations|called_computations)=\s*$"
)
_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|/\*.*?\*/|/\*.*|//.*|[(\[{]|[)\]}]')
_MAX_CALL_ATTRIBUTE_LENGTH = (
    32  # characters of an attribute's name; a header has 10 000 braces to look behind
)
_INLINE_COMPUTATION = "inline computation"
_CONTINUED_LINE_ENDS = (",", "=", "(", "[", "{")
PLAIN_PREFIXES = ("  %", "  ROOT ")  # how XLA begins the line of an instruction
_PREFIXES_AFTER_PLAIN = (*PLAIN_PREFIXES, "}")


def is_plain_instruction(line: str, following: str) -> bool:
    """Whether an instruction is all on this line and holds no other: as XLA prints it.

    By a glance; what that cannot tell is False.
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
    """Whether a line looks like the beginning of a statement, or of a comment."""
    begins = _INSTRUCTION.match(line) or _COMPUTATION_HEAD.match(line) or _MODULE_HEADER.match(line)
    return begins is not None or line.lstrip().startswith("/")


def defined_name(line: str) -> str | None:
    """The name that a line defines, even if the rest of it cannot be read."""
    match = _INSTRUCTION.match(line)
    return None if match is None or match[1] is None else match[1].removeprefix("%")


def read_statement(lines: Sequence[str], at: int) -> tuple[int, str]:
    """How many lines the statement takes that begins on line ``at``, and its text.

    The text has blanks in place of its comments. A comment that nobody closes reaches to the end.
    """
    open_parts = _OpenBrackets()
    clean = [open_parts.take(lines[at])]
    while at + len(clean) < len(lines):
        following = lines[at + len(clean)]
        if not open_parts.in_comment and _statement_ends(clean, open_parts.innermost, following):
            break
        clean.append(open_parts.take(following))
    return len(clean), "\n".join(clean)


class _OpenBrackets:
    """What is open at the end of the lines taken so far."""

    def __init__(self) -> None:
        self.in_comment = False
        self._brackets: list[str] = []
        self._before = ""  # the end of the lines so far

    @property
    def innermost(self) -> str | None:
        """The last bracket that is not closed."""
        return self._brackets[-1] if self._brackets else None

    def take(self, line: str) -> str:
        """Read one more line, and return it with blanks in place of comments."""
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
                begins_body = sign == "{" and self._calls(line, match.start())
                self._brackets.append(_INLINE_COMPUTATION if begins_body else sign)
            elif sign in ")]}" and self._brackets:
                self._brackets.pop()
        clean = "".join([*parts, line[end:]])
        if not clean.isspace():
            self._before = clean[-_MAX_CALL_ATTRIBUTE_LENGTH:]
        return clean

    def _calls(self, line: str, at: int) -> bool:
        """Whether the brace at a column begins a computation, or a list of them."""
        before = line[max(at - _MAX_CALL_ATTRIBUTE_LENGTH, 0) : at]
        if not before.strip():
            before = self._before
        if self.innermost == _INLINE_COMPUTATION and before.rstrip().endswith(("{", ",")):
            return True
        return _ENDS_WITH_CALL_ATTRIBUTE.search(before) is not None


def _statement_ends(clean: list[str], innermost: str | None, following: str) -> bool:
    """Whether a statement ends in front of the line that follows it."""
    last = next((line.rstrip() for line in reversed(clean) if not line.isspace()), "")
    if not last:  # nothing but a comment
        return True
    first = next(line for line in clean if line and not line.isspace())
    # What has come to its operands on the first line has so on all: thousands may follow.
    begun = first if _UP_TO_OPERANDS.match(first) else "\n".join(clean)
    if _INSTRUCTION.match(begun):
        if not _UP_TO_OPERANDS.match(begun) and _instruction_continues(begun, following):
            return False
        return _instruction_ends(first, last, innermost, following)
    if _ONLY_NAME.match(begun) and following.lstrip().startswith("="):
        return False
    if innermost == "{" and _COMPUTATION_HEAD.match(first) and _BODY_ON_HEAD_LINE.search(first):
        return bool(_TOP_LEVEL_LINE.match(following))
    if _starts_new_item(following):
        return True
    if _MODULE_HEADER.match(first):
        return innermost is None and not last.endswith(",")
    if _COMPUTATION_HEAD.match(first):
        return _head_ends(clean, last, innermost, following)
    return True


def _instruction_ends(first: str, last: str, innermost: str | None, following: str) -> bool:
    if innermost == _INLINE_COMPUTATION:
        return bool(_TOP_LEVEL_LINE.match(following)) and not _INSTRUCTION.match(following)
    if _starts_new_item(following):
        closes = innermost == "{" and following.startswith("}")
        # jaxlib 0.8 prints the cost estimate of a kernel on lines of its own, a key on each.
        return not (closes and (not first[0].isspace() or last.startswith('"')))
    if innermost is not None or last.endswith(_CONTINUED_LINE_ENDS):
        return False
    if following.lstrip().startswith((",", "}")):
        return following.lstrip().startswith("}")
    return last.endswith((")", "}", '"')) or last[-1].isalnum() or not following.strip()


def _instruction_continues(begun: str, following: str) -> bool:
    """Whether an instruction without operands so far is continued by the line behind it."""
    if _ONLY_ROOT.match(begun):
        return bool(_NAME_OR_ASSIGNMENT.match(following))
    return bool(_OPCODE_OR_SHAPE.match(following)) and not _starts_new_item(following)


def _head_ends(clean: list[str], last: str, innermost: str | None, following: str) -> bool:
    """A head ends with the brace that opens the body; a body that begins there belongs to it."""
    if last.endswith("{"):
        return True
    if innermost is not None:
        return False
    opened = any("{" in line for line in clean)
    return opened or not following.strip() or not following.lstrip().startswith(("{", "(", "->"))


def _starts_new_item(line: str) -> bool:
    """Whether a line begins something of its own, whatever is open above it."""
    return bool(_INSTRUCTION.match(line) or _TOP_LEVEL_LINE.match(line)) or line.startswith("}")


_NESTING_TOKENS = re.compile(r'"(?:[^"\\\n]|\\.)*"|/\*[\s\S]*?\*/|//[^\n]*|[(\[{]|[)\]}]|,|"')
_COMMENTS = re.compile(r'"(?:[^"\\\n]|\\.)*"|/\*[\s\S]*?(?:\*/|\Z)|//[^\n]*')
INDEX_MARK = "/*index="
_CHARACTER = re.compile(r"[^\n]")
_OPENING = frozenset("([{")
_CLOSING = frozenset(")]}")


def top_level_commas(text: str, at: int, end: int) -> Iterator[int]:
    """Where the commas stand that are in no bracket and no string, from ``at`` on."""
    depth = 0
    for match in _NESTING_TOKENS.finditer(
        text, at, end
    ):  # `nested` costs twice as much in long headers
        sign = match[0]
        if sign == ",":
            if depth == 0:
                yield match.start()
        elif sign in _OPENING:
            depth += 1
        elif sign in _CLOSING:
            depth -= 1


def tokens_with_depth(
    text: str, at: int, end: int | None = None
) -> Iterator[tuple[Match[str], int]]:
    """Commas, brackets and string beginnings, each with the depth around it.

    A bracket that opens counts the depth outside of it, and so does the one that closes it.
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
    """Where the bracket closes that opens at ``at``, or None."""
    depth = 0
    for match in _NESTING_TOKENS.finditer(text, at):
        sign = match[0]
        if sign in _OPENING:
            depth += 1
        elif sign in _CLOSING:
            depth -= 1
            if depth == 0:
                return match.start()
    return None


def is_balanced(text: str, at: int) -> bool:
    """Whether every bracket and string that opens behind ``at`` is closed again."""
    depth = 0
    for match in _NESTING_TOKENS.finditer(text, at):
        sign = match[0]
        if sign == '"':  # a string that does not end
            return False
        depth += (sign in _OPENING) - (sign in _CLOSING)
        if depth < 0:
            return False
    return depth == 0


def without_comments(text: str) -> str:
    """The text with blanks where comments were: every column and line stays what it is.

    The marks that XLA prints itself, ``/*index=5*/``, are left alone: readers of shapes know them.
    """
    if "//" not in text and text.count("/*") == text.count(INDEX_MARK):
        return text
    return _COMMENTS.sub(_blank_comment, text)


def _blank_comment(match: Match[str]) -> str:
    text = match[0]
    return text if text[0] == '"' or text.startswith(INDEX_MARK) else _CHARACTER.sub(" ", text)
