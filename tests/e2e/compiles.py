"""Copies of real compiles of one program, each in its own folder."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from dumps import files_of

# The file stems of a while loop, compiled for three backends.
STEMS = {
    "tpu": "tpu_v5e/module_0012.jit_while_fn.cl_1003875606.after_optimizations",
    "cpu": "cpu/module_0002.jit_while_fn.cpu_after_optimizations",
    "gpu": "gpu_h100/module_0664.jit_while_fn.sm_9.0a_gpu_after_optimizations",
}
ONE_FILE = "samples/sample_001.txt"


@dataclass(frozen=True)
class Compile:
    """The files of one compile, or the single file of an old release of XLA."""

    folder: Path
    stem: str

    @property
    def assignment(self) -> Path:
        if self.stem == ONE_FILE:
            return self.folder / Path(ONE_FILE).name
        return self._file("-buffer-assignment")

    @property
    def values(self) -> Path:
        return self._file("-buffer-assignment-values")

    @property
    def live_range(self) -> Path:
        return self._file("-live-range")

    @property
    def report(self) -> Path:
        return self._file("-memory-usage-report")

    @property
    def module(self) -> Path:
        return self._file("")

    @property
    def thunks(self) -> Path:
        return self.folder / f"{Path(self.stem).name.partition('.sm_')[0]}.thunk_sequence.txt"

    @property
    def files(self) -> list[Path]:
        return sorted(self.folder.iterdir())

    def _file(self, end: str) -> Path:
        return self.folder / f"{Path(self.stem).name}{end}.txt"


def copy_dump(corpus: Path, name: str, folder: Path) -> Compile:
    """Copy a compile into its own folder."""
    folder.mkdir(parents=True, exist_ok=True)
    stem = STEMS.get(name, ONE_FILE)
    source = corpus / stem
    prefix = ".".join(source.name.split(".")[:2])
    for path in files_of(source.parent):
        if path.name.startswith(prefix):
            shutil.copyfile(path, folder / path.name)
    return Compile(folder, stem)
