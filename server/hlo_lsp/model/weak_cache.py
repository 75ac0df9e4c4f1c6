"""Facts about objects that are made anew whenever something about them changes."""

from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

K = TypeVar("K")
T = TypeVar("T")


class WeakCache(Generic[K, T]):
    """One fact for each object, which goes with it; it holds as long as a state is the same."""

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[K, tuple[object, T]] = WeakKeyDictionary()

    def get(self, about: K, state: object = None) -> T | None:
        """What is known of an object in this state, or None."""
        known = self._known.get(about)
        return known[1] if known is not None and known[0] == state else None

    def put(self, about: K, fact: T, state: object = None) -> None:
        """Keep a fact, in place of the one before."""
        self._known[about] = state, fact
