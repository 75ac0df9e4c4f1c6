"""Python interpreters of users, without the packages of the tests."""

import subprocess
import sys
from pathlib import Path


def plain_python(folder: Path) -> Path:
    """Make an interpreter without any package; return its path."""
    base = sys._base_executable  # type: ignore[attr-defined]
    subprocess.run([base, "-m", "venv", "--without-pip", folder], check=True)
    return folder / "bin" / "python3"


def old_python(folder: Path) -> Path:
    """Make an interpreter that reports version 3.9 and does nothing else; return its path."""
    program = folder / "bin" / "python3"
    program.parent.mkdir(parents=True)
    program.write_text(f"""#!/bin/sh\necho '["{program}", [3, 9], true]'\n""", "utf-8")
    program.chmod(0o755)
    return program
