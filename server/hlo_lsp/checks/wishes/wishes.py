"""What somebody wants to be checked: on the command line, in a file beside dumps, in an editor."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from typing import Any

from hlo_lsp.checks.explanations import explanations
from hlo_lsp.checks.finding import Severity
from hlo_lsp.checks.wishes.thresholds import Thresholds

ALL = "all"
DEFAULT = "default"
_SEVERITIES = {severity.value: severity for severity in Severity}


@dataclass(frozen=True, slots=True)
class Complaint:
    """Something that cannot be used: under which keys, and what was said there, if it is text."""

    keys: tuple[str, ...]
    message: str
    said: str | None = None


@dataclass(frozen=True, slots=True)
class Wishes:
    """What one person or file said; None and empty where nothing was said.

    ``select`` is the codes to begin with, ``ignore`` those to take away. ``severity`` is the
    lowest that is of interest. ``thresholds`` go by the names of :class:`Thresholds`.
    """

    select: frozenset[str] | None = None
    ignore: frozenset[str] = frozenset()
    severity: Severity | None = None
    thresholds: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> "tuple[Wishes, list[Complaint]]":
        """Read from ``{"select": [...], "ignore": [...], "severity": "...", "thresholds": {...}}``.

        What cannot be used is complained of and otherwise as if it were not there.
        """
        keys = [one.name for one in fields(cls)]
        complaints = [
            Complaint((key,), _unknown("key", key, keys)) for key in said if key not in keys
        ]
        select = _codes("select", said.get("select"), complaints)
        ignore = _codes("ignore", said.get("ignore"), complaints)
        severity = said.get("severity")
        lowest = _SEVERITIES.get(severity) if isinstance(severity, str) else None
        if severity is not None and lowest is None:
            message = f"it must be one of {', '.join(_SEVERITIES)}"
            complaints.append(Complaint(("severity",), message))
        thresholds = _thresholds(said.get("thresholds"), complaints)
        return cls(select, ignore or frozenset(), lowest, thresholds), complaints


def codes_of(word: str) -> frozenset[str]:
    """The codes that a word stands for.

    It is a code, the first words of several (``live-range`` for ``live-range-order`` and the like),
    ``all``, or ``default`` for those that are on unless somebody says otherwise.

    Raises:
        LookupError: it stands for none; the message says so, with the nearest that there is.
    """
    known = explanations()
    if word == ALL:
        return frozenset(known)
    if word == DEFAULT:
        return frozenset(code for code, told in known.items() if told.is_on)
    found = frozenset(code for code in known if f"{code}-".startswith(f"{word}-"))
    if not found:
        raise LookupError(_unknown("rule", word, [*known, ALL, DEFAULT]))
    return found


def _codes(key: str, said: object, complaints: list[Complaint]) -> frozenset[str] | None:
    if said is None:
        return None
    if isinstance(said, str) or not isinstance(said, Sequence):
        complaints.append(Complaint((key,), "it must be a list of codes"))
        return None
    found: set[str] = set()
    for word in said:
        if not isinstance(word, str):
            complaints.append(Complaint((key,), f"a code is a text, not {word!r}"))
            continue
        try:
            found |= codes_of(word)
        except LookupError as error:
            complaints.append(Complaint((key,), str(error.args[0]), word))
    return frozenset(found)


def _thresholds(said: object, complaints: list[Complaint]) -> dict[str, int | float]:
    if said is None or said == []:  # Lua has one empty table for lists and objects
        return {}
    if not isinstance(said, Mapping):
        complaints.append(Complaint(("thresholds",), "it must be a table of numbers"))
        return {}
    whole = {one.name: isinstance(one.default, int) for one in fields(Thresholds)}
    found: dict[str, int | float] = {}
    for name, number in said.items():
        keys = ("thresholds", str(name))
        if name not in whole:
            complaints.append(Complaint(keys, _unknown("threshold", name, list(whole))))
        elif isinstance(number, bool) or not isinstance(number, int | float) or not number >= 0:
            complaints.append(Complaint(keys, "it must be a number from 0 on"))
        elif whole[name] and not isinstance(number, int):
            complaints.append(Complaint(keys, "it must be a whole number"))
        else:
            found[name] = number
    return found


def _unknown(what: str, word: str, known: Sequence[str]) -> str:
    near = get_close_matches(word, known, 1)
    hint = f"; did you mean `{near[0]}`?" if near else ""
    return f"there is no {what} `{word}`{hint}"
