"""Random whitespace in printed lines, wherever XLA's lexer accepts any (hlo_lexer.cc)."""

import re
from random import Random

# Strings are one token, and so is what XLA keeps as a text: the configuration of a backend, which
# is the last attribute, and what an attribute of a frontend has in braces. A name is one with the
# sign behind it.
_TOKEN = re.compile(
    r'"(?:[^"\\\n]|\\.)*"|\'[^\']*\'|backend_config=\{.*|xla\.[\w.]+=\{[^{}]*\}|/\*index=\d+\*/'
    r"|[0-9a-z?]+_[0-9a-z?]+->[0-9a-z?]+|[A-Za-z_][\w.\-]*[=:]?|%[\w.\-]+|->|<=|[\w.\-+]+|\s+|."
)
_IS_STATEMENT = re.compile(r"HloModule |  (?:ROOT )?%?[\w.\-]+ = (?!.*backend_config=\{.*[^}]$)")


def vary_whitespace(line: str, chance: Random, share: float = 0.2) -> str:
    """Return the line with added or removed blanks at a share of the places between its tokens.

    Line ends are added only where a line cannot end a statement. Blanks between two words stay. So
    do blanks after ``=`` and before the opcode, which our reader requires.
    """
    found: list[str] = []
    left = blank = ""
    for right in _TOKEN.findall(line):
        if right.isspace():
            blank = right
            continue
        if left and chance.random() < share:
            blank = chance.choice(_choices(left, right, blank))
        found += [blank, right]
        left, blank = right, ""
    return "".join(found)


def vary_module_whitespace(text: str, chance: Random, share: float = 0.05) -> str:
    """Return the module with other blanks in its header and its instructions."""
    return "\n".join(
        vary_whitespace(line, chance, share) if _IS_STATEMENT.match(line) else line
        for line in text.split("\n")
    )


def _choices(left: str, right: str, blank: str) -> list[str]:
    found = [" ", "  ", "\t"]
    if left in {",", "(", "{"} and right[-1] != "=":
        found.append("\n      ")
    is_word = right[0].isalpha() or (left[-1].isalnum() and right[0] not in "()[]{},:")
    if not (blank and (is_word or left == "=")):
        found.append("")
    return found
