"""Emacs in batch mode, driven by Lisp scripts."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from editors.absent import absent

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "emacs.md"
_DRIVER = Path(__file__).parent / "emacs" / "driver.el"
_PROGRAMS = Path(sys.executable).parent  # of the environment: `hlo-lsp`
_SECONDS = 180


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
        lisp, result = self._home / "script.el", self._home / "result.json"
        given = [f"(defvar {name} {json.dumps(value, default=str)})"
                 for name, value in variables.items()]  # fmt: skip
        lisp.write_text("\n".join((*self._setup, *given, script)), "utf-8")
        result.unlink(missing_ok=True)
        ended = subprocess.run(
            [self._program, "-q", "--batch", "-l", str(_DRIVER)],
            env={
                **os.environ,
                "HOME": str(self._home),
                "PATH": os.pathsep.join((str(_PROGRAMS), os.environ["PATH"])),
                "HLO_TEST_SCRIPT": str(lisp),
                "HLO_TEST_RESULT": str(result),
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        if not result.is_file():
            pytest.fail(f"Emacs ended with {ended.returncode}:\n{ended.stdout}{ended.stderr}")
        outcome = json.loads(result.read_text("utf-8"))
        if "failure" in outcome:
            pytest.fail(f"{outcome['failure']}\n{ended.stdout}{ended.stderr}")
        return outcome["value"]
