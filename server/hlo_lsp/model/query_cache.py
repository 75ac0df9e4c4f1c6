"""Queries: functions whose results are cached until something that they read changes.

The method is that of Salsa, the library of rust-analyzer. A query records the inputs that it reads
and the queries that it calls. Its result is valid while no input has changed and while the called
queries, computed again if necessary, return equal results from the same files.

A memo is simpler: it keeps what its user gave it, and records nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextvars import ContextVar
from functools import update_wrapper
from typing import Any, Generic, ParamSpec, Protocol, TypeVar, cast, overload

P = ParamSpec("P")
T = TypeVar("T")


class Input:
    """A part of a file that changes with edits, such as its text or its live ranges.

    ``owners`` has the file; it is empty if reading the part does not count as reading the file.

    ``version`` increases with every change, ``structure_version`` only if more than sizes and
    offsets of values change. ``is_empty`` is true while the part has no records.
    """

    __slots__ = ("is_empty", "owners", "structure_version", "version")

    def __init__(self, owner: object = None) -> None:
        self.owners = frozenset(() if owner is None else (owner,))
        self.version = 0
        self.structure_version = 0
        self.is_empty = True

    def read(self) -> None:
        """Record that the current query reads this input."""
        reader = _reader.get()
        if reader is not None and self not in reader.reads:
            version = self.structure_version if reader.ignores_sizes else self.version
            reader.reads[self] = version
            if not self.is_empty:
                reader.add_owners(self.owners)

    def change(self, *, sizes_only: bool = False, is_empty: bool = False) -> None:
        """Increase the versions after a change."""
        _Revision.number += 1
        self.is_empty = is_empty
        self.version += 1
        if not sizes_only:
            self.structure_version += 1


class Subject(Protocol):
    """An object that queries are about, which keeps their results."""

    @property
    def query_results(self) -> dict[Query[..., Any], Result]:
        """The last result of each query."""


class MemoSubject(Protocol):
    """An object that keeps memos."""

    @property
    def memos(self) -> dict[Memo[Any], tuple[Hashable, Any]]:
        """The state and the value of each memo."""


class Memo(Generic[T]):
    """Notes of a function for its next call about a subject, kept as long as the subject exists.

    Unlike the result of a query, it may be out of date: its user compares the state that it is for.
    Answers are the same with an empty memo.
    """

    def get(self, subject: MemoSubject, state: Hashable) -> T | None:
        """Return what was kept for this state; None if the last one was another."""
        before, value = subject.memos.get(self, (None, None))
        return cast("T", value) if before == state else None

    def keep(self, subject: MemoSubject, state: Hashable, value: T) -> T:
        """Keep a value in place of the last one, and return it."""
        subject.memos[self] = state, value
        return value


class Result:
    """A result of a query, with the versions of the inputs and the results that it depends on.

    ``owners`` are the owners of the inputs with records, those of called queries included.
    """

    __slots__ = ("arguments", "ignores_sizes", "owners", "query", "reads", "revision", "value")

    def __init__(self, query: Query[..., Any], arguments: tuple[Any, ...]) -> None:
        self.query = query
        self.arguments = arguments
        self.ignores_sizes = query.ignores_sizes
        self.revision = _Revision.number  # the last one in which the result was valid
        # The version of each input, and None for a result, in the order of the first access.
        self.reads: dict[Input | Result, int | None] = {}
        self.owners: frozenset[object] = frozenset()
        self.value: Any = None

    def is_valid(self) -> bool:
        """Return True if nothing has changed that the result depends on."""
        return self._is_unchanged(lambda read: read.query.result(read.arguments))

    def is_current(self) -> bool:
        """Return True if it is valid, as far as that is known without computing a query."""
        return self._is_unchanged(_kept_if_current)

    def _is_unchanged(self, again: Callable[[Result], Result | None]) -> bool:
        revision = _Revision.number
        if self.revision != revision:
            for read, before in self.reads.items():
                if isinstance(read, Input):
                    if before != (read.structure_version if self.ignores_sizes else read.version):
                        return False
                else:
                    result = again(read)
                    if result is None or not read.is_equal(result):
                        return False
            self.revision = revision
        return True

    def add_owners(self, owners: frozenset[object]) -> None:
        """Add the owners of something that the query reads; equal sets are one object."""
        if not owners <= self.owners:
            self.owners = self.owners | owners if self.owners else owners

    def is_equal(self, other: Result) -> bool:
        """Return True if a query that called this one has the same result with the other one."""
        if self is other:
            return True
        is_same = self.value is other.value or self.value == other.value
        return is_same and self.owners == other.owners


def _kept_if_current(read: Result) -> Result | None:
    kept = read.query.kept(read.arguments)
    return kept if kept is not None and kept.is_current() else None


class Query(Generic[P, T]):
    """A function with cached results; see ``query``."""

    def __init__(self, compute: Callable[P, T], *, ignores_sizes: bool) -> None:
        self.ignores_sizes = ignores_sizes
        self._compute: Callable[..., T] = compute
        update_wrapper(self, compute)

    def __call__(self, *arguments: P.args, **_: P.kwargs) -> T:
        """Return the cached result, or compute it."""
        result = self.result(arguments)
        reader = _reader.get()
        if reader is not None and result not in reader.reads:
            reader.reads[result] = None
            reader.add_owners(result.owners)
        return cast("T", result.value)

    def result(self, arguments: tuple[Any, ...]) -> Result:
        """Return the valid result for some arguments, computed if necessary."""
        results = arguments[0].query_results
        result: Result | None = results.get(self)
        if result is None or result.arguments != arguments or not result.is_valid():
            result = Result(self, arguments)
            token = _reader.set(result)
            try:
                result.value = self._compute(*arguments)
            finally:
                _reader.reset(token)
            results[self] = result
        return result

    def kept(self, arguments: tuple[Any, ...]) -> Result | None:
        """Return the last result if it is for these arguments; it may be outdated."""
        result: Result | None = arguments[0].query_results.get(self)
        return result if result is not None and result.arguments == arguments else None

    def current(self, *arguments: P.args, **_: P.kwargs) -> T | None:
        """Return the cached result if it is still valid, else None; nothing is computed.

        For answers that must not wait. Queries must not call it, because what it reads is not
        recorded.
        """
        result = self.kept(arguments)
        return cast("T", result.value) if result is not None and result.is_current() else None

    def last(self, subject: Subject) -> T | None:
        """Return the last result of a subject, which may be outdated."""
        result = subject.query_results.get(self)
        return None if result is None else cast("T", result.value)


@overload
def query(compute: Callable[P, T], /) -> Query[P, T]: ...
@overload
def query(*, ignores_sizes: bool) -> Callable[[Callable[P, T]], Query[P, T]]: ...
def query(compute: Callable[P, T] | None = None, /, *, ignores_sizes: bool = False) -> Any:
    """Cache the results of a function of the model.

    The first argument, the subject, keeps the result for the last arguments. Arguments are
    positional. The function must not change what it reads, and its result must not be an iterator.

    With ``ignores_sizes``, the result is kept if only sizes and offsets of values change. Such a
    change replaces the records of values, so the result must not contain any.
    """
    if compute is None:
        return lambda function: Query(function, ignores_sizes=ignores_sizes)
    return Query(compute, ignores_sizes=ignores_sizes)


def current_result() -> Result:
    """Return the result that is being computed.

    Raises:
        LookupError: No query is running.
    """
    result = _reader.get()
    if result is None:
        raise LookupError("no query is running")
    return result


class _Revision:
    """The number of changes of all inputs."""

    number = 0


# A job that is paused at a checkpoint has a context of its own, and so a reader of its own.
_reader: ContextVar[Result | None] = ContextVar("reader", default=None)
