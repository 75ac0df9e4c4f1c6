#!/usr/bin/env python3
"""Run commands of one version, each in a process of its own, without importing it each time.

Standard input has one list of arguments in JSON on each line; standard output gets a list with the
exit status, the output, and the errors for each. The version is the first one in ``PYTHONPATH``.
"""

import json
import os
import pkgutil
import runpy
import sys
import traceback
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryFile

import hlo_lsp


def main() -> None:
    """Answer until standard input ends."""
    _import_all()
    for line in sys.stdin:
        print(json.dumps(_run(json.loads(line))), flush=True)


def _import_all() -> None:
    """Import the modules of the version; the processes of the commands inherit them."""
    folder = str(Path(hlo_lsp.__file__).parent)
    for module in pkgutil.walk_packages([folder], "hlo_lsp."):
        if not module.name.endswith("__main__"):
            import_module(module.name)


def _run(arguments: list[str]) -> tuple[int, str, str]:
    """Run a command, and return its exit status, its output, and its errors."""
    with TemporaryFile() as output, TemporaryFile() as errors:
        child = os.fork()
        if not child:
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(output.fileno(), 1)
            os.dup2(errors.fileno(), 2)
            os._exit(_command(arguments))
        _, status = os.waitpid(child, 0)
        output.seek(0)
        errors.seek(0)
        texts = [file.read().decode("utf-8", "replace") for file in (output, errors)]
        return os.waitstatus_to_exitcode(status), texts[0], texts[1]


def _command(arguments: list[str]) -> int:
    """Run the command line in this process, and return its exit status."""
    sys.argv = ["hlo-lsp", *arguments]
    try:
        runpy.run_module("hlo_lsp", run_name="__main__")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    except Exception:  # noqa: BLE001  (part of the answer)
        traceback.print_exc()
        return 70  # EX_SOFTWARE
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


if __name__ == "__main__":
    main()
