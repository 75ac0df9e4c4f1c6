#!/usr/bin/env python3
"""Fill `bundled/` with what goes into the extension and is not written there.

`libs/` holds the server from this checkout and its dependencies, as requirements.txt pins them:
pure Python, importable by every interpreter that the server supports. `dump/` holds a real dump
for the walkthrough, with the program that it is of. The license is that of the repository.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

CLIENT = Path(__file__).resolve().parent.parent
ROOT = CLIENT.parent
LIBS = CLIENT / "bundled" / "libs"
DUMP = CLIENT / "bundled" / "dump"
SAMPLE = CLIENT / "sample"
OMITTED = {"pygments", "markdown-it-py", "mdurl"}  # requirements.txt says why
# Accept only wheels for every system and every supported Python, whichever Python runs this.
PURE = (
    *("--only-binary", ":all:", "--platform", "any", "--implementation", "py", "--abi", "none"),
    *("--python-version", "3.10"),
)


def main() -> None:
    """Replace the generated part of `bundled/`."""
    for folder in (LIBS, DUMP):
        shutil.rmtree(folder, ignore_errors=True)
    install_libs()
    check_libs()
    unpack_dump()
    shutil.copyfile(ROOT / "LICENSE", CLIENT / "LICENSE")


def install_libs() -> None:
    """Install the server and its dependencies into `libs/`."""
    target = ("install", "--target", str(LIBS), "--no-deps", "--no-compile", "--upgrade")
    pinned = ("--require-hashes", *PURE)
    _pip(*target, *pinned, "-r", str(CLIENT / "scripts" / "requirements.txt"))
    with tempfile.TemporaryDirectory() as wheels:
        _pip("wheel", "--no-deps", "--wheel-dir", wheels, str(ROOT))
        # By name, because pip records the folder of a wheel that is installed by its path.
        _pip(*target, *PURE, "--no-index", "--find-links", wheels, "hlo-lsp")
    shutil.rmtree(LIBS / "bin", ignore_errors=True)  # scripts for the Python that runs this


def check_libs() -> None:
    """Exit with a message if a file is compiled or a dependency is missing."""
    compiled = [path.name for path in LIBS.rglob("*") if path.suffix in {".so", ".pyd", ".dylib"}]
    if compiled:
        raise SystemExit(f"not pure Python: {', '.join(compiled)}")
    infos = sorted(LIBS.glob("*.dist-info"))
    present = {_canonical(info.name.partition("-")[0]) for info in infos}
    for info in infos:
        missing = set(_dependencies(info)) - present - OMITTED
        if missing:
            raise SystemExit(f"{info.stem} requires {sorted(missing)}: add to requirements.txt")


def unpack_dump() -> None:
    """Unpack the sample dump into `dump/`, beside its program."""
    DUMP.mkdir(parents=True)
    shutil.copy(SAMPLE / "train.py", DUMP)
    with tarfile.open(SAMPLE / "dump.tar.xz") as archive:
        for member in archive:
            content = archive.extractfile(member)
            if content is not None:
                (DUMP / Path(member.name).name).write_bytes(content.read())


def _dependencies(info: Path) -> Iterator[str]:
    """Yield the names of the dependencies of a package on any Python, without its extras."""
    metadata = (info / "METADATA").read_text("utf-8").partition("\n\n")[0]
    for line in metadata.splitlines():
        match = re.match(r"Requires-Dist: ([\w.-]+)(?!.*\bextra\b)", line)
        if match is not None:
            yield _canonical(match[1])


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _pip(*arguments: str) -> None:
    options = ("--quiet", "--no-input", "--disable-pip-version-check")
    subprocess.run([sys.executable, "-m", "pip", *arguments, *options], check=True)


if __name__ == "__main__":
    main()
