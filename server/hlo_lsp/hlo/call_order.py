"""The order of computations in which the callees come first, without recursion.

The calls of a text may nest deeper than Python's stack.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T", bound=Hashable)


def callees_first(
    root: T, callees: Callable[[T], Iterable[T]], is_known: Callable[[T], bool]
) -> Iterator[T]:
    """Yield what a root calls, directly or not, and then the root, each after its callees.

    A call of an open caller, as in damaged texts, is ignored. What ``is_known`` is left out with
    all that only it calls.
    """
    seen = {root}
    stack = [(root, iter(callees(root)))]
    while stack:
        caller, rest = stack[-1]
        callee = next((one for one in rest if one not in seen and not is_known(one)), None)
        if callee is None:
            stack.pop()
            yield caller
        else:
            seen.add(callee)
            stack.append((callee, iter(callees(callee))))
