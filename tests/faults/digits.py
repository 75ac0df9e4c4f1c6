"""Other numbers for those that are printed."""

from random import Random

from faults.dump import Dump, Row
from faults.injections import New


def near(field: str) -> New:
    """One more or one less."""

    def new(random: Random, dump: Dump, row: Row) -> str:
        value = int(row[field])
        return str(value + random.choice((1, -1) if value else (1,)))

    return new


def typed(field: str) -> New:
    """Duplicate, remove, or change a digit."""

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


def times(field: str, *factors: float) -> New:
    """Multiply a number."""

    def new(random: Random, dump: Dump, row: Row) -> str:
        return str(int(int(row[field]) * random.choice(factors)))

    return new


def more(field: str, *steps: int) -> New:
    """So much more, or less if that leaves a number."""

    def new(random: Random, dump: Dump, row: Row) -> str | None:
        found = int(row[field]) + random.choice(steps)
        return str(found) if found >= 0 else None

    return new


def of_another(kind: str, field: str) -> New:
    """Use the text of another line of the kind."""

    def new(random: Random, dump: Dump, row: Row) -> str | None:
        found = sorted({other[field] for other in dump.rows(kind)} - {""})
        return random.choice(found) if found else None

    return new


def spaced(number: int) -> str:
    """Return a number with a blank between groups of three digits, as in stack traces."""
    return f"{number:,}".replace(",", " ")
