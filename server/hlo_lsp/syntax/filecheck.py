"""FileCheck directives in the comments of HLO tests: ``// CHECK: %[[NAME:.*]] = f32[]``.

See https://llvm.org/docs/CommandGuide/FileCheck.html.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_SUFFIXES = "NEXT|SAME|NOT|DAG|LABEL|EMPTY|COUNT-[0-9]{1,9}"
_DIRECTIVE = re.compile(
    rf"\s*(?://|#|;)\s*(?P<prefix>[A-Za-z][\w-]*?)(?:-(?P<suffix>{_SUFFIXES}))?"
    r"(?P<options>\{[A-Z,]{1,20}\})?:"
)
# A name in double brackets. `[[1, 2]]` and `[[@LINE]]` have none.
_CAPTURE = re.compile(
    r"\[\[(?P<number>#)?\s*(?:%[^,\]\s]{1,9},)?\s*(?P<name>\$?[A-Za-z_]\w*)(?P<end>\s*:|\]\])?"
)


@dataclass(frozen=True, slots=True)
class CaptureMention:
    """The name of a FileCheck variable in a directive; ``is_definition`` where it is captured."""

    name: str
    prefix: str
    line: int
    start: int
    end: int
    is_definition: bool


def is_directive(line: str) -> bool:
    """Return whether a line is a FileCheck directive in a comment."""
    return _DIRECTIVE.match(line) is not None


def capture_mentions(line: str, number: int) -> Iterator[CaptureMention]:
    """Yield the variables in a line, whose number is given."""
    directive = _DIRECTIVE.match(line)
    if directive is None or "LITERAL" in (directive["options"] or ""):
        return
    for match in _CAPTURE.finditer(line, directive.end()):
        if match["end"] is None and match["number"] is None:
            continue
        is_definition = match["end"] is not None and match["end"] != "]]"
        start, end = match.span("name")
        yield CaptureMention(match["name"], directive["prefix"], number, start, end, is_definition)


def resolved_captures(
    lines: Sequence[str],
) -> dict[CaptureMention, tuple[CaptureMention, ...]]:
    """Return all variables of a file with the places that capture them, in the order of the lines.

    A use has the last capture before it. Between two labels, directives of other prefixes can
    capture the same variable, of which one is checked: then it has one capture for each prefix.
    """
    found: dict[CaptureMention, tuple[CaptureMention, ...]] = {}
    last: dict[str, CaptureMention] = {}
    in_block: dict[str, dict[str, CaptureMention]] = {}
    for number, line in enumerate(lines):
        directive = _DIRECTIVE.match(line)
        if directive is not None and directive["suffix"] == "LABEL":
            in_block = {}
        for mention in capture_mentions(line, number):
            captures = in_block.get(mention.name, {})
            if mention.is_definition:
                found[mention] = (mention,)
                last[mention.name] = mention
                in_block[mention.name] = captures | {mention.prefix: mention}
            elif mention.prefix in captures:
                found[mention] = (captures[mention.prefix],)
            elif captures:
                found[mention] = tuple(captures.values())
            else:
                found[mention] = (last[mention.name],) if mention.name in last else ()
    return found
