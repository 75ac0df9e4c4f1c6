"""A fingerprint of a module text, which names and metadata do not change."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from re import Match

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.syntax.texts_without_names import METADATA

_NAME = re.compile(r"%[\w.\-]+")
_TABLE_LINE = re.compile(
    r"\s*(?:\d+ [\"{].*|(?:FileNames|FunctionNames|FileLocations|StackFrames)\s*)?"
)
_LINES_PER_CHECKPOINT = 100


def fingerprint(lines: Iterable[str]) -> str:
    """Return a hash of a module text that is equal for the same program.

    Instructions, shapes, attributes, and the header must be the same in the same order. Names can
    be others. Metadata and the tables of source locations are ignored.
    """
    found = hashlib.sha256()
    for line in _canonical(lines):
        found.update(line.encode(errors="surrogatepass"))
    return found.hexdigest()


def _canonical(lines: Iterable[str]) -> Iterator[str]:
    numbers: dict[str, str] = {}

    def number(match: Match[str]) -> str:
        return numbers.setdefault(match[0], f"%{len(numbers)}")

    for count, line in enumerate(lines):
        if count % _LINES_PER_CHECKPOINT == 0:
            checkpoint()
        if not _TABLE_LINE.fullmatch(line):
            yield _NAME.sub(number, METADATA.sub("", line).strip()) + "\n"
