"""Texts without names or metadata: of instructions, of signatures, and of whole modules."""

import re
from collections.abc import Iterable, Iterator, Sequence
from re import Match

from hlo_lsp.background_jobs import checkpoint

WHOLE_NAME = re.compile(r"%[A-Za-z_][\w.\-]*")
_PARAMETER_NAME = re.compile(r"(?<![\w.\-])[A-Za-z_][\w.\-]*(?=: )")
_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"'
METADATA = re.compile(rf', metadata=\{{[^{{}}"]*(?:{_STRING}[^{{}}"]*)*\}}')  # without inner braces
_SEPARATOR = "\0"  # a text has none, because a file with one is binary


def without_names(text: str) -> str:
    """Return a text with ``%_`` in place of all names with a percent sign.

    The layers of a model differ in names: the 103,000 instructions of L96 have 2,700 such texts.
    """
    return WHOLE_NAME.sub("%_", text)


def texts_without_names(texts: Sequence[str]) -> list[str]:
    """Return each of these texts as ``without_names`` does, in a third of the time."""
    found = without_names(_SEPARATOR.join(texts)).split(_SEPARATOR)
    return found if len(found) == len(texts) else list(map(without_names, texts))


def signature_without_names(text: str) -> str:
    """Return the signature of a computation with ``_`` in place of the names of parameters."""
    return _PARAMETER_NAME.sub("_", text)


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
    from hashlib import sha256  # noqa: PLC0415  # loads OpenSSL, and most answers need no hash

    found = sha256()
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
