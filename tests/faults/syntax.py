"""Lines that no compiler prints."""

import re
from random import Random

from faults.dump import Damage, Dump, Row
from faults.fault import faults
from faults.injections import damage, pick, put, replaced, rewrite

_ROWS = ("allocation", "assigned", "entry", "use", "step", "range", "live", "stack")
_SIGN = re.compile(r"[<>():=]")
_LOGGED = ("W0000 00:00:00.0 1 service.cc:145] hello", ">>> print(x)", "@@ -1,3 @@")


def _a_sign_less(random: Random, dump: Dump) -> Damage | None:
    """Remove a bracket, colon, or equals sign before the shape."""
    kind = random.choice(("allocation", "assigned", "entry", "step", "range"))
    row = pick(random, dump, kind)
    if row is None:
        return None
    head = row.text.partition("): ")[0] if kind == "assigned" else row.text.partition(",")[0]
    signs = [match.start() for match in _SIGN.finditer(head)]
    at = random.choice(signs)
    reported = f"`{row.text[at]}` in column {at} less in `{row.text}`"
    return put(dump, row, row.text[:at] + row.text[at + 1 :], reported)


def _a_stray_line(random: Random, dump: Dump) -> Damage | None:
    """Insert an unrelated line into a memory file."""
    row = pick(random, dump, random.choice(_ROWS))
    if row is None:
        return None
    text = random.choice(_LOGGED)
    new = replaced(dump.lines[row.path], row.line, row.line, [text])
    return damage(row.path, new, [row.line], f"a line `{text}`")


def _lines_joined(random: Random, dump: Dump) -> Damage | None:
    """Join a line with the next one."""
    row = pick(random, dump, random.choice(("step", "range", "use", "position", "entry")))
    if row is None or not dump.lines[row.path][row.line + 1].strip():
        return None
    lines = dump.lines[row.path]
    new = replaced(lines, row.line, row.line + 2, [row.text + lines[row.line + 1]])
    return damage(row.path, new, [row.line], f"`{row.text.strip()}` without its end of line")


def _unclosed(random: Random, dump: Dump, row: Row) -> str | None:
    at = row.text.find(")", row.match.start("rest"))
    return None if at < 0 else row.text[:at] + row.text[at + 1 :]


def _unfinished(random: Random, dump: Dump, row: Row) -> str | None:
    return row.text[: row.match.start("rest") + random.randrange(len(row["rest"]) // 2)]


FAULTS = faults(
    "syntax",
    a_sign_less=_a_sign_less,
    a_stray_line=_a_stray_line,
    lines_joined=_lines_joined,
    bracket_of_an_instruction=rewrite("statement", _unclosed),
    half_of_an_instruction=rewrite(
        "statement", _unfinished, lambda dump, row: len(row["rest"]) > 1 and ")" in row["rest"]
    ),
)
