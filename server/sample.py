"""The real dump that the two commands of the README open. Needs only Python's standard library."""

from __future__ import annotations

import shutil
import tarfile
from pathlib import Path

from environment import ROOT, SetupError

ARCHIVE = ROOT / "tests" / "corpus" / "small.tar.xz"
# A training step of a small network, compiled for a TPU v5e.
COMPILE = "module_0000.jit_mlp_train.cl_1003875606"
MEMBERS = f"/tpu_v5e/{COMPILE}."
OPENED = f"{COMPILE}.after_optimizations-buffer-assignment.txt"


def unpacked(folder: Path) -> Path:
    """Return the buffer assignment, and unpack its compile below `folder` if needed.

    Raises:
        SetupError: If the archive cannot be unpacked.
    """
    dump = folder / "dump"
    opened = dump / OPENED
    if not opened.is_file():
        print(f"Unpacking a dump into {dump} ...", flush=True)
        _unpack(dump)
    return opened


def _unpack(folder: Path) -> None:
    part = folder.with_name("dump.part")  # a half unpacked folder must not look whole
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    try:
        with tarfile.open(ARCHIVE) as archive:
            for member in archive:
                content = archive.extractfile(member) if MEMBERS in f"/{member.name}" else None
                if content:
                    (part / Path(member.name).name).write_bytes(content.read())
    except (OSError, tarfile.TarError) as problem:
        raise SetupError(f"{ARCHIVE} cannot be unpacked: {problem}") from problem
    if not (part / OPENED).is_file():
        raise SetupError(f"{ARCHIVE} holds no {OPENED}")
    shutil.rmtree(folder, ignore_errors=True)
    part.rename(folder)
