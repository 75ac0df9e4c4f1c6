"""The chips with known peaks; the figures and their sources are in ``chips.toml``."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

from hlo_lsp.hlo.vocabulary import read_toml
from hlo_lsp.model.backend import Backend
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.file_names import suffix_of

_DIRECTIONS = 2  # of a link
_MAX_SINGLE_LINK = 2  # chips along a dimension in which each has one neighbor
# With the line after them: a file that is not completely written may lack the variant.
_TPU_TARGET = re.compile(r'\bversion: TPU_VERSION_(\w+)\s+(?:variant: "([^"]*)"\s+)?platform_type:')
# The chips of a slice along a dimension: those of a host, times the hosts.
_BOUNDS = re.compile(r"\b(?:chips_per_host|host)_bounds \{([^{}]*)\}")
_BOUND = re.compile(r"\b([xyz]): (\d{1,6})\b")
_WRAP = re.compile(r"\bwrap \{([^{}]*)\}")
_WRAPPED = re.compile(r"\b([xyz]): true\b")


@dataclass(frozen=True, slots=True)
class Chip:
    """The peaks of a device of XLA, which is a chip or a part of one.

    Attributes:
        name: The name of the option ``--chip``.
        devices: The number of devices of XLA in a chip.
        flops_per_second: By the bits of an element, 16 and perhaps 8 and 4.
        memory_bytes_per_second: Of the memory outside the chip.
        capacity_bytes: What a program can use of that memory, None if it is unknown.
        network_bytes_per_second: What all links to other chips send, None if it is unknown. In
            ``chip_of``, these are the links that a chip of the slice can use.
        links: The links of a TPU to other chips, None for a GPU or if it is unknown.
        host_bytes_per_second: Of the link to the host in one direction, None if it is unknown.
        matrix_unit: The rows and columns of the matrix unit, None for a GPU.
        tuple_granule: The bytes of which the table of a tuple is a multiple, None if it is unknown.
        capability: The architecture in the names of dump files of which this is the usual chip, or
            empty.
        targets: The versions and variants of a TPU in ``target_arguments.txt``.
        source: Where the figures are from.
    """

    name: str
    title: str
    devices: int
    flops_per_second: Mapping[int, float]
    memory_bytes_per_second: float
    capacity_bytes: int | None
    network_bytes_per_second: float | None
    links: int | None
    host_bytes_per_second: float | None
    matrix_unit: int | None
    tuple_granule: int | None
    capability: str
    targets: frozenset[str]
    source: str

    @property
    def has_cache(self) -> bool:
        """True for GPUs: what the cache holds can take less than the time of the memory."""
        return self.matrix_unit is None

    def peak_flops(self, bits: int) -> float:
        """Return the FLOP/s of the matrix unit for elements of this many bits, at most."""
        return self.flops_per_second[min(one for one in self.flops_per_second if one >= bits)]


@cache
def chips() -> dict[str, Chip]:
    """Return all chips by their names."""
    found = {}
    for name, entry in read_toml("chips", __package__).items():
        share = 1 / entry["devices"]
        network, host = entry.get("network"), entry.get("host")
        capacity = entry.get("capacity")
        found[name] = Chip(
            name,
            entry["title"],
            entry["devices"],
            {int(bits): rate * 1e12 * share for bits, rate in entry["tflops"].items()},
            entry["memory"] * 1e9 * share,
            None if capacity is None else int(capacity * (1 << 30)),
            None if network is None else network / _DIRECTIONS * 1e9 * share,
            entry.get("links"),
            None if host is None else host * 1e9 * share,
            entry.get("matrix_unit"),
            entry.get("table"),
            entry.get("capability", ""),
            frozenset(entry.get("targets", ())),
            entry["source"],
        )
    return found


def configured_chip(dump: Compile, name: str | None) -> Chip | None:
    """Return the chip that a project or an editor names if the compile can be for it.

    A setting is for dumps of all devices; for those of others, it is the chip of ``chip_of``.
    """
    chip = None if name is None else chips().get(name)
    is_possible = chip is not None and can_run(chip, dump)
    return chip_of(dump, name if is_possible else None)


def can_run(chip: Chip, dump: Compile) -> bool:
    """Return whether a compile can be for a chip: what is measured of others has no roofline."""
    backend = Backend.GPU if chip.matrix_unit is None else Backend.TPU
    return dump.backend in {Backend.UNKNOWN, backend}


def chip_of(dump: Compile, name: str | None = None) -> Chip | None:
    """Return a chip by name, else that of the files.

    Of GPUs, the names of files have the architecture, and the result is its usual chip. Of TPUs,
    ``target_arguments.txt`` has the version. Without them, the chip is None.

    Raises:
        KeyError: There is no chip of this name.
    """
    if name is not None:
        return _in_slice(chips()[name], dump)
    if dump.target is not None:
        target = tpu_target("\n".join(dump.target.lines))
        found = next((chip for chip in chips().values() if target in chip.targets), None)
        return None if found is None else _in_slice(found, dump)
    names = {suffix_of(file.path.name).architecture for file in dump.files if file.path}
    return next(
        (
            chip
            for chip in chips().values()
            if chip.capability and any(name.startswith(chip.capability) for name in names)
        ),
        None,
    )


def tpu_target(text: str) -> str:
    """Return the version and the variant of a TPU, ``VIPERFISH lite``; empty if unknown."""
    match = _TPU_TARGET.search(text)
    return "" if match is None else " ".join(filter(None, match.groups()))


def _in_slice(chip: Chip, dump: Compile) -> Chip:
    """Return a chip with the network that ``target_arguments.txt`` describes.

    A file for other chips has no effect.
    """
    text = "" if dump.target is None else "\n".join(dump.target.lines)
    if chip.links is None or tpu_target(text) not in chip.targets:
        return chip
    used = _used_links(" ".join(text.split()))
    return chip if used is None else _with_links(chip.name, min(used, chip.links))


def _used_links(text: str) -> int | None:
    """Return the links that a chip of a slice can use, None if the text does not say.

    Along a dimension of two chips, a chip has one neighbor. Along a longer one it can have two:
    libtpu also prints an empty ``wrap`` for slices that wrap around, such as a v5e of 16 x 16, and
    with too few links the time would be no lower bound.
    """
    sizes = slice_bounds(text)
    wrap = _WRAP.search(text)
    if wrap is None or not any(size > 1 for size in sizes.values()):
        return None
    wrapped = set(_WRAPPED.findall(wrap[1]))
    return sum(
        1 + (size > _MAX_SINGLE_LINK or dimension in wrapped)
        for dimension, size in sizes.items()
        if size > 1
    )


def slice_bounds(text: str) -> dict[str, int]:
    """Return the chips of a slice along each dimension, given ``target_arguments.txt``."""
    sizes: dict[str, int] = {}
    for bounds in _BOUNDS.findall(" ".join(text.split())):
        for dimension, size in _BOUND.findall(bounds):
            sizes[dimension] = sizes.get(dimension, 1) * int(size)
    return sizes


@cache  # so that equal chips are one object
def _with_links(name: str, used: int) -> Chip:
    chip = chips()[name]
    if chip.links is None or chip.network_bytes_per_second is None:
        return chip
    return replace(chip, network_bytes_per_second=chip.network_bytes_per_second * used / chip.links)
