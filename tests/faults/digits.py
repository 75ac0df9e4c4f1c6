"""Functions that return a changed number for a field of a line."""

from random import Random

from faults.dump import Dump, Row
from faults.injections import NewText


def off_by_one(field: str) -> NewText:
    """Return a function that adds or subtracts one."""

    def new(random: Random, dump: Dump, row: Row) -> str:
        value = int(row[field])
        return str(value + random.choice((1, -1) if value else (1,)))

    return new


def edit_digit(field: str) -> NewText:
    """Return a function that duplicates, removes, or changes a digit."""

    def new(random: Random, dump: Dump, row: Row) -> str:
        digits = row[field]
        at = random.randrange(len(digits))
        other = random.choice([digit for digit in "123456789" if digit != digits[at]])
        forms = [digits[:at] + other + digits[at + 1 :]]
        if digits != "0":
            forms.append(digits[:at] + digits[at] + digits[at:])
        if len(digits) > 1:
            forms.append((digits[:at] + digits[at + 1 :]).lstrip("0") or "0")
        return random.choice(forms)

    return new


def multiply(field: str, *factors: float) -> NewText:
    """Return a function that multiplies by one of the factors."""

    def new(random: Random, dump: Dump, row: Row) -> str:
        return str(int(int(row[field]) * random.choice(factors)))

    return new


def add(field: str, *steps: int) -> NewText:
    """Return a function that adds one of the steps, or returns None for a negative result."""

    def new(random: Random, dump: Dump, row: Row) -> str | None:
        found = int(row[field]) + random.choice(steps)
        return str(found) if found >= 0 else None

    return new


def copy_field(kind: str, field: str) -> NewText:
    """Return a function that takes the text of the field from another line of a kind."""

    def new(random: Random, dump: Dump, row: Row) -> str | None:
        found = sorted({other[field] for other in dump.rows(kind)} - {""})
        return random.choice(found) if found else None

    return new


def group_digits(number: int) -> str:
    """Return a number with a blank between groups of three digits, as in stack traces."""
    return f"{number:,}".replace(",", " ")
