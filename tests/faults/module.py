"""Damage to module texts: names, operands, attributes, shapes, and order."""

import re
from random import Random

from faults.dump import Damage, Dump, Row
from faults.fault import faults
from faults.injections import change, file_damage, pick, replace_line, replace_lines, rewrite
from faults.uses import change_dimension, change_numeric_type

_OPCODES_WITHOUT_OPERANDS = {"parameter", "constant"}
_NAME = re.compile(r"%[\w.-]+")
_ELEMENTWISE = {"add", "subtract", "multiply", "maximum", "minimum", "and", "or", "divide",
                "negate", "exponential", "tanh", "select", "compare", "copy",
                "bitcast-convert"}  # fmt: skip
_CALLEE = re.compile(r"(?:calls|to_apply|body|condition)=%?(?P<name>[\w.-]+)")
_REQUIRED_ATTRIBUTE = re.compile(
    r", (?:dimensions=\{[\d,]*\}|index=\d+|iota_dimension=\d+|direction=\w+|to_apply=%?[\w.-]+|"
    r"calls=%?[\w.-]+|body=%?[\w.-]+|slice=\{[^}]*\}|padding=[\dx_-]+|dynamic_slice_sizes=\{[\d,]*\})"
)


def operands(row: Row) -> list["re.Match[str]"]:
    """Return the matches of the operand names in the line of an instruction."""
    if row["opcode"] in _OPCODES_WITHOUT_OPERANDS:
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


def _rename_operand(random: Random, dump: Dump, row: Row) -> str | None:
    found = operands(row)
    if not found:
        return None
    match = random.choice(found)
    return row.text[: match.end()] + random.choice((".clone", ".77", "x")) + row.text[match.end() :]


def _rename_instruction(random: Random, dump: Dump) -> Damage | None:
    """Rename the definition of an instruction, but not its uses."""
    row = pick(random, dump, "statement", lambda dump, row: bool(users(dump, row)))
    if row is None:
        return None
    expected = [user.spot for user in users(dump, row)]
    return replace_line(
        dump, row, row.with_field("name", row["name"] + "x"), f"`{row['name']}` renamed", expected
    )


def _remove_instruction(random: Random, dump: Dump) -> Damage | None:
    row = pick(random, dump, "statement", lambda dump, row: bool(users(dump, row)))
    if row is None or row.has("root"):
        return None
    new = replace_lines(dump.lines[row.path], row.line, row.line + 1)
    return file_damage(
        row.path, new, [user.line - 1 for user in users(dump, row)], f"`{row['name']}` removed"
    )


def _rename_callee(random: Random, dump: Dump, row: Row) -> str | None:
    match = _CALLEE.search(row.text)
    if match is None:
        return None
    return row.text[: match.end()] + random.choice((".clone", ".77", "x")) + row.text[match.end() :]


def _computation_lines(dump: Dump, row: Row) -> tuple[int, int]:
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


def _remove_computation(random: Random, dump: Dump) -> Damage | None:
    row = pick(random, dump, "computation", lambda dump, row: not row.has("entry"))
    if row is None:
        return None
    start, end = _computation_lines(dump, row)
    new = replace_lines(dump.lines[row.path], start, end + 1)
    expected = [
        one.line - (end + 1 - start) for one in callers(dump, row["name"]) if one.line > end
    ]
    return file_damage(row.path, new, expected, f"`{row['name']}` removed") if expected else None


def _rename_computation(random: Random, dump: Dump) -> Damage | None:
    row = pick(random, dump, "computation", lambda dump, row: not row.has("entry"))
    if row is None:
        return None
    expected = [one.spot for one in callers(dump, row["name"])]
    line = row.with_field("name", row["name"] + "x")
    return replace_line(dump, row, line, f"`{row['name']}` renamed", expected) if expected else None


