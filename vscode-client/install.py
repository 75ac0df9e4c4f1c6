#!/usr/bin/env python3
"""Package the extension, install it into VS Code, and open a real dump.

Requires only Python 3.10 or newer and VS Code. The first run makes an environment in this
checkout with Node.js, which packages the extension.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

CLIENT = Path(__file__).resolve().parent
ROOT = CLIENT.parent
sys.path[:0] = [str(ROOT / "server"), str(ROOT / "tests")]

from editors import client  # noqa: E402  (they import what is found by the line above)
from editors.node import Node  # noqa: E402
from environment import SetupError, provide  # noqa: E402
from sample import unpacked  # noqa: E402

FOLDER = ROOT / ".venv-hlo-lsp"
# The command lines of VS Code and of what is made of it, as they are on a PATH.
EDITORS = ("code", "codium", "code-insiders", "cursor", "windsurf", "positron", "code-server")
NO_EDITOR = """\
VS Code was not found on PATH (tried {names}). Name its command line with `--code PATH`,
or run "Extensions: Install from VSIX..." in VS Code and select
{vsix}"""


def main(arguments: Sequence[str]) -> int:
    """Run the command and return its exit status."""
    options = _options(arguments)
    try:
        vsix = packaged()
        dump = (options.file or unpacked(FOLDER)).resolve()
    except SetupError as problem:
        print(problem, file=sys.stderr)
        return 1
    editor = options.code or next(filter(None, map(shutil.which, EDITORS)), None)
    if editor is None:
        print(NO_EDITOR.format(names=", ".join(EDITORS), vsix=vsix))
        return 1
    print(f"VS Code: {editor}\nExtension: {vsix}\nDump: {dump}", flush=True)
    if subprocess.call([editor, "--install-extension", str(vsix), "--force"]) != 0:
        return 1
    return 0 if options.install_only else subprocess.call([editor, str(dump.parent), str(dump)])


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--code", metavar="PATH", help="command line of VS Code")
    parser.add_argument(
        "--file", type=Path, metavar="PATH", help="dump to open instead of the sample"
    )
    parser.add_argument("--install-only", action="store_true", help="do not open a dump")
    options = parser.parse_args(arguments)
    if options.file and not options.file.is_file():
        parser.error(f"file not found: {options.file}")
    return options


def packaged() -> Path:
    """Package the extension from this checkout.

    Returns:
        The path of the VSIX file.

    Raises:
        SetupError: if the environment or the package cannot be made.
    """
    node = Node(provide(FOLDER, ["node"]))
    client.install(node)
    node.npm(CLIENT, client.LOG, "run", "package")
    return client.VSIX


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
