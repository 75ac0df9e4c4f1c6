"""Phrases: lists with a limit, numbers with nouns, and shortened texts."""

from collections.abc import Iterable, Iterator, Sequence


def shortened(text: str, limit: int) -> str:
    """Return the first characters of a text, with an ellipsis if it is longer."""
    return text if len(text) <= limit else f"{text[:limit]}..."


def shortened_change(before: str, after: str, limit: int) -> str:
    """Return ``before -> after`` with both shortened, so that the first difference is shown."""
    sides = shortened(before, limit), shortened(after, limit)
    if sides[0] == sides[1]:
        pairs = enumerate(zip(before, after, strict=False))
        least = min(len(before), len(after))
        same = next((at for at, (one, other) in pairs if one != other), least)
        start = max(same - limit // 2, 0)
        sides = (
            f"...{shortened(before[start:], limit)}",
            f"...{shortened(after[start:], limit)}",
        )
    return " -> ".join(sides)


def capitalized(text: str) -> str:
    """Return a text whose first letter is a capital."""
    return f"{text[:1].upper()}{text[1:]}"


def join_limited(items: list[str], limit: int) -> str:
    """Join the first items by commas, and append the number of the other items."""
    more = len(items) - limit
    shown = ", ".join(items[:limit])
    return f"{shown} and {more:,} more" if more > 0 else shown


def join_dotted(items: Sequence[str], limit: int) -> str:
    """Join the first items by middle dots, and append the number of the other items."""
    more = len(items) - limit
    return " · ".join([*items[:limit], *([f"{more:,} more"] if more > 0 else [])])


def more_line(items: Sequence[object], limit: int) -> Iterator[str]:
    """Yield a line with the number of the items after the first ones; none without others."""
    if len(items) > limit:
        yield f"  {len(items) - limit:,} more"


def count_noun(count: int, noun: str) -> str:
    """Return a number with its noun: ``1 use``, ``13 uses``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def hosts_note(hosts: Iterable[str | None]) -> str:
    """Return how many hosts have equal compiles, and how many compiles if that differs.

    Args:
        hosts: The host of each compile; the note is empty for one compile.
    """
    named = list(hosts)
    if len(named) == 1:
        return ""
    compiles = "" if len({*named}) == len(named) else f"{len(named):,} compiles on "
    return f" · {compiles}{count_noun(len({*named}), 'host')}"


def unbroken(amount: str) -> str:
    """Return an amount that a narrow cell does not divide into two lines."""
    return amount.replace(" ", "\N{NO-BREAK SPACE}")
