"""A kind of damage, and how it is done: a injection at a random place of a compile."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from faults.dump import Damage, Dump

Injection = Callable[[Random, Dump], Damage | None]
"""Damages a compile somewhere; None where it found no place, or would have left a legal dump."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A kind of damage with the code that is to be reported of it."""

    code: str
    name: str
    inject: Injection


def faults(code: str, **strikes: Injection) -> tuple[Fault, ...]:
    """Return the kinds of one code, whose names have ``_`` for blanks."""
    return tuple(Fault(code, name.replace("_", " "), inject) for name, inject in strikes.items())
