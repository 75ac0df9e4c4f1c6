"""Damage to module texts: names, operands, attributes, shapes, order."""

import re
from random import Random

from faults.dump import Damage, Dump, Row
from faults.fault import faults
from faults.injections import change, damage, pick, put, replaced, rewrite
from faults.uses import dimension, other_type

_LITERALS = {"parameter", "constant"}
_NAME = re.compile(r"%[\w.-]+")
_SAME = {"add", "subtract", "multiply", "maximum", "minimum", "and", "or", "divide", "negate",
         "exponential", "tanh", "select", "compare", "copy", "bitcast-convert"}  # fmt: skip
_CALLEE = re.compile(r"(?:calls|to_apply|body|condition)=%?(?P<name>[\w.-]+)")
_NEEDED = re.compile(
    r", (?:dimensions=\{[\d,]*\}|index=\d+|iota_dimension=\d+|direction=\w+|to_apply=%?[\w.-]+|"
    r"calls=%?[\w.-]+|body=%?[\w.-]+|slice=\{[^}]*\}|padding=[\dx_-]+|dynamic_slice_sizes=\{[\d,]*\})"
)


def operands(row: Row) -> list["re.Match[str]"]:
    """Return the operand names of an instruction, with their places in the line."""
    if row["opcode"] in _LITERALS:
        return []
    start = row.match.start("rest")
    end = row.text.find(")", start)
    return list(_NAME.finditer(row.text, start, end))


def body(dump: Dump, row: Row) -> list[Row]:
    """Return the instructions of the computation of an instruction."""
    lines = dump.lines[row.path]
    start = end = row.line
    while not lines[start].endswith("{"):
        start -= 1
    while not lines[end].startswith("}"):
        end += 1
    return [one for one in dump.rows("statement") if start < one.line < end]


def users(dump: Dump, row: Row) -> list[Row]:
    """Return the users of an instruction."""
    name = "%" + row["name"]
    return [one for one in body(dump, row) if any(found[0] == name for found in operands(one))]


def _another_operand(random: Random, dump: Dump, row: Row) -> str | None:
    found = operands(row)
    if not found:
        return None
    match = random.choice(found)
    return row.text[: match.end()] + random.choice((".clone", ".77", "x")) + row.text[match.end() :]


def _renamed(random: Random, dump: Dump) -> Damage | None:
    """Rename an instruction, but not in its users."""
    row = pick(random, dump, "statement", lambda dump, row: bool(users(dump, row)))
    if row is None:
        return None
    right = [user.spot for user in users(dump, row)]
    return put(dump, row, row.put("name", row["name"] + "x"), f"`{row['name']}` renamed", right)


def _gone(random: Random, dump: Dump) -> Damage | None:
    row = pick(random, dump, "statement", lambda dump, row: bool(users(dump, row)))
    if row is None or row.has("root"):
        return None
    new = replaced(dump.lines[row.path], row.line, row.line + 1)
    return damage(
        row.path, new, [user.line - 1 for user in users(dump, row)], f"`{row['name']}` gone"
    )


def _another_callee(random: Random, dump: Dump, row: Row) -> str | None:
    match = _CALLEE.search(row.text)
    if match is None:
        return None
    return row.text[: match.end()] + random.choice((".clone", ".77", "x")) + row.text[match.end() :]


def _computation(dump: Dump, row: Row) -> tuple[int, int]:
    end = row.line
    while not dump.lines[row.path][end].startswith("}"):
        end += 1
    return row.line, end + 1


def callers(dump: Dump, name: str) -> list[Row]:
    """Return the instructions that call a computation."""
    mention = re.compile(rf"[=,{{ ]%?{re.escape(name)}(?![\w.-])")
    return [
        row for row in dump.rows("statement") if mention.search(row.text, row.match.end("shape"))
    ]


def _computation_gone(random: Random, dump: Dump) -> Damage | None:
    row = pick(random, dump, "computation", lambda dump, row: not row.has("entry"))
    if row is None:
        return None
    start, end = _computation(dump, row)
    new = replaced(dump.lines[row.path], start, end + 1)
    right = [one.line - (end + 1 - start) for one in callers(dump, row["name"]) if one.line > end]
    return damage(row.path, new, right, f"`{row['name']}` gone") if right else None


