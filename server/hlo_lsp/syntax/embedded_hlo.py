"""HLO texts in other languages: strings of Python, raw strings of C++, and fences of Markdown.

A text keeps its lines and columns. Strings whose escapes would move columns are left out, as are
f-strings, whose braces are doubled.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import Enum
from itertools import accumulate
from pathlib import PurePath

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.syntax.file_kinds import SectionRange
from hlo_lsp.syntax.statements import without_comments


class HostLanguage(Enum):
    """The languages whose files can contain HLO texts."""

    CPP = "C++"
    MARKDOWN = "Markdown"
    PYTHON = "Python"


_LANGUAGE_IDS = {
    **dict.fromkeys(("c", "cpp", "cuda", "cuda-cpp"), HostLanguage.CPP),
    "markdown": HostLanguage.MARKDOWN,
    "python": HostLanguage.PYTHON,
}
HOST_LANGUAGE_IDS = tuple(_LANGUAGE_IDS)
_SUFFIXES = {
    **dict.fromkeys((".c", ".cc", ".cpp", ".cu", ".cxx", ".h", ".hpp"), HostLanguage.CPP),
    ".md": HostLanguage.MARKDOWN,
    ".py": HostLanguage.PYTHON,
}


def language_of_id(language_id: str) -> HostLanguage | None:
    """Return the host language with this identifier of an editor, or None."""
    return _LANGUAGE_IDS.get(language_id)


def language_of_path(path: PurePath) -> HostLanguage | None:
    """Return the host language of a file by the end of its name, or None."""
    return _SUFFIXES.get(path.suffix)


_WORDS = ("HloModule", "ENTRY")
_MARKDOWN_WORDS = (*_WORDS, "hlo")
_MODULE = re.compile(r"\s*(?://[^\n]*\n\s*)*HloModule\s+[%A-Za-z_]")
_COMPUTATION = re.compile(r"\s*(?://[^\n]*\n\s*)*(?:ENTRY\s|%?[A-Za-z_][\w.\-]*\s*[({])")
_ENTRY = re.compile(r"^[ \t]*ENTRY\b", re.MULTILINE)
# What a program replaces: `$0`, `<<TYPE>>`, `TYPE[2]`, `f32[SIZE]`, `%s[2]`, `%s a=1`, `%s`.
_PLACEHOLDER = re.compile(
    r"\$|<<|(?<![\w.\-%=])(?<!HloModule )(?!ROOT|ENTRY)[A-Z][A-Z\d_]*(?:\[|[ \t]*$)"
    r"|\b(?:pred|bf16|[sufc]\d\w*)\[[^\]\n]*[A-Za-z]"
    r"|%[a-z](?:[\[%]|[ \t]\w+=)|^[ \t]*%[a-z][ \t]*$",
    re.MULTILINE,
)


def embedded_sections(lines: Sequence[str], language: HostLanguage) -> list[SectionRange]:
    """Return the HLO texts in a file of another language in order, at least two lines each.

    A section ``is_whole`` if it is a complete module: it begins with ``HloModule``, has a
    computation, closes its brackets, and contains nothing that a program would replace.
    """
    words = _MARKDOWN_WORDS if language is HostLanguage.MARKDOWN else _WORDS
    if not any(word in line for line in lines for word in words):
        return []
    text = "\n".join(lines)
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    found: list[SectionRange] = []
    for start, end, is_literal in _TEXTS[language](text):
        checkpoint()
        first, last = (bisect_right(starts, at) - 1 for at in (start, end))
        if first == last:
            continue
        is_whole = is_literal and _is_module(text[start:end])
        name = f"{'module' if is_whole else 'part'} {len(found) + 1}.hlo"
        section = SectionRange(name, first, last - first + 1, is_whole)
        found.append(replace(section, start=start - starts[first], end=end - starts[last]))
    return found


_QUOTED = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_COMPUTATION_LINE = re.compile(
    r"\s*(?:ENTRY\s+)?%?[\w.\-]+\s*(?:\((?:(?!\)\s*->).)*\)\s*->.*\s)?\{\s*$"
)
# XLA's parser accepts a second statement on a line, `f32[8]tanh(`, a body in an operation, and a
# string on several lines.
_UNUSUAL_STATEMENT = re.compile(
    r"[\w)\]}]\s+ROOT\s|[)\]}][a-z][\w\-]*\("
    r"|(?:body|condition|calls|to_apply|computations?)=\{\s*$|\""
)


def _is_module(text: str) -> bool:
    """Return whether a text is a module with the line breaks that the scanner expects.

    XLA's parser ignores line breaks, but a computation begins and ends on lines of its own here.
    """
    if _MODULE.match(text) is None:
        return False
    plain = _QUOTED.sub("", without_comments(text))
    depth = computations = 0
    for line in plain.split("\n"):
        before = depth
        depth += sum(map(line.count, "([{")) - sum(map(line.count, ")]}"))
        if before == 0:
            is_expected = depth == 0 or (depth == 1 and _COMPUTATION_LINE.match(line) is not None)
            computations += depth
        else:
            is_expected = depth > 0 or (depth == 0 and line.lstrip().startswith("}"))
        if not is_expected or _UNUSUAL_STATEMENT.search(line) is not None:
            return False
    return depth == 0 < computations and _PLACEHOLDER.search(plain) is None


_Texts = Iterator[tuple[int, int, bool]]  # start, end, and whether it is used as it is written


def _is_hlo(text: str, start: int, end: int) -> bool:
    return _MODULE.match(text, start, end) is not None or (
        _COMPUTATION.match(text, start, end) is not None
        and _ENTRY.search(text, start, end) is not None
    )


_RAW_STRING = re.compile(r'\bR"([^()\\\s"]{0,16})\(')
_FORMAT_CALL = re.compile(
    r"\w*(?:Format|Printf|Substitute|Replace|ReplaceAll)\(\s*$", re.IGNORECASE
)
_MAX_CALL_CHARACTERS = 80


def _raw_strings(text: str) -> _Texts:
    at = 0
    while opening := _RAW_STRING.search(text, at):
        start, closing = opening.end(), f'){opening[1]}"'
        end = text.find(closing, start)
        if end < 0:
            return
        if _is_hlo(text, start, end):
            before = text[max(0, opening.start() - _MAX_CALL_CHARACTERS) : opening.start()]
            yield start, end, _FORMAT_CALL.search(before) is None
        at = end + len(closing)


_PYTHON_OPENING = re.compile(r"#[^\n]*|([A-Za-z]{0,2})(\"\"\"|'''|\"|')")
_PYTHON_CLOSING = {
    quotes: re.compile(rf"\\.|{quotes}" + ("" if len(quotes) > 1 else r"|\n"), re.DOTALL)
    for quotes in ('"""', "'''", '"', "'")
}
_FORMATTING = re.compile(r"\s*(?:%|\.(?:format|replace)\b)")


