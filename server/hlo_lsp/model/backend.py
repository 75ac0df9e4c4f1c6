"""Backends and their memory spaces."""

import re
from enum import Enum

_GPU_FILES = (".thunk_sequence", ".gpu_target_config.pbtxt")
_GPU_STEM = re.compile(r"(?:sm_[\d.]+[af]?_|gfx[0-9a-f]+_)?gpu_after_optimizations")


class Backend(Enum):
    """The compilers that print these dumps."""

    TPU = "TPU"
    CPU = "CPU"
    GPU = "GPU"
    UNKNOWN = "unknown"


# Names of memory spaces in XLA's reports for all backends (buffer_assignment.cc).
_REPORT_NAMES = {0: "default", 1: "vmem", 2: "smem", 3: "hbm", 4: "host", 5: "cmem"}

# Names by JAX's MemorySpace enums for TPU, gpu_memory_space_assignment.h and layout.h for GPU.
_SPACE_NAMES = {
    Backend.TPU: {
        0: "HBM",
        1: "VMEM",
        2: "semaphores",
        3: "CMEM",
        4: "SMEM",
        5: "host memory",
        6: "scalar memory",
        7: "SparseCore tuple tables",
        8: "SparseCore scalar semaphores",
    },
    Backend.CPU: {0: "main memory", 5: "host memory"},
    Backend.GPU: {
        0: "device memory",
        1: "collective memory",
        2: "separate temp buffer",
        3: "unified memory",
        5: "pinned host memory",
    },
}

HOST_MEMORY_SPACE = 5  # XLA's Layout::kHostMemorySpace (layout.h)
_TPU_OFF_CHIP_SPACES = {0, HOST_MEMORY_SPACE}


def report_space_name(number: int) -> str:
    """Return the name of a memory space in XLA's reports, which is wrong for most backends."""
    return _REPORT_NAMES.get(number, f"color_{number}")


def space_name(number: int, backend: Backend) -> str | None:
    """Return the name of a memory space on this backend, or None if it is unknown."""
    return _SPACE_NAMES.get(backend, {}).get(number)


def space_names() -> list[str]:
    """Return the names of memory spaces on all backends."""
    return list(dict.fromkeys(name for names in _SPACE_NAMES.values() for name in names.values()))


def space_title(number: int, backend: Backend) -> str:
    """Return the name of a memory space, or its number if the name is unknown."""
    return space_name(number, backend) or f"memory space {number}"


def is_on_chip(number: int, backend: Backend) -> bool:
    """Return True if a memory space is on-chip memory that XLA manages, such as VMEM."""
    return backend is Backend.TPU and number not in _TPU_OFF_CHIP_SPACES


def backend_from_file_name(file_name: str) -> Backend:
    """Return the backend that a file name implies, else UNKNOWN."""
    if _GPU_STEM.search(file_name) or any(one in file_name for one in _GPU_FILES):
        return Backend.GPU
    if "cpu_after_optimizations" in file_name:
        return Backend.CPU
    if re.search(r"\.cl_\d+\.", file_name):  # only libtpu puts its change number into names
        return Backend.TPU
    return Backend.UNKNOWN