def _computation_renamed(random: Random, dump: Dump) -> Damage | None:
    row = pick(random, dump, "computation", lambda dump, row: not row.has("entry"))
    if row is None:
        return None
    right = [one.spot for one in callers(dump, row["name"])]
    line = row.put("name", row["name"] + "x")
    return put(dump, row, line, f"`{row['name']}` renamed", right) if right else None


def _name_of_another(random: Random, dump: Dump) -> Damage | None:
    row = pick(random, dump, "statement")
    others = row and [one for one in body(dump, row) if one["name"] != row["name"]]
    if row is None or not others:
        return None
    other = random.choice(others)
    right = [other.spot, *(user.spot for user in users(dump, row))]
    reported = f"`{row['name']}` called `{other['name']}`"
    return put(dump, row, row.put("name", other["name"]), reported, right)


def _instruction_twice(random: Random, dump: Dump) -> Damage | None:
    row = pick(random, dump, "statement", lambda dump, row: not row.has("root"))
    if row is None or row["opcode"] == "parameter":
        return None
    new = replaced(dump.lines[row.path], row.line, row.line, [row.text])
    return damage(row.path, new, [row.line, row.line + 1], f"`{row['name']}` twice")


def _computation_twice(random: Random, dump: Dump) -> Damage | None:
    row = pick(random, dump, "computation", lambda dump, row: not row.has("entry"))
    if row is None:
        return None
    start, end = _computation(dump, row)
    lines = dump.lines[row.path]
    new = replaced(lines, start, start, [*lines[start:end], ""])
    return damage(row.path, new, [start, start + end + 1 - start], f"`{row['name']}` twice")


def _operand_less(random: Random, dump: Dump, row: Row) -> str | None:
    found = operands(row)
    if len(found) < 2:
        return None
    at = random.randrange(1, len(found))
    return row.text[: found[at - 1].end()] + row.text[found[at].end() :]


def _operand_more(random: Random, dump: Dump, row: Row) -> str | None:
    found = operands(row)
    if not found:
        return None
    return f"{row.text[: found[0].end()]}, {found[0][0]}{row.text[found[0].end() :]}"


def _is_counted(dump: Dump, row: Row) -> bool:
    return row["opcode"] in _SAME | {"fusion", "while", "broadcast", "reshape", "transpose"}


def _is_elementwise(dump: Dump, row: Row) -> bool:
    return row["opcode"] in _SAME - {"select", "compare", "copy", "bitcast-convert"}


def _attribute_less(random: Random, dump: Dump, row: Row) -> str | None:
    match = _NEEDED.search(row.text, row.match.start("rest"))
    return None if match is None else row.text[: match.start()] + row.text[match.end() :]


def _parameter(dump: Dump, row: Row) -> bool:
    return row["opcode"] == "parameter"


def _numbered(row: Row) -> int:
    return int(row["rest"].partition(")")[0])


def _renumbered(random: Random, dump: Dump, row: Row, number: int) -> Damage | None:
    """Change the number of a parameter."""
    line = row.put("rest", f"{number}{row['rest'][len(str(_numbered(row))) :]}")
    head = row.line
    while not dump.lines[row.path][head].endswith("{"):
        head -= 1
    same = [
        one.spot for one in body(dump, row) if _parameter(dump, one) and _numbered(one) == number
    ]
    return put(dump, row, line, f"`{line.strip()[:80]}`", [(row.path, head), *same])


def _no_parameter(random: Random, dump: Dump) -> Damage | None:
    row = pick(random, dump, "statement", _parameter)
    if row is None:
        return None
    return _renumbered(random, dump, row, len(body(dump, row)) + random.randrange(3))


def _another_parameter(random: Random, dump: Dump) -> Damage | None:
    row = pick(random, dump, "statement", _parameter)
    others = row and [
        one for one in body(dump, row) if _parameter(dump, one) and one.spot != row.spot
    ]
    if row is None or not others:
        return None
    return _renumbered(random, dump, row, _numbered(random.choice(others)))


def _next_parameter(random: Random, dump: Dump) -> Damage | None:
    row = pick(random, dump, "statement", _parameter)
    return None if row is None else _renumbered(random, dump, row, _numbered(row) + 1)


