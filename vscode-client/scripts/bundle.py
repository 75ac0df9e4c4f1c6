#!/usr/bin/env python3
"""Puts into `bundled/` what goes into the extension beside its own code, and is not written here.

`wheels/`: the server's own wheel, made from this checkout, and those of all that it needs, as
wheels.txt names them. `dump/`: a real dump, for the walkthrough. The licence is the repository's.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

CLIENT = Path(__file__).resolve().parent.parent
ROOT = CLIENT.parent
BUNDLED = CLIENT / "bundled"
CORPUS = ROOT / "tests" / "corpus" / "small.tar.xz"
DUMP = re.compile(
    r"(?:\./)?tpu_v5e/module_0000\.jit_mlp_train\.cl_\d+\."
    r"(?:before_optimizations|after_codegen|after_optimizations[\w-]*)\.txt"
)
LEFT_OUT = {"pygments"}  # wheels.txt says why
# For every system and every Python that the server runs on, whatever this one is.
ANYWHERE = ("--platform", "any", "--implementation", "py", "--abi", "none")
OLDEST = ("--python-version", "3.10")


def main() -> None:
    """Make everything anew."""
    shutil.rmtree(BUNDLED, ignore_errors=True)
    wheels = BUNDLED / "wheels"
    wheels.mkdir(parents=True)
    _pip("wheel", "--no-deps", "--wheel-dir", str(wheels), str(ROOT))
    exactly = ("--no-deps", "--require-hashes", "--only-binary", ":all:")
    named = ("--dest", str(wheels), "-r", str(CLIENT / "scripts" / "wheels.txt"))
    _pip("download", *exactly, *ANYWHERE, *OLDEST, *named)
    check(sorted(wheels.glob("*.whl")))
    unpack(BUNDLED / "dump")
    shutil.copyfile(ROOT / "LICENSE", CLIENT / "LICENSE")


def check(wheels: list[Path]) -> None:
    """Refuse wheels that cannot be simply unpacked, and sets of wheels in which one is missing."""
    present = {_canonical(wheel.name.partition("-")[0]) for wheel in wheels}
    for wheel in wheels:
        if not wheel.name.endswith("-none-any.whl"):
            raise SystemExit(f"{wheel.name} is not for every system")
        with zipfile.ZipFile(wheel) as archive:
            if any(".data/" in name for name in archive.namelist()):
                raise SystemExit(f"{wheel.name} wants more than to be unpacked")
            missing = set(_needed(archive)) - present - LEFT_OUT
        if missing:
            raise SystemExit(f"{wheel.name} needs {sorted(missing)}: name them in wheels.txt")


def unpack(folder: Path) -> None:
    """Unpack the texts of one compile from the corpus."""
    folder.mkdir()
    with tarfile.open(CORPUS) as corpus:
        for member in corpus:
            content = corpus.extractfile(member) if DUMP.fullmatch(member.name) else None
            if content is not None:
                (folder / Path(member.name).name).write_bytes(content.read())


def _needed(wheel: zipfile.ZipFile) -> Iterator[str]:
    """What a wheel needs on any Python and any system, without its extras."""
    (path,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    for line in wheel.read(path).decode().partition("\n\n")[0].splitlines():
        found = re.match(r"Requires-Dist: ([\w.-]+)(?!.*\bextra\b)", line)
        if found is not None:
            yield _canonical(found[1])


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _pip(*arguments: str) -> None:
    quietly = ("--quiet", "--no-input", "--disable-pip-version-check")
    subprocess.run([sys.executable, "-m", "pip", *arguments, *quietly], check=True)


if __name__ == "__main__":
    main()
