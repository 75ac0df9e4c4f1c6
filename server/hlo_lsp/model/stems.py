"""Which files belong to one compile, by their names."""

import re
from pathlib import Path

_SUFFIXES = (
    "-buffer-assignment.txt",
    "-buffer-assignment-values.txt",
    "-live-range.txt",
    "-memory-usage-report.txt",
    ".txt",
)
_THUNKS = re.compile(r"(.*\.)thunk_sequence(?:_after_thunk_passes)?\.txt")
_GPU_MODULE = re.compile(r"(?:sm_[\d.]+[af]?_|gfx[0-9a-f]+_)?gpu_after_optimizations\.txt")


def stem_of(path: Path) -> str:
    """What the names of the memory files and the module text of one compile begin with."""
    thunks = _THUNKS.fullmatch(path.name)
    if thunks is not None:
        for module in _listed(path.parent, thunks[1]):
            if _GPU_MODULE.fullmatch(module.removeprefix(thunks[1])):
                return module.removesuffix(".txt")
    for suffix in _SUFFIXES:
        if path.name.endswith(suffix):
            return path.name.removesuffix(suffix)
    return path.name


def family(path: Path) -> list[Path]:
    """The paths where the files of this file's compile would lie, itself first.

    For a thunk sequence its folder is looked through: its name does not say the architecture.
    """
    stem = stem_of(path)
    return list(dict.fromkeys([path, *(path.with_name(stem + suffix) for suffix in _SUFFIXES)]))


def thunk_names_path(path: Path) -> Path | None:
    """Where the instruction of every thunk is named (from jaxlib 0.10 on), for a thunk sequence."""
    thunks = _THUNKS.fullmatch(path.name)
    return None if thunks is None else path.with_name(f"{thunks[1]}thunk_metadata.txt")


def _listed(folder: Path, prefix: str) -> list[str]:
    try:
        return sorted(path.name for path in folder.iterdir() if path.name.startswith(prefix))
    except OSError:
        return []
