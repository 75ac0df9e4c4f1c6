"""The distinction between damaged text and text of a form that only newer compilers print.

Damage leaves most of a text as it was: a sign is missing, the end is missing, or two lines are
joined. Any other text that no rule matches is taken for a new form, not for an error.
"""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

from hlo_lsp.syntax.grammar import ParseFailure, literal_words
from hlo_lsp.syntax.log_lines import begins_with_prefix
from hlo_lsp.text.document import common_prefix_length

# What a text may lack: a sign, a blank, or a number. Missing brackets leave the others unbalanced.
_PARTS = "<>:;=,.-@%| 0"
_REACH = 18  # code points around the first mismatch
_MAX_LENGTH = 4_000  # code points; longer texts are not searched for joined ones
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"')
_NUMBER = re.compile(r"[0-9]+(?: [0-9]{3}(?![0-9]))*")
_WORD = re.compile(r"[A-Za-z_]+")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
# A prompt, a mark of a diff, or of a conflict of versions.
_OF_NO_DUMP = re.compile(
    r"\s*(?:>>> |\.\.\. |\$ |@@ .* @@|(?:<{7}|={7}|>{7})(?:\s|$)|(?:\+\+\+|---) [ab]/)"
)
_WORD_IN_LITERAL = re.compile(r"[A-Za-z]{4}")
_LABEL = re.compile(r"\s*[A-Za-z]\w*:?\s*")
_JOINT = re.compile(r"(?<=\S)(?=[ <])|(?=allocation |HloLiveRange )")


def outline(text: str) -> str:
    """Return the text without its numbers, strings, and names: equal for most rows of one kind."""
    plain = _NUMBER.sub("0", _STRING.sub('""', text))
    return _WORD.sub(lambda match: _word_outline(match[0]), plain)


def _word_outline(word: str) -> str:
    if _may_be_literal(word):
        return word
    return "X" if word[0].isupper() else "x"  # opcodes and types have no capital letter


@lru_cache(maxsize=1 << 12)
def _may_be_literal(word: str) -> bool:
    """Return whether a word is one of the grammars, a part of one, or one with a wrong letter."""
    return any(
        known.startswith(word) or (abs(len(known) - len(word)) < 2 and has_typo(word, known))
        for known in literal_words()
    )


def is_damaged(
    text: str,
    is_known: Callable[[str], bool],
    mismatch: int,
    *,
    reach: int = _REACH,
    parts: str = _PARTS,
) -> bool:
    """Return True if a text without a known form is a damaged text of a known form.

    Args:
        text: The text, which ``is_known`` refuses. A brace at the end may open a body, and one at
            the beginning may close it.
        is_known: Whether a text has a known form.
        mismatch: The column of the first mismatch.
        reach: The number of code points before and after it where a part may be missing.
        parts: The parts that may be missing, of one code point each.
    """
    opened = text.strip().removeprefix("}")
    if _CONTROL.search(text) or not is_paired(opened.removesuffix("{")):
        return True
    columns = range(max(mismatch - reach, 0), min(mismatch + reach, len(text)) + 1)
    return any(is_known(text[:at] + part + text[at:]) for at in columns for part in parts)


def is_damaged_line(
    line: str,
    is_known: Callable[[str], bool],
    failure: ParseFailure,
    openings: Iterable[str] = (),
) -> bool:
    """Return True if a line is damaged, or is of no dump at all.

    Args:
        line: The line, which ``is_known`` refuses.
        is_known: Whether a line has a known form.
        failure: The first mismatch with the rule that matches most of the line.
        openings: What lines of known forms begin with.
    """
    if _OF_NO_DUMP.match(line) or begins_with_prefix(line):
        return True
    rest = line[failure.column :]
    if not rest and not _LABEL.fullmatch(line):
        return True  # it is cut off
    if any(opening.startswith(line) or has_typo(line, opening) for opening in openings):
        return True
    for term in failure.expected:
        literal = term[1:-1] if term.startswith("`") else ""
        if rest and (literal.startswith(rest) or has_typo(rest, literal)):
            return True
    is_head = line.rstrip().endswith("{")  # its signature is one terminal
    reach = _MAX_HEAD if is_head and len(line) < _MAX_HEAD else _REACH
    return is_damaged(line, is_known, failure.column, reach=reach) or is_joined(line, is_known)


_MAX_HEAD = 400  # code points of the head of a computation


def has_typo(text: str, literal: str) -> bool:
    """Return True if a text begins with a literal that contains a word, except for one letter."""
    same = common_prefix_length(text, literal, 1)
    letter = literal[same : same + 1]
    if not _WORD_IN_LITERAL.search(literal) or not letter.isalpha():
        return False
    if text[same : same + 1].lower() == letter.lower():
        return False  # another spelling of the word
    rest = literal[same + 1 :]
    return text.startswith(rest, same) or text.startswith(rest, same + 1)


def is_joined(text: str, is_known: Callable[[str], bool]) -> bool:
    """Return True if a text consists of two lines of known forms."""
    if len(text) > _MAX_LENGTH:
        return False
    joints = (match.start() for match in _JOINT.finditer(text))
    return any(is_known(text[:at]) and is_known(text[at:]) for at in joints)


_CLOSING = {")": "(", "]": "[", "}": "{"}
_BRACKETS = re.compile(rf"{_STRING.pattern}|[()\[\]{{}}\"]")


def is_paired(text: str) -> bool:
    """Return True if each bracket has its counterpart, and each string its end."""
    opened: list[str] = []
    for match in _BRACKETS.finditer(text):
        sign = match[0]
        if sign == '"' or (sign in _CLOSING and (not opened or opened.pop() != _CLOSING[sign])):
            return False
        if sign in "([{":
            opened.append(sign)
    return not opened
