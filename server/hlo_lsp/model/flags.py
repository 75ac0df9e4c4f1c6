"""The flags of a compile, from the files that XLA writes beside the dumps."""

from pathlib import Path

from hlo_lsp.model.compile import Compile
from hlo_lsp.model.file_names import group_key
from hlo_lsp.text.disk import UnreadableError, read_document

# `flagfile` of libtpu has all flags; `debug_options` has those that are not the default. The
# options of libtpu also follow from those of the compile: `compiler_options` in JAX.
LIBTPU_OPTIONS = ".tpu_comp_env.txt"
FLAG_FILES = (".flagfile", ".debug_options", LIBTPU_OPTIONS)
_CUDA_FOLDER = "xla_gpu_cuda_data_dir"
_MAX_BYTES = 1_000_000


def flags_of(dump: Compile) -> dict[str, dict[str, str]]:
    """Return the flags of a compile by the kind of file that lists them, such as ``.flagfile``.

    Several values of a flag are joined by commas. Those of the machine are left out.
    """
    path = next((file.path for file in dump.files if file.path is not None), None)
    found = {}
    for suffix in () if path is None else FLAG_FILES:
        assert path is not None
        file = path.with_name(group_key(path.name) + suffix)
        if file.is_file() and file.stat().st_size <= _MAX_BYTES:
            found[suffix] = _read_flags(file)
    return found


def is_of_machine(flag: str) -> bool:
    """Return whether a flag names a folder of the dump, or that of CUDA, which JAX sets."""
    return "dump" in flag or flag == _CUDA_FOLDER


def _read_flags(file: Path) -> dict[str, str]:
    try:
        lines = [line.strip() for line in read_document(file).lines]
    except UnreadableError:
        return {}
    found: dict[str, list[str]] = {}
    group = ""
    for line in lines:
        if line == "}" or line.endswith(" {"):
            group = "" if line == "}" else f"{line.removesuffix(' {')}."
            continue
        separator = "=" if line.startswith("--") else ": "
        name, _, value = line.removeprefix("--").partition(separator)
        if name and not is_of_machine(name) and not line.startswith("#"):
            found.setdefault(group + name, []).append(value)
    return {name: ", ".join(values) for name, values in found.items()}
