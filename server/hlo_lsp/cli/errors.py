"""The exit statuses of commands, and the error that ends a command."""

from collections.abc import Iterable

NOT_FOUND_STATUS = 1
USAGE_ERROR_STATUS = 2


class CommandError(Exception):
    """A command failed; the message is for the user, as are the rows below it."""

    def __init__(
        self, message: str, status: int = USAGE_ERROR_STATUS, rows: Iterable[str] = ()
    ) -> None:
        super().__init__(message)
        self.status = status
        self.rows = tuple(rows)


def describe_error(error: BaseException) -> str:
    """Return the type and the text of an error of other code, in one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
