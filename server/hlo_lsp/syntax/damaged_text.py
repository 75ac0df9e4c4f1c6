"""The distinction between damaged text and text of a form that only newer compilers print.

Damage leaves most of a text as it was: a sign is missing, the end is missing, or two lines are
joined. Any other text that no rule matches is taken for a new form, not for an error.
"""

import re
from collections.abc import Callable, Iterable

from hlo_lsp.syntax.grammar import ParseFailure
from hlo_lsp.syntax.log_lines import begins_with_prefix
from hlo_lsp.syntax.statements import is_balanced
from hlo_lsp.text.document import common_prefix_length

# What a text may lack: a sign, a blank, or a number. Missing brackets leave the others unbalanced.
_PARTS = "<>:;=,.-@%| 0"
_REACH = 24  # code points around the first mismatch: a literal of a rule has at most 22
_MAX_LENGTH = 4_000  # code points; longer texts are not searched for joined ones
_NUMBER = re.compile(r"[0-9]+(?: [0-9]{3}(?![0-9]))*")
_OF_NO_DUMP = re.compile(r"\s*(?:[>@$!+]|={3}|-{3}|<{4})")  # a prompt, a mark of a diff
_WORD_IN_LITERAL = re.compile(r"[A-Za-z]{4}")
_SINGLE_WORD = re.compile(r"\s*\w+:?\s*")  # a label


def without_numbers(text: str) -> str:
    """Return the text with ``0`` for each number: equal for most rows of one kind."""
    return _NUMBER.sub("0", text)


def is_damaged(
    text: str, is_known: Callable[[str], bool], mismatch: int, reach: int = _REACH
) -> bool:
    """Return True if a text without a known form is a damaged text of a known form.

    Args:
        text: The text, which ``is_known`` refuses. A brace at the end may open a body.
        is_known: Whether a text has a known form.
        mismatch: The column of the first mismatch.
        reach: The number of code points before and after it where a part may be missing.
    """
    opened = text.rstrip()
    if not is_balanced(opened.removesuffix("{"), 0):
        return True
    return _lacks_a_part(text, is_known, mismatch, reach) or _is_joined(text, is_known)


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
    if not rest and not _SINGLE_WORD.fullmatch(line):
        return True  # it is cut off
    if any(opening.startswith(line) or _has_typo(line, opening) for opening in openings):
        return True
    for term in failure.expected:
        literal = term[1:-1] if term.startswith("`") else ""
        if rest and (literal.startswith(rest) or _has_typo(rest, literal)):
            return True
    return is_damaged(line, is_known, failure.column)


def _has_typo(text: str, literal: str) -> bool:
    """Return whether a text begins with a literal that contains a word, except for one letter."""
    same = common_prefix_length(text, literal, 1)
    if not _WORD_IN_LITERAL.search(literal) or not literal[same : same + 1].isalpha():
        return False
    rest = literal[same + 1 :]
    return text.startswith(rest, same) or text.startswith(rest, same + 1)


def _lacks_a_part(text: str, is_known: Callable[[str], bool], mismatch: int, reach: int) -> bool:
    columns = range(max(mismatch - reach, 0), min(mismatch + reach, len(text)) + 1)
    return any(is_known(text[:at] + part + text[at:]) for at in columns for part in _PARTS)


def _is_joined(text: str, is_known: Callable[[str], bool]) -> bool:
    if len(text) > _MAX_LENGTH:
        return False
    return any(is_known(text[:at]) and is_known(text[at:]) for at in range(1, len(text)))
