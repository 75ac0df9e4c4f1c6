"""The error of a compile."""

from collections.abc import Iterable
from difflib import get_close_matches


class CompileFailedError(Exception):
    """A text cannot be compiled; the message is for the user.

    Attributes:
        line: The line of the module text that the compiler names, from 0 on; None without one.
        column: The column, from 0 on.
        name: The instruction or the operation that the compiler names, empty without one.
    """

    def __init__(
        self, message: str, line: int | None = None, column: int = 0, name: str = ""
    ) -> None:
        super().__init__(message)
        self.line, self.column, self.name = line, column, name


def similar(name: str, names: Iterable[str]) -> str:
    """Return a hint with similar names, empty if there are none."""
    near = get_close_matches(name, list(names), 3)
    return f"; did you mean {' or '.join(near)}?" if near else ""