def _reuse_name(random: Random, dump: Dump) -> Damage | None:
    row = pick(random, dump, "statement")
    others = row and [one for one in body(dump, row) if one["name"] != row["name"]]
    if row is None or not others:
        return None
    other = random.choice(others)
    expected = [other.spot, *(user.spot for user in users(dump, row))]
    description = f"`{row['name']}` renamed `{other['name']}`"
    return replace_line(dump, row, row.with_field("name", other["name"]), description, expected)


def _duplicate_instruction(random: Random, dump: Dump) -> Damage | None:
    row = pick(random, dump, "statement", lambda dump, row: not row.has("root"))
    if row is None or row["opcode"] == "parameter":
        return None
    new = replace_lines(dump.lines[row.path], row.line, row.line, [row.text])
    return file_damage(row.path, new, [row.line, row.line + 1], f"`{row['name']}` twice")


def _duplicate_computation(random: Random, dump: Dump) -> Damage | None:
    row = pick(random, dump, "computation", lambda dump, row: not row.has("entry"))
    if row is None:
        return None
    start, end = _computation_lines(dump, row)
    lines = dump.lines[row.path]
    new = replace_lines(lines, start, start, [*lines[start:end], ""])
    return file_damage(row.path, new, [start, start + end + 1 - start], f"`{row['name']}` twice")


def _remove_operand(random: Random, dump: Dump, row: Row) -> str | None:
    found = operands(row)
    if len(found) < 2:
        return None
    at = random.randrange(1, len(found))
    return row.text[: found[at - 1].end()] + row.text[found[at].end() :]


def _add_operand(random: Random, dump: Dump, row: Row) -> str | None:
    found = operands(row)
    if not found:
        return None
    return f"{row.text[: found[0].end()]}, {found[0][0]}{row.text[found[0].end() :]}"


def _has_fixed_operand_count(dump: Dump, row: Row) -> bool:
    return row["opcode"] in _ELEMENTWISE | {
        "fusion",
        "while",
        "broadcast",
        "reshape",
        "transpose",
    }


def _is_elementwise(dump: Dump, row: Row) -> bool:
    return row["opcode"] in _ELEMENTWISE - {"select", "compare", "copy", "bitcast-convert"}


def _remove_attribute(random: Random, dump: Dump, row: Row) -> str | None:
    match = _REQUIRED_ATTRIBUTE.search(row.text, row.match.start("rest"))
    return None if match is None else row.text[: match.start()] + row.text[match.end() :]


def _is_parameter(dump: Dump, row: Row) -> bool:
    return row["opcode"] == "parameter"


def _parameter_number(row: Row) -> int:
    return int(row["rest"].partition(")")[0])


def _renumber_parameter(random: Random, dump: Dump, row: Row, number: int) -> Damage | None:
    """Change the number of a parameter."""
    line = row.with_field("rest", f"{number}{row['rest'][len(str(_parameter_number(row))) :]}")
    head = row.line
    while not dump.lines[row.path][head].endswith("{"):
        head -= 1
    same = [
        one.spot
        for one in body(dump, row)
        if _is_parameter(dump, one) and _parameter_number(one) == number
    ]
    return replace_line(dump, row, line, f"`{line.strip()[:80]}`", [(row.path, head), *same])


def _exceed_parameter_count(random: Random, dump: Dump) -> Damage | None:
    row = pick(random, dump, "statement", _is_parameter)
    if row is None:
        return None
    return _renumber_parameter(random, dump, row, len(body(dump, row)) + random.randrange(3))


def _repeat_parameter_number(random: Random, dump: Dump) -> Damage | None:
    row = pick(random, dump, "statement", _is_parameter)
    others = row and [
        one for one in body(dump, row) if _is_parameter(dump, one) and one.spot != row.spot
    ]
    if row is None or not others:
        return None
    return _renumber_parameter(random, dump, row, _parameter_number(random.choice(others)))


def _increment_parameter_number(random: Random, dump: Dump) -> Damage | None:
    row = pick(random, dump, "statement", _is_parameter)
    return (
        None if row is None else _renumber_parameter(random, dump, row, _parameter_number(row) + 1)
    )


