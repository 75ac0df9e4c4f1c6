"""Budgets as ``hlo-lsp.toml`` states them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase

_UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
_SIZE = re.compile(r"\s*(\d{1,15}(?:\.\d{1,9})?)\s*(B|KiB|MiB|GiB|TiB)\s*$")


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits for the modules of a name; None and empty where there is none.

    Attributes:
        module: Pattern of module names, such as ``jit_step*``.
        peak: Limits of the occupied bytes at the peak, by memory space.
        total: Limits of the allocated bytes, by memory space.
        padding: Largest share of the allocated bytes that array padding may take, 0 to 1.
        constant: Size of the largest constant in bytes.
        forbidden: Opcodes that the module must not contain.
        donated: Beginnings of the names of arguments that must be donated.
    """

    module: str = "*"
    peak: tuple[tuple[str, int], ...] = ()
    total: tuple[tuple[str, int], ...] = ()
    padding: float | None = None
    constant: int | None = None
    forbidden: tuple[str, ...] = ()
    donated: tuple[str, ...] = ()

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
                near = get_close_matches(str(key), _READERS, 1)
                hint = f"; did you mean `{near[0]}`?" if near else ""
                errors.append((str(key), f"unknown key `{key}`{hint}"))
                continue
            try:
                found[key] = read(value)
            except ValueError as error:
                errors.append((key, str(error)))
        return cls(**found), errors  # type: ignore[arg-type]  # each reader returns its type


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("must be a text")
    return value


def _texts(value: object) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise ValueError("must be a list of texts")
    return tuple(map(_text, value))


def _size(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    match = _SIZE.match(value) if isinstance(value, str) else None
    if match is None:
        raise ValueError('must be a number of bytes, or a size such as "12 GiB"')
    return int(float(match[1]) * _UNITS[match[2]])


def _sizes(value: object) -> tuple[tuple[str, int], ...]:
    if not isinstance(value, Mapping):
        raise ValueError('must be a table of memory spaces, such as { HBM = "12 GiB" }')
    return tuple((str(space), _size(size)) for space, size in value.items())


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
    "forbidden": _texts,
    "donated": _texts,
}