def _defined_late(random: Random, dump: Dump) -> Damage | None:
    """Move an instruction after its first user."""
    row = pick(random, dump, "statement", lambda dump, row: bool(users(dump, row)))
    if row is None:
        return None
    to = min(user.line for user in users(dump, row))
    lines = list(dump.lines[row.path])
    lines.insert(to + 1, row.text)
    del lines[row.line]
    return damage(row.path, lines, [to - 1, to], f"`{row['name']}` below its user")


def _later_operand(random: Random, dump: Dump, row: Row) -> str | None:
    """Return the name of a later instruction with the shape of an operand."""
    shapes = {"%" + one["name"]: one["shape"] for one in body(dump, row)}
    later = ["%" + one["name"] for one in body(dump, row) if one.line > row.line]
    pairs = [
        (match, name)
        for match in operands(row)
        for name in later
        if shapes[name] == shapes.get(match[0])
    ]
    if not pairs:
        return None
    match, name = random.choice(pairs)
    return row.text[: match.start()] + name + row.text[match.end() :]


def _computation_late(random: Random, dump: Dump) -> Damage | None:
    """Move a computation after its caller."""
    row = pick(random, dump, "computation", lambda dump, row: not row.has("entry"))
    if row is None:
        return None
    start, end = _computation(dump, row)
    lines = dump.lines[row.path]
    last = max(number for number, line in enumerate(lines) if line.startswith("}")) + 1
    calls = [one.line for one in callers(dump, row["name"]) if end <= one.line < last]
    if not calls:
        return None
    new = (*lines[:start], *lines[end + 1 : last], "", *lines[start:end], *lines[last:])
    gone = end + 1 - start
    right = [last - gone + 1, *(call - gone for call in calls)]
    return damage(row.path, new, right, f"`{row['name']}` at the end")


FAULTS = (
    *faults(
        "undefined-instruction",
        an_operand_renamed=rewrite("statement", _another_operand),
        an_instruction_renamed=_renamed,
        an_instruction_less=_gone,
    ),
    *faults(
        "undefined-computation",
        a_callee_renamed=rewrite("statement", _another_callee),
        a_computation_renamed=_computation_renamed,
        a_computation_less=_computation_gone,
    ),
    *faults(
        "duplicate-name",
        name_of_another=_name_of_another,
        an_instruction_twice=_instruction_twice,
        a_computation_twice=_computation_twice,
    ),
    *faults(
        "operand-count",
        one_less=rewrite("statement", _operand_less, _is_counted),
        one_more=rewrite("statement", _operand_more, _is_counted),
        one_more_for_a_callee=rewrite(
            "statement", _operand_more, lambda dump, row: row["opcode"] == "fusion"
        ),
    ),
    *faults(
        "shape-mismatch",
        dimension=change("statement", "shape", dimension, _is_elementwise),
        element_type=change("statement", "shape", other_type, _is_elementwise),
        of_a_parameter=change("statement", "shape", dimension, _parameter),
        of_a_fusion=change(
            "statement", "shape", other_type, lambda dump, row: row["opcode"] == "fusion"
        ),
        of_an_element=change(
            "statement",
            "shape",
            dimension,
            lambda dump, row: row["opcode"] == "get-tuple-element",
        ),
    ),
    *faults(
        "missing-attribute",
        anywhere=rewrite(
            "statement",
            _attribute_less,
            lambda dump, row: row["opcode"] not in {"custom-call", "broadcast"},
        ),
        dimensions=rewrite(
            "statement",
            _attribute_less,
            lambda dump, row: row["opcode"] in {"transpose", "concatenate", "reduce"},
        ),
        index=rewrite(
            "statement", _attribute_less, lambda dump, row: row["opcode"] == "get-tuple-element"
        ),
    ),
    *faults(
        "parameter-number",
        of_none=_no_parameter,
        of_another=_another_parameter,
        the_next=_next_parameter,
    ),
    *faults(
        "use-before-definition",
        an_instruction_late=_defined_late,
        a_computation_late=_computation_late,
        an_operand_from_below=rewrite("statement", _later_operand),
    ),
)
