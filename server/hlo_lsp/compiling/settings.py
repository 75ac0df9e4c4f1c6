"""The settings of a compile, as its dump states them, in the form that the compiler takes."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path

from hlo_lsp.cost.chips import Chip, chips, slice_bounds, tpu_target
from hlo_lsp.model.backend import Backend
from hlo_lsp.model.compile_files import CompileFiles
from hlo_lsp.model.file_names import DumpName
from hlo_lsp.model.flags import is_of_machine
from hlo_lsp.text.disk import UnreadableError, read_document

Json = dict[str, object]
_HOST_DEVICES = "xla_force_host_platform_device_count"
_GPU_CONFIG = "gpu_target_config.pbtxt"
_CUDA_CONFIG = "cuda_compute_capability"
_ROCM_CONFIG = "rocm_compute_capability"
_PROPAGATION = re.compile(r"\ballow_spmd_sharding_propagation_to_(\w+)=\{([^}]*)\}")
_COUNT = re.compile(r"\b(num_partitions|replica_count)=(\d{1,6})\b")
_ARGUMENT_MODES = re.compile(r'\b((?:arg|out)_(?:layout_modes|memory_spaces))="([^"]*)"')
_NUMBER = re.compile(r"[0-9]{1,6}")
_DEVICE = re.compile(r"\breplica_device_ids: (\d{1,6})\b")
_EFFORT = re.compile(r"^ *(optimization_level|memory_fitting_level): EFFORT_(\w+)$", re.MULTILINE)
_MODULE_CONFIGS = ("hlo_module_config.txt", "config.pbtxt")  # of libtpu, and of others
_PROGRAM = "module.mlir"
_OF_FILES = re.compile(r"xla_gpu_\w*_(?:dir|file|filename|flags|from|path)")
_OPTION = re.compile(r"^(\w+): (.*)$", re.MULTILINE)
# Chips with a torus of two dimensions; the slices of others have three.
_FLAT_CHIPS = frozenset({"v2", "v3", "v5e", "v6e"})
_FLAT_SLICES = ("2x2", "2x4", "4x4", "4x8", "8x8", "8x16", "16x16")
_DEEP_SLICES = ("2x2x1", "2x2x2", "2x2x4", "2x4x4", "4x4x4", "4x4x8", "4x8x8", "8x8x8", "8x8x16")


@dataclass(frozen=True, slots=True)
class CompileSettings:
    """The settings of a compile.

    Attributes:
        platform: The platform in JAX: ``cpu``, ``tpu``, ``cuda``, or ``rocm``.
        topology: The slice of a TPU, such as ``v5e:2x2``, or slices, hosts, and GPUs, such as
            ``1x1x4``; None if the dump does not name its chip.
        replicas: The number of replicas of the program.
        partitions: The number of devices that a replica is divided over.
        is_shardy: Whether Shardy partitions, not GSPMD.
        rest: Other settings, in the form of a request to the compiler.
        options: The options that the dump lists as changed.
        left_out: Names of options with paths or flags of programs, which are not used.
    """

    platform: str
    topology: str | None
    replicas: int
    partitions: int
    is_shardy: bool
    rest: Mapping[str, object]
    options: Mapping[str, str]
    left_out: tuple[str, ...] = ()

    @property
    def devices(self) -> int:
        """The number of devices that the program uses."""
        return self.replicas * self.partitions


def settings_of(files: CompileFiles, text: str, backend: Backend) -> CompileSettings:
    """Return the settings of a compile.

    Args:
        files: The files of the compile.
        text: The module text before optimizations.
        backend: The compiler of the dump.
    """
    header = text.partition("\n")[0]
    counts = {name: int(count) for name, count in _COUNT.findall(header)}
    execution = _companion(files, "execution_options.txt")
    changed = _options(_companion(files, "debug_options"))
    host_devices = changed.pop(_HOST_DEVICES, "0")
    gpu = _companion(files, _GPU_CONFIG) if backend is Backend.GPU else ""
    options = _without_paths(changed)
    devices = counts.get("replica_count", 1), counts.get("num_partitions", 1)
    own = f"1x1x{prod(devices)}" if _CUDA_CONFIG in gpu else None
    if backend is Backend.TPU:
        own = _own_topology(_companion(files, "target_arguments.txt"))
    # Only programs for Shardy have meshes.
    has_mesh = "mesh[" in text or "xla.sdy." in text
    is_shardy = "use_shardy_partitioner: true" in execution or (not execution and has_mesh)
    rest: Json = {
        "build": {
            "use_spmd_partitioning": "use_spmd_partitioning: true" in execution or not execution,
            "use_shardy_partitioner": is_shardy,
            **{
                f"allow_spmd_sharding_propagation_to_{side}": [
                    one == "true" for one in allowed.split(",")
                ]
                for side, allowed in _PROPAGATION.findall(header)
            },
        },
        "layout_modes": {name: modes.split(";") for name, modes in _ARGUMENT_MODES.findall(header)},
        "effort": {
            "memory_fitting_level": "O2",  # the default of JAX
            **dict(_EFFORT.findall("\n".join(_companion(files, one) for one in _MODULE_CONFIGS))),
        },
        "device_ids": list(map(int, _DEVICE.findall(execution))),
        "host_devices": int(host_devices) if _NUMBER.fullmatch(host_devices) else 0,
        "target_config": gpu,
    }
    dumped: dict[str, str] = {}
    if own is not None and not gpu:
        dumped = dict(_OPTION.findall(_companion(files, "tpu_comp_env.txt")))
        names = map(DumpName.of, (one.name for one in files.files))
        rest |= {
            "dumped_topology": own,
            "dumped_options": _without_paths(dumped),
            "change": next((one.cl for one in names if one and one.cl), None),
        }
    listed = dumped | changed
    return CompileSettings(
        _platform(backend, gpu),
        own,
        *devices,
        is_shardy,
        rest,
        options,
        tuple(name for name in listed if name not in _without_paths(listed)),
    )


def _platform(backend: Backend, gpu: str) -> str:
    if backend is Backend.GPU:
        return "rocm" if _ROCM_CONFIG in gpu else "cuda"
    return "tpu" if backend is Backend.TPU else "cpu"


def program_text(files: CompileFiles) -> str | None:
    """Return the program as JAX passed it to the compiler, None if the dump does not have it."""
    texts = (_text_at(path / _PROGRAM) for path in files.files if path.is_dir())
    return next(filter(None, texts), None)


def slice_with(chip: str, devices: int) -> str | None:
    """Return the smallest usual slice of a chip with as many devices, None if it is unknown."""
    each = chips()[chip].devices
    for size in _FLAT_SLICES if chip in _FLAT_CHIPS else _DEEP_SLICES:
        if prod(map(int, size.split("x"))) * each >= devices:
            return f"{chip}:{size}"
    return None


def _own_topology(target: str) -> str | None:
    """Return the slice that ``target_arguments.txt`` describes."""
    name = tpu_target(target)
    chip: Chip | None = next((one for one in chips().values() if name in one.targets), None)
    bounds = slice_bounds(target)
    if chip is None or not bounds:
        return None
    sides = [bounds.get(side, 1) for side in ("xy" if chip.name in _FLAT_CHIPS else "xyz")]
    return f"{chip.name}:{'x'.join(map(str, sides))}"


def _options(text: str) -> dict[str, str]:
    """Return the changed options; one with several values is a list that XLA prints always."""
    found: dict[str, list[str]] = {}
    for name, value in _OPTION.findall(text):
        found.setdefault(name, []).append(value.strip('"'))
    return {
        name: values[0]
        for name, values in found.items()
        if len(values) == 1 and not is_of_machine(name)
    }


def _without_paths(options: Mapping[str, str]) -> dict[str, str]:
    """Return the options that name no files and no flags of programs, which a dump must not choose.

    A path can be a name in the current folder.
    """
    return {
        name: value
        for name, value in options.items()
        if not (_OF_FILES.fullmatch(name) or value == ".." or "/" in value or "\\" in value)
    }


def _companion(files: CompileFiles, suffix: str) -> str:
    """Return the text of a file that XLA writes beside the module texts, empty without it."""
    path = next((one for one in files.files if one.name.endswith(f".{suffix}")), None)
    return "" if path is None else _text_at(path)


def _text_at(path: Path) -> str:
    try:
        return "\n".join(read_document(path).lines)
    except UnreadableError:
        return ""
