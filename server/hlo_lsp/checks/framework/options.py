"""Options of the checks: on the command line, in ``hlo-lsp.toml``, in the settings of an editor."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import reduce
from typing import Any

from hlo_lsp.checks.framework.explanations import explanations
from hlo_lsp.checks.framework.finding import Severity
from hlo_lsp.cost.chips import chips
from hlo_lsp.hlo.vocabulary import vocabulary
from hlo_lsp.model.backend import space_names
from hlo_lsp.text.amounts import parse_flops, parse_size, parse_time


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits for the modules of a name; None and empty where there is none.

    Attributes:
        module: Pattern of module names, such as ``jit_step*``.
        peak: Limits of the occupied bytes at the peak, by memory space; that without a name is
            for each one off the chip.
        total: Limits of the allocated bytes, the same.
        padding: Largest share of array padding in the bytes at a peak, 0 to 1.
        constant: Size of the largest constant in bytes.
        forbidden: Opcodes that the module must not contain.
        donated: Beginnings of the names of arguments that must be donated.
        flops: FLOPs of one run.
        bytes: Bytes that one run reads and writes outside of on-chip memory.
        least_time: Least time of one run on the chip, in picoseconds.
    """

    module: str = "*"
    peak: tuple[tuple[str, int], ...] = ()
    total: tuple[tuple[str, int], ...] = ()
    padding: float | None = None
    constant: int | None = None
    forbidden: tuple[str, ...] = ()
    donated: tuple[str, ...] = ()
    flops: int | None = None
    bytes: int | None = None
    least_time: float | None = None

    def applies_to(self, module: str) -> bool:
        """Return True if the budget is for modules of this name."""
        return fnmatchcase(module, self.module)

    @classmethod
    def of(cls, data: object) -> "tuple[Budget | None, list[tuple[str, str]]]":
        """Read a table; return the budget, and a key and a message for each error."""
        if not isinstance(data, Mapping):
            return None, [("", "must be a table")]
        errors: list[tuple[str, str]] = []
        found: dict[str, object] = {}
        for key, value in data.items():
            read = _READERS.get(key)
            if read is None:
                errors.append((str(key), _unknown("key", str(key), list(_READERS))))
                continue
            try:
                found[key] = read(value)
            except ValueError as error:
                errors.append((key, str(error)))
        return cls(**found), errors  # type: ignore[arg-type]  # each reader returns its type


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("must be a string")
    return value


def _texts(value: object) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise ValueError("must be a list of strings")
    return tuple(map(_text, value))


def _size(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    size = parse_size(value) if isinstance(value, str) else None
    if size is None:
        raise ValueError('must be a number of bytes, or a size such as "12 GiB"')
    return size


def _sizes(value: object) -> tuple[tuple[str, int], ...]:
    if isinstance(value, int | str):
        return (("", _size(value)),)
    if not isinstance(value, Mapping):
        raise ValueError('must be a size, or one for each memory space: { HBM = "12 GiB" }')
    known = {name.casefold() for name in space_names()}
    for space in map(str, value):
        if space.casefold() not in known and not _OTHER_SPACE.fullmatch(space):
            raise ValueError(_unknown("memory space", space, space_names()))
    return tuple((str(space), _size(size)) for space, size in value.items())


def _opcodes(value: object) -> tuple[str, ...]:
    """Return opcodes; an unknown one is an error if it resembles another, else it can be new."""
    found = _texts(value)
    known = vocabulary().opcodes
    for opcode in found:
        if opcode not in known and get_close_matches(opcode, known, 1, _SIMILARITY):
            raise ValueError(_unknown("opcode", opcode, list(known)))
    return found


def _flops(value: object) -> int:
    number = _number(value)
    flops = parse_flops(value) if isinstance(value, str) else number
    if flops is None:
        raise ValueError('must be a number of FLOPs, or text such as "400 GFLOP"')
    return round(flops)


def _picoseconds(value: object) -> float:
    seconds = _number(value)
    if seconds is not None:
        return seconds * 1e12
    time = parse_time(value) if isinstance(value, str) else None
    if time is None:
        raise ValueError('must be a number of seconds, or text such as "3.5 ms"')
    return time


def _number(value: object) -> float | None:
    """Return a finite number of at least 0, None for anything else."""
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not 0 <= value <= _MAX_NUMBER
    ):
        return None
    return float(value)


