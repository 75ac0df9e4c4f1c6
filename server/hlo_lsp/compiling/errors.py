"""The error of a compile."""


class CompileFailedError(Exception):
    """A text cannot be compiled; the message is for the user.

    Attributes:
        line: The line of the module text that the compiler names, from 0 on; None without one.
        column: The column, from 0 on.
        name: The instruction or the operation that the compiler names, empty without one.
        details: All that the compiler says.
    """

    def __init__(
        self,
        message: str,
        line: int | None = None,
        column: int = 0,
        details: str = "",
        name: str = "",
    ) -> None:
        super().__init__(message)
        self.line = line
        self.column = column
        self.details = details
        self.name = name
