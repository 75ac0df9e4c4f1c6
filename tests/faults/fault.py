"""Kinds of damage, each with a function that injects it at a random place of a compile."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from faults.dump import Damage, Dump

Injection = Callable[[Random, Dump], Damage | None]
"""Function that damages a compile, or returns None if it finds no place for an illegal change."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A kind of damage with the rule code that is expected to report it."""

    code: str
    name: str
    inject: Injection


def faults(code: str, **injections: Injection) -> tuple[Fault, ...]:
    """Return the kinds of damage of one code, with names that have blanks in place of ``_``."""
    return tuple(Fault(code, name.replace("_", " "), inject) for name, inject in injections.items())