def _move_after_user(random: Random, dump: Dump) -> Damage | None:
    """Move an instruction after its first user."""
    row = pick(random, dump, "statement", lambda dump, row: bool(users(dump, row)))
    if row is None:
        return None
    to = min(user.line for user in users(dump, row))
    lines = list(dump.lines[row.path])
    lines.insert(to + 1, row.text)
    del lines[row.line]
    return file_damage(row.path, lines, [to - 1, to], f"`{row['name']}` moved after its user")


def _use_later_instruction(random: Random, dump: Dump, row: Row) -> str | None:
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


def _move_computation_after_caller(random: Random, dump: Dump) -> Damage | None:
    """Move a computation after its caller."""
    row = pick(random, dump, "computation", lambda dump, row: not row.has("entry"))
    if row is None:
        return None
    start, end = _computation_lines(dump, row)
    lines = dump.lines[row.path]
    last = max(number for number, line in enumerate(lines) if line.startswith("}")) + 1
    calls = [one.line for one in callers(dump, row["name"]) if end <= one.line < last]
    if not calls:
        return None
    new = (*lines[:start], *lines[end + 1 : last], "", *lines[start:end], *lines[last:])
    removed_lines = end + 1 - start
    expected = [last - removed_lines + 1, *(call - removed_lines for call in calls)]
    return file_damage(row.path, new, expected, f"`{row['name']}` moved to the end")


FAULTS = (
    *faults(
        "undefined-instruction",
        an_operand_renamed=rewrite("statement", _rename_operand),
        an_instruction_renamed=_rename_instruction,
        an_instruction_less=_remove_instruction,
    ),
    *faults(
        "undefined-computation",
        a_callee_renamed=rewrite("statement", _rename_callee),
        a_computation_renamed=_rename_computation,
        a_computation_less=_remove_computation,
    ),
    *faults(
        "duplicate-name",
        name_of_another=_reuse_name,
        an_instruction_twice=_duplicate_instruction,
        a_computation_twice=_duplicate_computation,
    ),
    *faults(
        "operand-count",
        one_less=rewrite("statement", _remove_operand, _has_fixed_operand_count),
        one_more=rewrite("statement", _add_operand, _has_fixed_operand_count),
        one_more_for_a_callee=rewrite(
            "statement", _add_operand, lambda dump, row: row["opcode"] == "fusion"
        ),
    ),
    *faults(
        "shape-mismatch",
        dimension=change("statement", "shape", change_dimension, _is_elementwise),
        element_type=change("statement", "shape", change_numeric_type, _is_elementwise),
        of_a_parameter=change("statement", "shape", change_dimension, _is_parameter),
        of_a_fusion=change(
            "statement", "shape", change_numeric_type, lambda dump, row: row["opcode"] == "fusion"
        ),
        of_an_element=change(
            "statement",
            "shape",
            change_dimension,
            lambda dump, row: row["opcode"] == "get-tuple-element",
        ),
    ),
    *faults(
        "missing-attribute",
        anywhere=rewrite(
            "statement",
            _remove_attribute,
            lambda dump, row: row["opcode"] not in {"custom-call", "broadcast"},
        ),
        dimensions=rewrite(
            "statement",
            _remove_attribute,
            lambda dump, row: row["opcode"] in {"transpose", "concatenate", "reduce"},
        ),
        index=rewrite(
            "statement", _remove_attribute, lambda dump, row: row["opcode"] == "get-tuple-element"
        ),
    ),
    *faults(
        "parameter-number",
        of_none=_exceed_parameter_count,
        of_another=_repeat_parameter_number,
        the_next=_increment_parameter_number,
    ),
    *faults(
        "use-before-definition",
        an_instruction_late=_move_after_user,
        a_computation_late=_move_computation_after_caller,
        an_operand_from_below=rewrite("statement", _use_later_instruction),
    ),
)
