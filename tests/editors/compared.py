"""A real compile and the same program with one change, for tests of comparisons in editors."""

import re
from pathlib import Path

from editors.conftest import Compile


def changed_copy(compile_: Compile, folder: Path) -> Compile:
    """Copy a compile with other numbers in names, and with another opcode of one instruction."""
    folder.mkdir()
    for path in compile_.folder.iterdir():
        if path.is_file():
            text = path.read_text("utf-8")
            text = re.sub(r"\b(fusion|copy|bitcast|custom-call)\.(\d+)\b", r"\1.9\2", text)
            (folder / path.name).write_text(text, "utf-8")
    module = folder / compile_.path("").name
    text = module.read_text("utf-8")
    module.write_text(text.replace(" multiply(", " divide(", 1), "utf-8")
    return Compile(folder)
