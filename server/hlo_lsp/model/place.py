"""A place in a file, without any protocol."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hlo_lsp.model.dump_file import DumpFile


@dataclass(frozen=True, slots=True)
class Place:
    """A part of one line: line and columns from 0, in code points, the end exclusive."""

    file: "DumpFile"
    line: int
    start: int
    end: int

    @property
    def number(self) -> int:
        """The line as people count them: from 1, in the whole text."""
        return self.file.first_line + self.line + 1
