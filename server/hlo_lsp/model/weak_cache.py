"""A cache of results about immutable objects."""

from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

K = TypeVar("K")
T = TypeVar("T")


class WeakCache(Generic[K, T]):
    """One result for each object, valid for one state and dropped together with the object."""

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[K, tuple[object, T]] = WeakKeyDictionary()

    def get(self, key: K, state: object = None) -> T | None:
        """Return the result for an object in this state, or None."""
        known = self._known.get(key)
        return known[1] if known is not None and known[0] == state else None

    def put(self, key: K, result: T, state: object = None) -> None:
        """Store the result for an object, replacing the previous one."""
        self._known[key] = state, result
