"""Long work in short steps, so that a server can answer in between."""

from collections.abc import Generator
from typing import TypeVar

T = TypeVar("T")

# Work that yields whenever a few milliseconds are spent, and returns its result at the end.
Steps = Generator[None, None, T]


def finish(steps: Steps[T]) -> T:
    """Take all steps at once and return the result."""
    while True:
        try:
            next(steps)
        except StopIteration as done:
            result: T = done.value
            return result
