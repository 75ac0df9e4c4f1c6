"""Standard input as a file, so that it can be read as dumps and logs are."""

import atexit
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from hlo_lsp.text.remote import show_as


@cache
def copy_of_standard_input() -> Path:
    """Return the path of a copy of standard input, which exists until the process ends."""
    content = b"" if sys.stdin is None else sys.stdin.buffer.read()
    folder = TemporaryDirectory(prefix="hlo-lsp-")
    atexit.register(folder.cleanup)
    path = Path(folder.name, "standard-input.txt")
    path.write_bytes(content)
    show_as(path, "standard input")
    return path
