"""Random whitespace in printed lines, wherever formatting normalizes it."""

import re
from random import Random

from hlo_lsp.hlo.vocabulary import AttributeKind, vocabulary

_LIST_KINDS = {
    *(AttributeKind.INTEGERS, AttributeKind.ENUMS),
    *(AttributeKind.COMPUTATIONS, AttributeKind.INSTRUCTIONS),
}
_LISTS = [each.name for each in vocabulary().attributes.values() if each.kind in _LIST_KINDS]
_STRING = r'"(?:[^"\\\n]|\\.)*"'
_BRACES = r"\{[^{}]*\}"
for _ in range(4):
    _BRACES = rf"\{{(?:{_STRING}|[^{{}}\"]|{_BRACES})*\}}"
_VALUE = rf"(?:{_BRACES}|(?:\[[^\]]*\]|\([^)]*\)|[^\s,{{}}\"(\[])+(?: {_BRACES})?)"
# A kept value is one token, and so is a string, the literal of a matrix, and the configuration of a
# backend, which is the last attribute. A name is one with the sign behind it.
_TOKEN = re.compile(
    rf"backend_config=\{{.*|(?!(?:{'|'.join(_LISTS)})=)[\w.\-]+={_VALUE}"
    rf"|constant\(\{{ *\{{.*?\}}\)|{_STRING}|/\*index=\d+\*/"
    r"|[A-Za-z_][\w.\-]*[=:]?|%[\w.\-]+|->|<=|[\w.\-+]+|\s+|."
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
