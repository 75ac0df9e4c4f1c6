"""Emacs in batch mode, driven by Lisp scripts."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

from editors.absent import absent
from editors.script import PATH, value_of

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "emacs.md"
_DRIVER = Path(__file__).parent / "emacs" / "driver.el"


def documented_lisp(heading: str = "") -> list[str]:
    """Return the Lisp of the documentation below a heading, or before the first one."""
    text = DOCUMENT.read_text("utf-8")
    (section,) = [
        part
        for part in re.split(r"^## ", text, flags=re.MULTILINE)
        if part.startswith(heading or "# ")
    ]
    return re.findall(r"```elisp\n(.*?)```", section, re.DOTALL)


def find_emacs(package: str) -> str:
    """Return an Emacs that has a package, such as `eglot`."""
    found = shutil.which("emacs")
    if found is None:
        absent("Emacs", f"apt-get install emacs-nox elpa-{package} elpa-markdown-mode")
    has = [found, "-q", "--batch", "--eval", f"(require '{package})"]
    if subprocess.run(has, capture_output=True, check=False).returncode != 0:
        absent(f"{package} for Emacs", f"apt-get install elpa-{package} elpa-markdown-mode")
    return found


class Emacs:
    """An Emacs with the documented set-up, restarted for each script."""

    def __init__(self, package: str, home: Path) -> None:
        self._program = find_emacs(package)
        self._home = home
        self._setup = [*documented_lisp(), documented_lisp(package)[0], f"(require '{package})"]

    def run(self, script: str, **variables: object) -> Any:
        """Return the value of the last expression of a script, which can use `variables`."""
        lisp = self._home / "script.el"
        given = [f"(defvar {name} {json.dumps(value, default=str)})"
                 for name, value in variables.items()]  # fmt: skip
        lisp.write_text("\n".join((*self._setup, *given, script)), "utf-8")
        command = [self._program, "-q", "--batch", "-l", str(_DRIVER)]
        return value_of(lisp, command, {**os.environ, "HOME": str(self._home), "PATH": PATH})