def _share(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ValueError("must be a number from 0 to 1")
    return float(value)


_READERS = {
    "module": _text,
    "peak": _sizes,
    "total": _sizes,
    "padding": _share,
    "constant": _size,
    "forbidden": _opcodes,
    "donated": _texts,
    "flops": _flops,
    "bytes": _size,
    "least_time": _picoseconds,
}


_MIB = 1 << 20
_MAX_NUMBER = 1e30  # more than any program has, and exact enough as a float
_OTHER_SPACE = re.compile(r"memory space \d+", re.IGNORECASE)  # without a name
_SIMILARITY = 0.8  # of a misspelled opcode


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The amounts from which advice is given; the names are those of the settings.

    size: bytes of arrays, constants, copies, donations, values, or unused memory.
    share: part of an array that is padding, or of a temporary allocation that is unused, 0 to 1.
    """

    size: int = _MIB
    share: float = 0.1


# Former names, each with the threshold that replaced it, or None.
_FORMER_THRESHOLDS = {
    **dict.fromkeys(
        (
            *("padding_bytes", "fragmentation_bytes", "donation_bytes", "constant_bytes"),
            *("layout_copy_bytes", "long_lived_bytes"),
        ),
        "size",
    ),
    **dict.fromkeys(("padding_ratio", "fragmentation_ratio"), "share"),
    **dict.fromkeys(("long_lived_count", "duplicate_instructions", "transfer_bytes")),
}


@dataclass(frozen=True, slots=True)
class Limits(Thresholds):
    """The thresholds of advice, and the budgets and the chip of a project.

    ``with_negligible`` also reports advice with negligible savings; it is not a setting. ``chip``
    is the name of one, None for that of the dump.
    """

    budgets: tuple[Budget, ...] = ()
    chip: str | None = None
    with_negligible: bool = False


DEFAULTS = Limits()


ALL = "all"
DEFAULT = "default"
_SEVERITIES = {severity.value: severity for severity in Severity}


@dataclass(frozen=True, slots=True)
class OptionError:
    """An option that cannot be used: its keys, and its value if that is text.

    ``is_warning`` is true for an option that is used, although it has another name now.
    """

    keys: tuple[str, ...]
    message: str
    value: str | None = None
    is_warning: bool = False


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """The options of one source; None and empty where it has none.

    ``select`` are the codes to start with, ``ignore`` those to remove. ``severity`` is the lowest
    one that is reported. ``thresholds`` has the names of :class:`Thresholds`. ``budget`` is named
    as in ``[[budget]]`` of the file. ``chip`` is the name of the chip for times.
    """

    select: frozenset[str] | None = None
    ignore: frozenset[str] = frozenset()
    severity: Severity | None = None
    thresholds: Mapping[str, Any] = field(default_factory=dict)
    budget: tuple[Budget, ...] = ()
    chip: str | None = None

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> "tuple[CheckOptions, list[OptionError]]":
        """Read ``{"select": [...], "ignore": [...], "severity": "...", "thresholds": {...}}``.

        Each value that cannot be used is an error, and is ignored otherwise.
        """
        keys = [one.name for one in fields(cls)]
        unknown = (key for key in data if key not in keys)
        errors = [OptionError((key,), _unknown("key", key, keys)) for key in unknown]
        select = _codes("select", data.get("select"), errors)
        ignore = _codes("ignore", data.get("ignore"), errors)
        severity = data.get("severity")
        lowest = _SEVERITIES.get(severity) if isinstance(severity, str) else None
        if severity is not None and lowest is None:
            message = f"must be one of {', '.join(_SEVERITIES)}"
            errors.append(OptionError(("severity",), message))
        thresholds = _thresholds(data.get("thresholds"), errors)
        budgets = _budgets(data.get("budget"), errors)
        chip = _chip(data.get("chip"), errors)
        return cls(select, ignore or frozenset(), lowest, thresholds, budgets, chip), errors


def codes_of(word: str) -> frozenset[str]:
    """Return the codes that a word selects.

    The word is a code, the first words of several (``live-range`` for ``live-range-order`` and
    others), ``all``, or ``default`` for those that are on by default.

    Raises:
        LookupError: the word selects none; the message has the nearest one.
    """
    known = explanations()
    if word == ALL:
        return frozenset(known)
    if word == DEFAULT:
        return frozenset(code for code, explanation in known.items() if explanation.is_on)
    found = frozenset(code for code in known if f"{code}-".startswith(f"{word}-"))
    if not found:
        raise LookupError(_unknown("rule", word, [*known, ALL, DEFAULT]))
    return found


@dataclass(frozen=True, slots=True)
class Selection:
    """The options of all sources together.

    ``severity`` is the lowest one that is shown and counts; without one everything is shown, and
    errors and warnings count.
    """

    codes: frozenset[str] = field(default_factory=lambda: codes_of(DEFAULT))
    severity: Severity | None = None
    thresholds: Limits = DEFAULTS

    @classmethod
    def of(cls, options: Iterable[CheckOptions]) -> "Selection":
        """Combine the options of several sources; later ones override."""
        return reduce(Selection.then, options, cls())

    def then(self, options: CheckOptions) -> "Selection":
        """Add the options of one more source.

        Selected codes replace those before; ignored codes are removed.
        """
        begun = self.codes if options.select is None else options.select
        return Selection(
            begun - options.ignore,
            options.severity or self.severity,
            replace(
                self.thresholds,
                **options.thresholds,
                budgets=(*self.thresholds.budgets, *options.budget),
                chip=options.chip or self.thresholds.chip,
            ),
        )

    def counts(self, severity: Severity) -> bool:
        """Return whether findings of this severity make a check fail."""
        return severity.rank <= (self.severity or Severity.WARNING).rank


def _chip(value: object, errors: list[OptionError]) -> str | None:
    if value is None:
        return None
    if isinstance(value, str) and value in chips():
        return value
    message = f"must be one of {', '.join(chips())}"
    errors.append(OptionError(("chip",), message, value if isinstance(value, str) else None))
    return None


def _codes(key: str, value: object, errors: list[OptionError]) -> frozenset[str] | None:
    if value is None:
        return None
    if isinstance(value, str) or not isinstance(value, Sequence):
        errors.append(OptionError((key,), "must be a list of codes"))
        return None
    found: set[str] = set()
    for word in value:
        try:
            found |= codes_of(word) if isinstance(word, str) else set()
        except LookupError as error:
            errors.append(OptionError((key,), str(error.args[0]), word))
        if not isinstance(word, str):
            errors.append(OptionError((key,), f"a code must be a string, not {word!r}"))
    return frozenset(found)


def _thresholds(value: object, errors: list[OptionError]) -> dict[str, int | float]:
    if value is None or value == []:  # Lua has one empty table for lists and objects
        return {}
    if not isinstance(value, Mapping):
        errors.append(OptionError(("thresholds",), "must be a table of numbers"))
        return {}
    numbers: dict[str, int | float] = {}
    former: dict[str, int | float] = {}
    for name, number in value.items():
        key = _FORMER_THRESHOLDS.get(name, name)
        problem = "" if key is None else _threshold_problem(name, key, number)
        if problem:
            errors.append(OptionError(("thresholds", str(name)), problem))
        elif name not in _FORMER_THRESHOLDS:
            numbers[name] = number
        else:
            now = "has no effect any more" if key is None else f"is now `{key}`, for all advice"
            errors.append(OptionError(("thresholds", name), now, is_warning=True))
            if key is not None:
                size = 1 - 1 / max(1, number) if name == "padding_ratio" else number
                former[key] = min(size, former.get(key, size))
    return numbers | former  # an editor sends the defaults of the others, too


def _threshold_problem(name: str, key: str, number: object) -> str:
    defaults = asdict(Thresholds())
    if key not in defaults:
        return _unknown("threshold", name, list(defaults))
    if isinstance(number, bool) or not isinstance(number, int | float) or not number >= 0:
        return "must be a number of at least 0"
    if key == "size" and not isinstance(number, int):
        return "must be an integer"
    return "must be at most 1" if name in {"share", "fragmentation_ratio"} and number > 1 else ""


def _budgets(value: object, errors: list[OptionError]) -> tuple[Budget, ...]:
    if value is None or value == []:
        return ()
    if isinstance(value, str) or not isinstance(value, Sequence):
        errors.append(OptionError(("budget",), "must be a list of tables: [[budget]]"))
        return ()
    found = []
    for table in value:
        budget, problems = Budget.of(table)
        errors += [OptionError(("budget", key), message) for key, message in problems]
        found += [] if budget is None else [budget]
    return tuple(found)


def _unknown(what: str, word: str, known: Sequence[str]) -> str:
    near = get_close_matches(word, known, 1)
    return f"unknown {what} `{word}`" + (f"; did you mean `{near[0]}`?" if near else "")
