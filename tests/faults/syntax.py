"""Damage to the syntax: lines that XLA never prints."""

import re
from random import Random

from faults.dump import Damage, Dump, Row
from faults.fault import faults
from faults.injections import file_damage, pick, replace_line, replace_lines, rewrite

_ROW_KINDS = ("allocation", "assigned", "entry", "use", "step", "range", "live", "stack")
_SIGN = re.compile(r"[<>():=]")
_STRAY_LINES = ("W0000 00:00:00.0 1 service.cc:145] hello", ">>> print(x)", "@@ -1,3 @@")


def _remove_sign(random: Random, dump: Dump) -> Damage | None:
    """Remove a bracket, colon, or equals sign before the shape."""
    kind = random.choice(("allocation", "assigned", "entry", "step", "range"))
    row = pick(random, dump, kind)
    if row is None:
        return None
    head = row.text.partition("): ")[0] if kind == "assigned" else row.text.partition(",")[0]
    signs = [match.start() for match in _SIGN.finditer(head)]
    at = random.choice(signs)
    description = f"`{row.text[at]}` in column {at} removed from `{row.text}`"
    return replace_line(dump, row, row.text[:at] + row.text[at + 1 :], description)


def _insert_stray_line(random: Random, dump: Dump) -> Damage | None:
    """Insert an unrelated line into a memory file."""
    row = pick(random, dump, random.choice(_ROW_KINDS))
    if row is None:
        return None
    text = random.choice(_STRAY_LINES)
    new = replace_lines(dump.lines[row.path], row.line, row.line, [text])
    return file_damage(row.path, new, [row.line], f"inserted line `{text}`")


def _join_lines(random: Random, dump: Dump) -> Damage | None:
    """Join a line with the next one."""
    row = pick(random, dump, random.choice(("step", "range", "use", "position", "entry")))
    if row is None or not dump.lines[row.path][row.line + 1].strip():
        return None
    lines = dump.lines[row.path]
    new = replace_lines(lines, row.line, row.line + 2, [row.text + lines[row.line + 1]])
    return file_damage(row.path, new, [row.line], f"`{row.text.strip()}` joined with the next line")


def _remove_bracket(random: Random, dump: Dump, row: Row) -> str | None:
    at = row.text.find(")", row.match.start("rest"))
    return None if at < 0 else row.text[:at] + row.text[at + 1 :]


def _cut_instruction(random: Random, dump: Dump, row: Row) -> str | None:
    return row.text[: row.match.start("rest") + random.randrange(len(row["rest"]) // 2)]


FAULTS = faults(
    "syntax",
    a_sign_less=_remove_sign,
    a_stray_line=_insert_stray_line,
    lines_joined=_join_lines,
    bracket_of_an_instruction=rewrite("statement", _remove_bracket),
    half_of_an_instruction=rewrite(
        "statement", _cut_instruction, lambda dump, row: len(row["rest"]) > 1 and ")" in row["rest"]
    ),
)