def _python_strings(text: str) -> _Texts:
    at = 0
    while opening := _PYTHON_OPENING.search(text, at):
        at, prefix, quotes = opening.end(), (opening[1] or "").lower(), opening[2]
        if quotes is None:  # a comment
            continue
        tokens = _PYTHON_CLOSING[quotes].finditer(text, at)
        closing = next((token for token in tokens if token[0][0] != "\\"), None)
        if closing is None:
            return
        start, end = at, closing.start()
        at = closing.end()
        if len(quotes) == 1 or "f" in prefix or "t" in prefix:
            continue
        if "r" not in prefix:
            start += text.startswith("\\\n", start)
            if text.find("\\", start, end) >= 0:
                continue
        if _is_hlo(text, start, end):
            yield start, end, _FORMATTING.match(text, at) is None


_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})([^\n`]*)$", re.MULTILINE)
_PLAIN_FENCES = frozenset({"", "mlir", "text"})  # languages of fences that can contain a module


def _fences(text: str) -> _Texts:
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opened is None:
            opened = fence
        elif fence[1].startswith(opened[1]) and not fence[2].strip():
            start, end = opened.end() + 1, fence.start()
            language = "".join(opened[2].lower().split(maxsplit=1)[:1])
            is_plain = language in _PLAIN_FENCES and _is_hlo(text, start, end)
            if start < end and (language == "hlo" or is_plain):
                yield start, end, True
            opened = None


_TEXTS = {
    HostLanguage.CPP: _raw_strings,
    HostLanguage.MARKDOWN: _fences,
    HostLanguage.PYTHON: _python_strings,
}
